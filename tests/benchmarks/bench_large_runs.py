"""Pages about runs at 3,000 questions, 4 runs of 50 and 1.2 million labels: processor seconds and memory, printed."""

import json
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.session import judgments
from data.corpora import add_corpus, open_corpus
from data.datasets import load_dataset, save_dataset
from data.labels import LabelStore
from data.records import Perspective, Question
from data.run_keys import run_keys
from data.runs import list_runs, load_run, save_run
from data.workspace import Workspace
from detectors.registry import parse_detector

pytestmark = pytest.mark.benchmark

VIEWS = Path(__file__).resolve().parents[2] / "app" / "views"
PIPELINES = ("bm25", "bm25(b=0.4,k1=0.9)", "dense(static)", "dense(static) >> mmr(0.9)")
QUESTIONS, DEPTH, PASSAGES = 3_000, 50, 20_000
FIRST_BAR, LATER_BAR, MEMORY_BAR = 3.0, 1.0, 2.0
GIGABYTE = 1_000_000  # ru_maxrss counts in KiB


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The workspace, as the one that the app was started on."""
    workspace = Workspace.create(tmp_path_factory.mktemp("large") / "workspace")
    random = np.random.default_rng(0)
    words = np.array([f"w{n}" for n in range(5_000)])
    source = workspace.folder / "passages.jsonl"
    rows = ({"id": n, "title": f"T{n}", "text": f"{n} {' '.join(random.choice(words, 60))}"} for n in range(PASSAGES))
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    manifest = add_corpus(workspace, "big", source)
    sides = [
        tuple(
            Perspective(f"View {side} of {n} {' '.join(random.choice(words, 8))}", stance)
            for side, stance in enumerate(("supporting", "opposing"))
        )
        for n in range(QUESTIONS)
    ]
    questions = [
        Question(f"q{n}", "large", f"Should {words[n]} be {words[-n - 1]} number {n}?", views)
        for n, views in enumerate(sides)
    ]
    save_dataset(workspace, "large", questions)
    known = np.array([p.id for batch in open_corpus(workspace, "big").batches() for p in batch])
    for pipeline in PIPELINES:
        ids = np.stack([random.choice(known, DEPTH, replace=False) for _ in questions]).astype(np.int64)
        save_run(
            workspace,
            dataset="large",
            corpus="big",
            corpus_hash=manifest.hash,
            pipeline=pipeline,
            question_ids=[q.id for q in questions],
            ids=ids,
            scores=np.sort(random.random(ids.shape, dtype=np.float32), axis=1)[:, ::-1],
            milliseconds_per_question=1.0,
        )
    detector = parse_detector("embedded", workspace)
    for held in list_runs(workspace):
        _, keys = run_keys(workspace, load_run(workspace, held.name), load_dataset(workspace, "large"), DEPTH)
        flat = keys.ravel().astype(str).tolist()
        chances = random.beta(0.4, 1.2, len(flat)).astype(np.float32)
        LabelStore(workspace).put(detector.name, detector.version, flat, chances)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
        patch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
        st.cache_resource.clear()
        yield workspace
        judgments().engine.dispose()
        st.cache_resource.clear()


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("page", ["failures", "compare"])
def test_first_and_later_draws(page: str) -> None:
    at = AppTest.from_file(str(VIEWS / f"{page}.py"), default_timeout=120)
    at.query_params["question"] = "q7"
    times = []
    for _ in range(4):
        begun = time.process_time()  # of this process alone: what else the machine does is not counted
        at.run()
        times.append(time.process_time() - begun)
        assert not at.exception
        assert not at.error
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / GIGABYTE
    first, later = times[0], min(times[1:])
    print(f"\n{page}: first draw {first:.2f} s, later {later:.2f} s (bars {FIRST_BAR}, {LATER_BAR}); {memory:.2f} GB")
    assert first < FIRST_BAR
    assert later < LATER_BAR
    assert memory < MEMORY_BAR
