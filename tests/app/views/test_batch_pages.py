"""A batch on the Annotate page and its disputes on the Adjudication page, without a browser."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from berdseye.annotation.batches.progress import flags
from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.guidelines.versions import packaged, use
from berdseye.annotation.judgments.adjudication import adjudicated_labels, decisions
from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.app.access.session import judgments as shared_judgments
from berdseye.app.components.plain_text import JOINER
from berdseye.app.components.working_time import WorkingTime
from berdseye.data.workspace import Workspace

APP = Path(__file__).resolve().parents[3] / "app"
HOSTILE = "<script>alert(1)</script> **bold** $x$ :red[no] [link](javascript:alert(1))"


@pytest.fixture
def held(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Judgments]:
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
    st.cache_resource.clear()
    yield shared_judgments()
    shared_judgments().engine.dispose()
    st.cache_resource.clear()
    assert os.environ["BERDSEYE_WORKSPACE"]


def items(number: int = 3, text: str = "") -> list[Item]:
    return [
        Item(
            PairRecord(
                "made",
                "q",
                "Should cities ban cars?",
                f"Perspective {n}. {text}",
                None,
                "web",
                "",
                f"Passage {n}. {text}",
            ),
            0.9,
            n % 2 == 0,
        )
        for n in range(number)
    ]


def drawn(page: str, name: str = "") -> AppTest:
    at = AppTest.from_file(str(APP / "views" / f"{page}.py"), default_timeout=60)
    if name:
        at.session_state["annotator"] = shared_judgments().sign_in(name)
    return again(at)


def again(at: AppTest) -> AppTest:
    at.run()
    assert not at.exception, [e.value for e in at.exception]
    return at


def texts(at: AppTest) -> str:
    parts = (at.markdown, at.caption, at.info, at.success, at.error)
    return "\n".join(m.value for part in parts for m in part).replace("\\", "").replace(JOINER, "")


def press(at: AppTest, label: str) -> AppTest:
    next(b for b in at.button if b.label == label).click()
    return again(at)


def test_a_batch_is_judged_blind_from_the_first_to_the_last_pair(held: Judgments) -> None:
    create_batch(held, BatchPlan("b"), items())
    at = drawn("annotate", "Ana")
    assert "Perspective 0." in texts(at)
    at.text_input[0].set_value("a comment")
    press(at, "Supports")
    assert "Perspective 1." in texts(at)
    assert "detector" not in texts(at).casefold(), "a blind batch never shows the detector's opinion"
    press(at, "Flag")
    assert "Perspective 1." in texts(at)
    press(at, "Does not support")
    press(at, "Skip")
    assert "No pair of this batch needs you now." in texts(at)
    words = [(j.verdict, j.comment, j.source) for j in held.present()]
    assert words == [("supports", "a comment", "annotate"), ("does not support", "", "annotate")]
    assert all(j.seconds is not None for j in held.present())
    assert flags(held)["annotator"].tolist() == ["Ana"]
    for _ in range(4):
        press(at, "Undo")
    assert held.present() == []
    assert flags(held).empty
    assert "Perspective 0." in texts(at)
    press(at, "Undo")
    assert "There is nothing to undo." in texts(at)


def test_two_people_get_different_pairs_and_a_pause_frees_one(held: Judgments) -> None:
    create_batch(held, BatchPlan("b"), items(2))
    ana, bo = drawn("annotate", "Ana"), drawn("annotate", "Bo")
    assert "Perspective 0." in texts(ana)
    assert "Perspective 1." in texts(bo)
    press(ana, "Pause")
    press(bo, "Supports")
    assert "Perspective 0." in texts(bo)
    press(ana, "Resume")
    assert "No pair of this batch needs you now." in texts(ana)


def test_a_decision_is_shown_where_it_is_to_be_verified(held: Judgments) -> None:
    create_batch(held, BatchPlan("b", task="verify", blind=False), items(2))
    at = drawn("annotate", "Ana")
    assert "The detector says that the passage **supports** the perspective." in texts(at)
    press(at, "Disagree")
    assert "The detector says that the passage **does not support** the perspective." in texts(at)
    press(at, "Agree")
    assert [j.verdict for j in held.present()] == ["does not support"] * 2
    assert held.frame()["shown"].tolist() == [True, True]


def test_an_arm_with_the_label_in_sight_sees_it_before_the_word(held: Judgments) -> None:
    create_batch(held, BatchPlan("b", blind=False), items(1))
    at = drawn("annotate", "Ana")
    assert "The detector says that the passage **supports** the perspective (P = 0.90)." in texts(at)
    press(at, "Supports")
    assert held.frame()["shown"].tolist() == [True]


def test_changed_guidelines_are_told_once_with_the_change(held: Judgments) -> None:
    create_batch(held, BatchPlan("b"), items())
    at = drawn("annotate", "Ana")
    assert packaged("judge").text in [m.value for m in at.markdown]
    press(at, "Supports")
    new = use(held, packaged("judge").text + "\n\nAsk <b>Noor</b>.")
    again(at)
    assert "The guidelines changed since you last judged." in [w.value for w in at.warning]
    assert not at.text_input, "no pair is judged by guidelines that were not read"
    assert any(":green-background[Ask \\<b\\>Noor\\<\\/b\\>\\.]" in m.value for m in at.markdown)
    press(at, "Continue with these")
    press(at, "Supports")
    assert not at.warning
    assert held.frame()["guidelines"].tolist() == [packaged("judge").version, new.version]
    assert not drawn("annotate", "Ana").warning, "told once"
    assert not drawn("annotate", "Bo").warning, "who never judged knows of no change"


def test_a_break_is_offered_and_a_pause_is_not_in_the_seconds(held: Judgments) -> None:
    create_batch(held, BatchPlan("b"), items())
    at, now = drawn("annotate", "Ana"), [0.0]
    at.session_state["working_time"] = WorkingTime(lambda: now[0])
    again(at)
    for _ in range(9):
        now[0] += 300.0
        again(at)
    assert "You have judged for 45 minutes" in texts(at)
    press(at, "Pause")
    now[0] += 5000.0
    press(at, "Resume")
    assert "minutes" not in texts(at)
    now[0] += 3.0
    press(at, "Supports")
    assert [j.seconds for j in held.present()] == [2703.0]
    assert "1 of 3 pairs · 1 today · median 2703.0 s" in [p.proto.text for p in at.get("progress")]


def test_guidelines_make_room_and_come_back(held: Judgments) -> None:
    create_batch(held, BatchPlan("b"), items())
    at = drawn("annotate", "Ana")
    for shown in (False, True):
        press(at, "Guidelines")
        assert (packaged("judge").text in [m.value for m in at.markdown]) is shown


def test_answers_are_compared_side_by_side(held: Judgments) -> None:
    create_batch(held, BatchPlan("b", task="prefer"), items(1))
    at = drawn("annotate", "Ana")
    assert {"First answer", "Second answer"} <= {m.value.strip("*") for m in at.markdown}
    press(at, "Second")
    [event] = held.history(items(1)[0].record.key)
    assert (event["kind"], event["verdict"]) == ("prefer", "second")


def test_a_batch_for_others_is_not_offered(held: Judgments) -> None:
    create_batch(held, BatchPlan("b", people=("Bo",)), items())
    at = drawn("annotate", "Ana")
    assert not at.selectbox
    assert "This workspace has no runs yet." in texts(at)


@pytest.fixture
def disputed(held: Judgments) -> Judgments:
    batch = create_batch(held, BatchPlan("b", per_pair=2), items(2, HOSTILE))
    for name, said in (("Ana <b>x</b>", "supports"), ("Bo", "does not support")):
        for item in items(2, HOSTILE):
            person = held.sign_in(name)
            held.judge(person, item.record.key, said, source="annotate", comment=HOSTILE)  # type: ignore[arg-type]
    assert batch.name == "b"
    return held


def test_disputes_are_decided_one_by_one(disputed: Judgments) -> None:
    at = drawn("adjudication", "Judge")
    assert "2 to adjudicate" in texts(at)
    shown = texts(at)
    assert "Person A" in shown
    assert "Ana" not in shown
    assert "Bo" not in shown
    next(t for t in at.text_input).set_value("because")
    press(at, "Supports")
    assert "1 to adjudicate" in texts(at)
    press(at, "Unsure")
    assert "No open disagreements" in texts(at)
    keys = [item.record.key for item in items(2, HOSTILE)]
    assert adjudicated_labels(disputed) == {keys[0]: "supports", keys[1]: "unsure"}
    press(at, "Undo")
    assert adjudicated_labels(disputed) == {keys[0]: "supports"}
    at.toggle(key="hidden").set_value(False)
    assert "Bo" in texts(again(at))
    at.toggle(key="with_decided").set_value(True)
    again(at)
    at.selectbox(key="dispute").set_value(keys[0])
    assert "Adjudicated by Judge: **supports**. because" in texts(again(at))
    assert len(disputed.present()) == 4


def test_preferences_are_decided_too_and_the_trail_hides_names(held: Judgments) -> None:
    create_batch(held, BatchPlan("b", task="prefer", per_pair=2), items(1))
    for name, label in (("Ana", "First"), ("Bo", "Second")):
        press(drawn("annotate", name), label)
    at = drawn("adjudication", "Judge")
    press(at, "Second")
    assert decisions(held)[items(1)[0].record.key].verdict == "second"
    press(at, "Undo")
    rows = at.dataframe[0].value
    assert rows["Verdict"].tolist() == ["first", "second", "second"]
    assert rows["What"].tolist() == ["prefer", "prefer", "adjudicate (undone)"]
    assert sorted(rows["Who"]) == ["Person A", "Person B", "someone else"]
    at.toggle(key="hidden").set_value(False)
    assert again(at).dataframe[0].value["Who"].tolist() == ["Ana", "Bo", "Judge"]


def test_hostile_text_is_text(disputed: Judgments) -> None:
    assert disputed.present()
    at = drawn("adjudication", "Judge")
    raw = "\n".join(m.value for m in at.markdown)
    assert "\\<script\\>" in raw
    assert "<script>" not in raw
    assert "](javascript" not in raw


def test_adjudication_asks_for_a_name_and_tells_when_there_is_nothing(held: Judgments) -> None:
    assert held.present() == []
    assert "Enter your name" in texts(drawn("adjudication"))
    assert "No disagreements" in texts(drawn("adjudication", "Judge"))
