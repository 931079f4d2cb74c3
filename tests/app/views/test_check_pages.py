"""Checks on the pages: judged on Annotate, with feedback in training alone, settled on Adjudication, measured on Agreement."""

import json
from collections.abc import Iterator

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from berdseye.annotation.batches.check_items import CheckItem, create_check_batch
from berdseye.annotation.batches.check_outcomes import check_outcomes
from berdseye.annotation.batches.progress import flags
from berdseye.annotation.batches.qualification import qualification
from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import load_batch
from berdseye.annotation.checks import check_form
from berdseye.annotation.judgments.log import Judgments
from berdseye.app.access.session import judgments as shared_judgments
from berdseye.data.workspace import Workspace
from tests.app.drawn_page import again, drawn, says, texts

HOSTILE = "<script>alert(1)</script> **bold** $x$ :red[no] [link](javascript:alert(1))"


@pytest.fixture
def held(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Judgments]:
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
    st.cache_resource.clear()
    yield shared_judgments()
    shared_judgments().engine.dispose()
    st.cache_resource.clear()


def items(number: int = 6, text: str = "", expected: str = "") -> list[CheckItem]:
    return [
        CheckItem(f"v{n}", f"Document {n}. {text}", f"View {n}. {text}", f"Why? {text}", f"Title {n}", expected)
        for n in range(number)
    ]


def press(at: AppTest, label: str) -> AppTest:
    next(b for b in at.button if b.label == label).click()
    return again(at)


def labels(at: AppTest) -> list[str]:
    return [b.label for b in at.button]


def test_checks_are_judged_from_the_first_to_the_fifth(held: Judgments) -> None:
    batch = create_check_batch(held, "views", "addresses", items(5), dataset="made", per_pair=1)
    at = drawn("annotate", name="Ana")
    assert {"Yes", "No", "Harmful", "Difficult"} <= set(labels(at))
    assert not {"Supports", "Unsure", "Flag"} & set(labels(at))
    assert check_form("addresses").question in texts(at)
    given = ("Yes", "No", "Harmful", "Yes", "No")
    for n, label in enumerate(given):
        assert f"View {n}." in texts(at)
        at.text_input[0].set_value(f"because {n}")
        press(at, label)
        assert "known answer" not in texts(at)
    assert says(at, "judged all 5 pairs", "success")
    keys = [item.key(check_form("addresses")) for item in items(5)]
    log = [held.history(key)[0] for key in keys]
    assert [(e["kind"], e["verdict"], e["comment"]) for e in log] == [
        ("check", label.lower(), f"because {n}") for n, label in enumerate(given)
    ]
    assert held.present() == []
    for _ in range(2):
        press(at, "Undo")
    assert "View 3." in texts(at)
    assert at.text_input[0].value == "because 3", "the comment of an undone verdict comes back"
    press(at, "Difficult")
    assert says(at, "Marked as difficult", "caption")
    assert flags(held, batch)["annotator"].tolist() == ["Ana"]
    press(at, "Skip")
    assert "View 4." in texts(at)


def test_a_form_with_two_verdicts_has_two_buttons_and_hostile_texts_stay_texts(held: Judgments) -> None:
    create_check_batch(held, "views", "grounded", items(1, HOSTILE), dataset="made")
    at = drawn("annotate", name="Ana")
    assert [label for label in labels(at) if label in ("Yes", "No", "Unsure", "Harmful")] == ["Yes", "No"]
    assert not any("<script>" in m.value or "[link](" in m.value for m in at.markdown)


