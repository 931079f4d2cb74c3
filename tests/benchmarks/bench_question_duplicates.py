"""Seconds and memory of finding the duplicates of 10,000 questions among real claims and variants of them."""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from berdseye.evaluation.construction.debateqa.calibration import drawn_pairs
from berdseye.evaluation.construction.debateqa.duplicates import duplicates

_QUESTIONS, _SECONDS, _MEGABYTES = 10_000, 60.0, 500.0


def questions(shared_data: Path) -> list[str]:
    """Claims and questions as they were released, and variants in which words are exchanged."""
    debates = json.loads((shared_data / "perspectrum" / "debatewise.json").read_text("utf-8"))
    texts = [debate["claim_title"] for debate in debates]
    for file in sorted((shared_data / "berds_dev").glob("*.jsonl")):
        texts += [json.loads(line)["question"] for line in file.read_text("utf-8").splitlines()]
    random, made = Random(0), []
    while len(made) < _QUESTIONS:
        words = random.choice(texts).split()
        for _ in range(random.randint(0, len(words))):
            if len(words) > 3:
                words[random.randrange(len(words))] = random.choice(random.choice(texts).split())
        made.append(" ".join(words))
    return made


def measure(shared_data: str) -> None:
    """Print what a fresh process needs: seconds of both, the dropped questions, the drawn pairs, and megabytes at most."""
    texts = questions(Path(shared_data))
    ids = [f"q{n}" for n in range(len(texts))]
    began = time.perf_counter()
    dropped = duplicates(ids, texts)
    found = time.perf_counter()
    pairs = drawn_pairs(ids, texts)
    drawn = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([found - began, drawn - found, len(dropped), len(pairs), peak]))


@pytest.mark.benchmark
def test_ten_thousand_questions_are_compared_in_a_minute_and_bounded_memory(shared_data: Path) -> None:
    code = f"from tests.benchmarks.bench_question_duplicates import measure; measure({str(shared_data)!r})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    finding, drawing, dropped, pairs, megabytes = json.loads(done.stdout.splitlines()[-1])
    print(
        f"\n{_QUESTIONS:,} questions: {dropped:,} duplicates in {finding:.1f} s, {pairs} pairs drawn in {drawing:.1f} s, at most "
        f"{megabytes:.0f} MB with the encoder"
    )
    assert dropped > 500
    assert finding < _SECONDS
    assert megabytes < _MEGABYTES
