"""The commands of BERDS's constructions, killed with SIGKILL in each step, and continued by the same command."""

import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.kinds import kind_of
from berdseye.evaluation.construction.opening import open_construction
from tests.evaluation.construction.constructed import lines, step_bytes
from tests.evaluation.construction.killed_commands import paid_model

TOPICS = ("zoos", "cars", "taxes", "homework", "uniforms", "tourism", "robots", "meat")
OPTIONS = ["Very good", "Fairly good", "Bad", "Refused"]


def topic_of(asked: str) -> str:
    return next(topic for topic in TOPICS if topic in asked.lower())


def of_pairs(asked: str) -> str:
    topic = topic_of(asked)
    if "argue against" in asked:
        return f"Does society need {topic}?"
    return f"Supporting: Society needs {topic}.\nOpposing: Society does better without {topic}."


def of_debates(asked: str) -> str:
    return f"Opposing: Life is better without {topic_of(asked)}."


def of_polls(asked: str) -> str:
    topic = topic_of(asked)
    if "Answer with one word" in asked:
        return "Yes" if topic == "meat" else "No"
    return f"Question: Are {topic} good?\nPositive: I think {topic} do good.\nNegative: I think {topic} do harm."


CASES: Mapping[str, tuple[Callable[[str], str], Callable[[str], dict[str, Any]]]] = {
    "arguana": (of_pairs, lambda t: {"document1": f"People gain from {t}.", "document2": f"Few people like {t}."}),
    "kialo": (of_debates, lambda t: {"question": f"Are {t} useful?", "statement": f"Everybody gains from {t}."}),
    "opinionqa": (of_polls, lambda t: {"question": f"How good are {t}?", "options": OPTIONS}),
}


@pytest.mark.full
@pytest.mark.parametrize("name", CASES)
def test_a_command_killed_in_each_step_resumes_with_the_same_bytes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, row = CASES[name]
    source = lines(tmp_path / "source.jsonl", *({"id": topic, **row(topic)} for topic in TOPICS))
    words = ["construct", name, "made", "--source", source, "--model", "api(served)", "--workspace"]
    whole, killed = (Workspace.create(tmp_path / folder) for folder in ("whole", "killed"))
    steps = ["sources", *(step.name for step in kind_of(name).steps)]
    with paid_model(monkeypatch, answer, seconds=0.02) as paid:
        assert paid.run(*words, whole.folder) == 0
        calls = set(paid.asked)
        for number, step in enumerate(steps):
            assert paid.run(*words, killed.folder, die_in=step) == -signal.SIGKILL
            finished = [file for file in step_bytes(open_construction(killed, "made")) if file.endswith(".json")]
            assert finished == [f"{n:02d}-{earlier}.json" for n, earlier in enumerate(steps[:number])]
        assert paid.run(*words, killed.folder) == 0
    opened, expected = open_construction(killed, "made"), open_construction(whole, "made")
    made = {file: text for file, text in step_bytes(opened).items() if not file.startswith(".")}
    assert made == step_bytes(expected)
    assert len(opened.kept(steps[-1])) >= len(TOPICS) - 1, "the script's answers are accepted"
    assert (set(paid.asked), len(paid.asked)) == (calls, 2 * len(calls)), "no call is paid again"
