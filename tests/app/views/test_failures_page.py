"""The Failures page without a browser: empty, on the demo, and where something does not fit."""

import json
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from berdseye.annotation.judgments.adjudication import adjudicate
from berdseye.app.access.session import judgments as shared_judgments
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import save_dataset
from berdseye.data.records import Question
from berdseye.data.runs.stored import run_files, save_run
from berdseye.data.workspace import Workspace
from tests.app.drawn_page import again, drawn, says

PAGES = "debate--pages--bm25"
COLUMNS = {"holes": "reason", "counts": "below k"}
"""A column that only this table has."""


def table(at: AppTest, key: str) -> list[dict[str, object]]:
    found = next(d.value for d in at.dataframe if COLUMNS[key] in d.value.columns)
    return found.to_dict("records")  # type: ignore[no-any-return]


@pytest.mark.usefixtures("demo")
def test_it_opens_on_a_run_that_misses_something() -> None:
    at = drawn("failures")
    assert at.selectbox(key="run").value == "living--pages--bm25"
    assert holes_within(at) > 0


@pytest.mark.usefixtures("demo")
def test_every_hole_is_counted_once_and_has_a_reason() -> None:
    at = drawn("failures", run=PAGES)
    holes, [counts] = table(at, "holes"), table(at, "counts")
    assert says(at, r"\*\*16\*\* perspectives · \*\*8\*\* questions · judged@k \*\*100\.0%\*\*")
    assert holes_within(at) == len(holes) == counts["holes"] > 0
    by_reason = {reason: sum(hole["reason"] == reason for hole in holes) for reason in counts if reason in
                 {hole["reason"] for hole in holes}}  # fmt: skip
    assert by_reason == {reason: counts[reason] for reason in by_reason}
    at.pills(key="reason").set_value("below k")
    assert {hole["reason"] for hole in table(again(at), "holes")} == {"below k"}


@pytest.mark.usefixtures("demo")
def test_slices_and_the_hole_are_read_from_the_address() -> None:
    at = drawn("failures", run=PAGES, stance="opposing", question="car-free-centres", place="2", of=PAGES)
    assert at.pills(key="stance").value == ["opposing"]
    assert {hole["stance"] for hole in table(at, "holes")} == {"opposing"}
    [address] = [m.value for m in at.markdown if "Open in Explore" in m.value]
    for part in ("question=car-free-centres", "corpora=pages", "pipelines=bm25", "k=5", "detector=stance"):
        assert part in address
    assert says(drawn("failures", run=PAGES, question="gone", place="1"), "does not exist", "warning")


CARS = {"run": PAGES, "of": PAGES, "question": "car-free-centres", "place": "1"}


def give(at: AppTest, label: str) -> AppTest:
    """Press the first button of this label."""
    next(b for b in at.button if b.label == label).click()
    return again(at)


def holes_within(at: AppTest) -> int:
    return int(next(found[1] for m in at.markdown if (found := re.match(r"\*\*(\d+)\*\* holes within 5", m.value))))


@pytest.mark.usefixtures("demo")
def test_a_person_without_a_name_can_read_but_not_correct() -> None:
    at = drawn("failures", **CARS)
    assert says(at, r"\bname\b.*sidebar.*\bcorrect\b")
    assert not [b for b in at.button if b.label in ("Supports", "Undo") and not b.disabled]


def test_a_verdict_on_a_passage_fills_the_hole_is_stored_and_can_be_undone(demo: Workspace) -> None:
    at = drawn("failures", name="Robin", labels="human>stance", **CARS)
    before, listed = holes_within(at), table(at, "holes")
    corrected = give(at, "Supports")
    assert holes_within(corrected) == before - 1
    assert corrected.query_params["place"] == "1", "the passages stay in sight though the hole is gone"
    [word] = [j for j in shared_judgments().present() if j.annotator.name == "Robin"]
    steps = json.loads((demo.folder / "first_steps.json").read_text(encoding="utf-8"))["Robin"]
    assert "judged beside a hole" in steps, "the project on Home ticks it"
    record = shared_judgments().pair_records([word.pair])[word.pair]
    assert (word.verdict, record.question_id, record.corpus) == ("supports", "car-free-centres", "pages")
    assert [b.label for b in corrected.button if b.proto.type == "primary"] == ["Supports"]
    back = give(corrected, "Undo")
    assert (holes_within(back), str(table(back, "holes"))) == (before, str(listed))
    assert not [j for j in shared_judgments().present() if j.annotator.name == "Robin"]