def test_training_gives_feedback_and_an_exam_none(held: Judgments) -> None:
    for purpose in ("exam", "training"):
        made = items(3, purpose, "no")
        create_check_batch(held, purpose, "grounded", made, dataset="made", people=("Ana",), purpose=purpose)  # type: ignore[arg-type]
    at = drawn("annotate", name="Ana", batch="training")
    press(at, "Yes")
    assert says(at, r"you: \*\*yes\*\*; the known answer is \*\*no\*\*", "caption")
    press(at, "Undo")
    press(at, "No")
    assert says(at, r"you: \*\*no\*\*: right", "caption")
    press(at, "No")
    press(at, "No")
    assert "right on **2 of 3** (66.7%)" in texts(at), "the first verdict counts"
    [table] = [d.value for d in at.dataframe]
    assert table["You"].tolist() == ["yes", "no", "no"]
    assert [q.passed for q in qualification(held, load_batch(held, "training"))] == [False]

    at = drawn("annotate", name="Ana", batch="exam")
    for _ in range(3):
        press(at, "No")
        assert "known answer" not in texts(at)
        assert ": right" not in texts(at)
    assert not at.dataframe
    assert [q.passed for q in qualification(held, load_batch(held, "exam"))] == [True]


@pytest.fixture
def disputed(held: Judgments) -> Judgments:
    batch = create_check_batch(held, "views", "inspect", items(4), dataset="made")
    for name, said in (("Ana", "omeo"), ("Bo", "eeeo"), ("Cy", "oeeo")):
        queue, person = BatchQueue(held, batch), held.sign_in(name)
        for letter in said:
            key = queue.next(person)
            assert key is not None
            queue.give(person, key, {"o": "ok", "m": "minor error", "e": "error"}[letter])
    return held


def test_disputed_checks_are_settled_by_their_own_verdicts(disputed: Judgments) -> None:
    at = drawn("adjudication", name="Judge")
    assert says(at, r"\b2 to adjudicate", "caption")
    assert {"Ok", "Minor error", "Error"} <= set(labels(at))
    press(at, "Error")
    assert says(at, r"\b1 to adjudicate", "caption")
    outcomes = list(check_outcomes(disputed, load_batch(disputed, "views")).values())
    assert [o.accepted for o in outcomes] == [False, False, False, True]
    assert [o.adjudicated for o in outcomes] == ["error", "", "", ""]
    press(at, "Undo")
    assert says(at, r"\b2 to adjudicate", "caption")


def test_agreement_and_the_batch_state_outcomes_with_the_paper_beside(disputed: Judgments) -> None:
    del disputed
    at = drawn("agreement", batch="views")
    assert not at.exception
    assert says(at, r"12 labels of 4 pairs by 3 raters.*table 19", "caption")
    assert "4 items: 2 accepted, 2 rejected" in texts(at)
    assert "Detectors against people" not in [s.value for s in at.subheader]
    at = drawn("batches", name="Lea", batch="views")
    assert says(at, r"4 items: 2 accepted, 2 rejected, 0 undecided.*table 19", "info")


def test_a_batch_of_checks_and_an_exam_are_created_from_a_file(held: Judgments) -> None:
    rows = [{"read": item.read, "statement": item.statement, "expected": "no"} for item in items(2)]
    upload = ("items.jsonl", "\n".join(map(json.dumps, rows)).encode(), "text/plain")
    at = drawn("batches", name="Lea", new="check")
    at.selectbox(key="new-check").set_value("grounded")
    again(at)
    assert "Upload a file of items." in texts(at)
    at.file_uploader(key="new-items-file").set_value(upload)
    again(at)
    assert says(at, r"\*\*2 pairs\*\*, \*\*6 judgments\*\*")
    at.button(key="create-batch").click()
    again(at)
    batch = load_batch(held, "check-1")
    assert (batch.check, batch.per_pair, batch.recipe["file"]) == (check_form("grounded"), 3, "items.jsonl")

    at = drawn("batches", name="Lea", new="check")
    at.selectbox(key="new-check").set_value("grounded")
    at.selectbox(key="new-purpose").set_value("exam")
    at.file_uploader(key="new-items-file").set_value(upload)
    again(at)
    assert "Name the people, because each of them judges every item." in texts(at)
    held.sign_in("Ana")
    again(at).multiselect(key="new-people").set_value(["Ana"])
    again(at)
    assert "new-sample" not in {n.key for n in at.number_input}
    at.button(key="create-batch").click()
    again(at)
    exam = load_batch(held, "check-2")
    assert (exam.calibration, exam.recipe["purpose"]) == (2, "exam")
    at = drawn("batches", name="Lea", batch="check-2")
    assert at.dataframe[1].value["name"].tolist() == ["Ana"]
