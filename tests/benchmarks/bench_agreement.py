"""Seconds of agreement at 100,000 judgments: what is read, every statistic, and the page drawn anew after a judgment."""

import time
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
import streamlit as st
from sqlalchemy import insert
from streamlit.testing.v1 import AppTest

from berdseye.annotation.judgments.log import VERDICTS, PairRecord
from berdseye.annotation.judgments.schema import events
from berdseye.app.access.session import judgments as shared_judgments
from berdseye.data.labels import LabelStore
from berdseye.data.records import Stance
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.evaluation.agreement.labels import stored_labels
from berdseye.evaluation.agreement.report import report

_PAGE = Path(__file__).resolve().parents[2] / "app" / "views" / "agreement.py"
_JUDGMENTS, _BAR = 100_000, 2.0
_STANCES: tuple[Stance, ...] = ("supporting", "opposing")


@pytest.mark.benchmark
@pytest.mark.parametrize(("people", "per_pair"), [(50, 50), (50, 4)])
def test_the_page_at_a_hundred_thousand_judgments(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, people: int, per_pair: int
) -> None:
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
    st.cache_resource.clear()
    judgments = shared_judgments()
    crowd = [judgments.sign_in(f"Person {n}") for n in range(people)]
    text = "Some twelve words of text that stand for a real passage here. " * 8
    keys = judgments.add_pairs(
        PairRecord(f"d{n % 3}", f"q{n % 50}", "Why?", f"View {n}.", _STANCES[n % 2], f"c{n % 4}", "T", text)
        for n in range(_JUDGMENTS // per_pair)
    )
    rng = np.random.default_rng(0)
    rows = [
        {"uid": str(uuid4()), "at": f"2026-01-{1 + n % 28:02d}T00:00:00.000000+00:00", "annotator_id": crowd[who].id,
         "pair": key, "kind": "judge", "comment": "", "source": "annotate",
         "verdict": VERDICTS[n % 3 if rng.random() < 0.8 else int(rng.integers(3))]}
        for n, key in enumerate(keys) for who in rng.choice(people, per_pair, replace=False)
    ]  # fmt: skip
    with judgments.engine.begin() as connection:
        connection.execute(insert(events), rows)
    detector = parse_detector("random")
    LabelStore(workspace).put(detector.name, detector.version, keys, rng.random(len(keys)).tolist())

    at = AppTest.from_file(str(_PAGE), default_timeout=60)
    at.query_params["detector"] = "random"
    at.run()
    taken = []
    for n in range(3):
        judgments.judge(crowd[0], keys[n], "supports", source="annotate")
        began = time.perf_counter()
        at.run()
        taken.append(time.perf_counter() - began)
        assert not at.exception
    began = time.perf_counter()
    at.run()
    again = time.perf_counter() - began
    began = time.perf_counter()
    labels = stored_labels(judgments)
    read = time.perf_counter() - began
    assert dict(report(labels).parts.items())
    print(
        f"\n{len(labels):,} judgments by {people} people, {per_pair} a pair: page after a judgment {min(taken):.2f} s, drawn "
        f"again {again:.2f} s; labels read in {read:.2f} s, all statistics {time.perf_counter() - began - read:.2f} s"
    )
    assert min(taken) < _BAR
    judgments.engine.dispose()
    st.cache_resource.clear()