@pytest.mark.usefixtures("demo")
def test_with_a_detectors_labels_a_verdict_changes_only_the_reason_until_people_count() -> None:
    at = drawn("failures", name="Robin", labels="embedded", **CARS)
    before = holes_within(at)
    corrected = give(at, "Supports")
    assert holes_within(corrected) == before
    [hole] = [h for h in table(corrected, "holes") if h["reason"] == "detector against people"]
    assert (hole["P"], hole["question"]) == (1, "Should cities ban private cars from their centres?")
    counted = give(corrected, "Prefer people's judgments")
    assert counted.selectbox(key="labels").value == "human>embedded"
    assert holes_within(counted) == before - 1


@pytest.mark.usefixtures("demo")
def test_an_adjudicated_pair_has_no_buttons() -> None:
    at = drawn("failures", name="Robin", **CARS)
    shown = len([b for b in at.button if b.label == "Supports"])
    words = give(at, "Supports")
    [word] = [j for j in shared_judgments().present() if j.annotator.name == "Robin"]
    adjudicate(shared_judgments(), shared_judgments().annotator("Robin"), word.pair, "does not support")
    decided = again(words)
    assert says(decided, r"adjudicated: \*\*does not support\*\*")
    assert len([b for b in decided.button if b.label == "Supports"]) == shown - 1


@pytest.mark.usefixtures("demo")
def test_one_pipeline_over_several_corpora_and_every_run_beside_it() -> None:
    at = drawn("failures", run=PAGES, beside="web", every_run="true")
    shown = next(d.value for d in at.dataframe if "holes, %" in d.value.columns)
    assert shown.index.tolist() == ["pages", "web"]
    assert shown["perspectives"].tolist() == [16, 16]
    assert shown["holes, %"].tolist() == [100 * holes / 16 for holes in shown["holes within 5"]]
    counts = {(row["corpus"], row["pipeline"]): row["holes"] for row in table(at, "counts")}
    assert len(counts) == 6, "every run of the data set, those without a hole too"
    assert counts["pages", "bm25"] == shown["holes within 5"]["pages"]
    assert counts["web", "bm25"] == shown["holes within 5"]["web"]


@pytest.mark.usefixtures("demo")
def test_missing_labels_of_people_and_a_k_beyond_the_run_are_warned_of() -> None:
    at = drawn("failures", run="living--pages--bm25", labels="human", k="60")
    assert says(at, r"\bno pair\b.*\b60\b.*\bhuman\b", "warning")
    assert says(at, r"\bk is 60\b.*\bpages 20\b", "warning")


def test_runs_of_a_changed_corpus_are_left_out_by_name(demo: Workspace) -> None:
    stale = demo.runs_folder / "debate--pages--dense(static).json"
    text = stale.read_text(encoding="utf-8")
    stale.write_text(text.replace('"corpus_hash": "', '"corpus_hash": "old'), encoding="utf-8")
    run_files(demo, stale.stem).seal()
    at = drawn("failures", run=PAGES)
    assert says(at, r"debate--pages--dense\(static\)", "warning")
    assert table(at, "holes")
    own = drawn("failures", run="debate--pages--dense(static)")
    assert says(own, r"'pages' has changed.*'debate--pages--dense\(static\)'", "error")
    assert not own.dataframe


def test_questions_without_perspectives_have_no_holes(demo: Workspace) -> None:
    corpus = open_corpus(demo, "web")
    save_dataset(demo, "bare", [Question("q", "bare", "What is good?")])
    saved = save_run(
        demo,
        dataset="bare",
        corpus="web",
        corpus_hash=corpus.manifest.hash,
        pipeline="bm25",
        question_ids=["q"],
        ids=np.array([[next(corpus.batches())[0].id]]),
        scores=np.ones((1, 1), dtype=np.float32),
        milliseconds_per_question=1.0,
    )
    at = drawn("failures", run=saved.name)
    assert says(at, r"no question.*\bPerspectives page\b", "info")
    assert not at.dataframe
