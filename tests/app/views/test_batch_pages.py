"""A batch on the Annotate page and its disputes on the Adjudication page, without a browser."""

import os
import re
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from berdseye.annotation.batches.progress import flags
from berdseye.annotation.batches.stored import BatchPlan, Item, close_batch, create_batch
from berdseye.annotation.guidelines.versions import packaged, use
from berdseye.annotation.judgments.adjudication import adjudicated_labels, decisions
from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.app.access.session import judgments as shared_judgments
from berdseye.app.components.working_time import WorkingTime
from berdseye.data.workspace import Workspace
from tests.app.drawn_page import again, drawn, forget, says, texts

HOSTILE = "<script>alert(1)</script> **bold** $x$ :red[no] [link](javascript:alert(1))"


@pytest.fixture
def held(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Judgments]:
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
    forget()
    yield shared_judgments()
    shared_judgments().engine.dispose()
    forget()
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


def press(at: AppTest, label: str) -> AppTest:
    next(b for b in at.button if b.label == label).click()
    return again(at)


def test_a_batch_is_judged_blind_from_the_first_to_the_last_pair(held: Judgments) -> None:
    create_batch(held, BatchPlan("b"), items())
    at = drawn("annotate", name="Ana")
    assert "Perspective 0." in texts(at)
    at.text_input[0].set_value("a comment")
    press(at, "Supports")
    assert "Perspective 1." in texts(at)
    assert "detector" not in texts(at).casefold(), "a blind batch never shows the detector's opinion"
    press(at, "Flag")
    assert "Perspective 1." in texts(at)
    assert says(at, "flagged: “Perspective 1. ” — you can still", "caption")
    press(at, "Does not support")
    press(at, "Skip")
    assert says(at, "judged or skipped all 3 pairs of b", "success")
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
    assert says(at, "nothing to undo")


def test_two_people_get_different_pairs_and_a_pause_frees_one(held: Judgments) -> None:
    create_batch(held, BatchPlan("b"), items(2))
    ana, bo = drawn("annotate", name="Ana"), drawn("annotate", name="Bo")
    assert "Perspective 0." in texts(ana)
    assert "Perspective 1." in texts(bo)
    press(ana, "Pause")
    press(bo, "Supports")
    assert "Perspective 0." in texts(bo)
    press(ana, "Resume")
    assert says(ana, r"another annotator has open", "info"), "Bo has the other pair on the screen"
    press(bo, "Supports")
    assert says(bo, "judged all 2 pairs of b", "success")
    assert says(again(ana), "other people have judged the rest", "success")


def test_a_finished_batch_says_so_and_leads_to_the_next(held: Judgments) -> None:
    create_batch(held, BatchPlan("next", people=("Ana",)), items(2, "More."))
    create_batch(held, BatchPlan("of-bo", people=("Bo",)), items(1, "Of Bo."))
    create_batch(held, BatchPlan("b"), items(1))
    at = press(drawn("annotate", name="Ana"), "Supports")
    assert says(at, "judged the only pair of b", "success")
    labels = [b.label for b in at.button]
    assert "Judge next: 2 left" in labels
    assert "Home" in labels
    assert not any("of-bo" in label for label in labels)


def test_the_decision_is_shown_to_those_who_verify_it(held: Judgments) -> None:
    create_batch(held, BatchPlan("b", task="verify", blind=False), items(2))
    at = drawn("annotate", name="Ana")
    assert says(at, r"Decision.*\*\*supports\*\*")
    press(at, "Disagree")
    assert says(at, r"Decision.*\*\*does not support\*\*")
    press(at, "Agree")
    assert [j.verdict for j in held.present()] == ["does not support"] * 2
    assert held.frame()["shown"].tolist() == [True, True]


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ({"grade": "stance", "threshold": 0.5, "unsure": 0.1}, "supports"),
        ({"grade": "topic", "threshold": 0.5, "unsure": 0.1}, "on topic"),
        ({"grade": "stance", "threshold": 0.85, "unsure": 0.1}, "unsure"),
        ({"grade": "topic", "threshold": 0.85, "unsure": 0.1}, "unsure"),
        ({"grade": "topic", "threshold": 0.85}, "on topic"),  # a batch of an earlier version
    ],
)
def test_a_batch_that_is_not_blind_shows_the_label_before_the_verdict(
    held: Judgments, recipe: dict[str, object], words: str
) -> None:
    create_batch(held, BatchPlan("b", blind=False, recipe=recipe), items(1))
    at = drawn("annotate", name="Ana")
    assert says(at, rf"detector.*\*\*{words}\*\*.*\b0\.90\b")
    press(at, "Supports")
    assert held.frame()["shown"].tolist() == [True]


@pytest.mark.parametrize("name", ["nosuch", "of-bo", "closed"])
def test_no_pair_of_another_queue_is_offered_without_a_click(held: Judgments, name: str) -> None:
    close_batch(held, create_batch(held, BatchPlan("closed"), items()))
    create_batch(held, BatchPlan("of-bo", people=("Bo",)), items())
    create_batch(held, BatchPlan("b"), items())
    at = drawn("annotate", name="Ana", batch=name)
    assert says(again(at), rf"no batch open to you.*“{name}”", "warning")
    assert [b.label for b in at.button if b.label in ("Supports", "Judge b")] == ["Judge b"]
    assert "Perspective 0." in texts(press(at, "Judge b"))
    assert not at.warning


def test_changed_guidelines_are_shown_once_with_the_change(held: Judgments) -> None:
    create_batch(held, BatchPlan("b"), items())
    at = drawn("annotate", name="Ana")
    assert packaged("judge").text in [m.value for m in at.markdown]
    press(at, "Supports")
    new = use(held, packaged("judge").text + "\n\nAsk <b>Noor</b>.")
    again(at)
    assert says(at, "guidelines", "warning")
    assert not at.text_input, "no pair is judged by guidelines that were not read"
    assert any(":green-background[Ask \\<b\\>Noor\\<\\/b\\>\\.]" in m.value for m in at.markdown)
    press(at, "Continue with these")
    press(at, "Supports")
    assert not at.warning
    assert held.frame()["guidelines"].tolist() == [packaged("judge").version, new.version]
    assert not drawn("annotate", name="Ana").warning, "shown once"
    assert not drawn("annotate", name="Bo").warning, "who never judged knows of no change"


def test_a_break_is_offered_and_a_pause_is_not_in_the_seconds(held: Judgments) -> None:
    create_batch(held, BatchPlan("b"), items())
    at, now = drawn("annotate", name="Ana"), [0.0]
    at.session_state["working_time"] = WorkingTime(lambda: now[0])
    again(at)
    for _ in range(9):
        now[0] += 300.0
        again(at)
    assert says(at, r"\b45 minutes", "info")
    press(at, "Pause")
    now[0] += 5000.0
    press(at, "Resume")
    assert "minutes" not in texts(at)
    now[0] += 3.0
    press(at, "Supports")
    assert [j.seconds for j in held.present()] == [2703.0]
    (progress,) = [p.proto.text for p in at.get("progress")]
    assert re.findall(r"[\d.]+", progress) == ["1", "3", "1", "2703.0"], "of all pairs, today, and the median seconds"


def test_guidelines_make_room_and_come_back(held: Judgments) -> None:
    create_batch(held, BatchPlan("b"), items())
    at = drawn("annotate", name="Ana")
    for shown in (False, True):
        press(at, "Guidelines")
        assert (packaged("judge").text in [m.value for m in at.markdown]) is shown


def test_answers_are_compared_side_by_side(held: Judgments) -> None:
    create_batch(held, BatchPlan("b", task="prefer"), items(1))
    at = drawn("annotate", name="Ana")
    assert {"First answer", "Second answer"} <= {m.value.strip("*") for m in at.markdown}
    press(at, "Second")
    [event] = held.history(items(1)[0].record.key)
    assert (event["kind"], event["verdict"]) == ("prefer", "second")


def test_a_batch_of_other_people_is_not_offered(held: Judgments) -> None:
    create_batch(held, BatchPlan("b", people=("Bo",)), items())
    at = drawn("annotate", name="Ana")
    assert not at.selectbox
    assert says(at, r"\bno runs\b", "info"), "the page offers what is left: the runs of the workspace"


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
    at = drawn("adjudication", name="Judge")
    assert says(at, r"\b2 to adjudicate", "caption")
    shown = texts(at)
    assert "Person A" in shown
    assert "Ana" not in shown
    assert "Bo" not in shown
    next(t for t in at.text_input).set_value("because")
    press(at, "Supports")
    assert says(at, r"\b1 to adjudicate", "caption")
    press(at, "Unsure")
    assert says(at, r"\b2\b.*adjudicated", "success")
    keys = [item.record.key for item in items(2, HOSTILE)]
    assert adjudicated_labels(disputed) == {keys[0]: "supports", keys[1]: "unsure"}
    press(at, "Undo")
    assert adjudicated_labels(disputed) == {keys[0]: "supports"}
    at.toggle(key="hidden").set_value(False)
    assert "Bo" in texts(again(at))
    at.toggle(key="with_decided").set_value(True)
    again(at)
    at.selectbox(key="dispute").set_value(keys[0])
    assert says(again(at), r"\bJudge\b.*\*\*supports\*\*.*because", "success")
    assert len(disputed.present()) == 4


def test_preferences_are_decided_too_and_the_trail_hides_names(held: Judgments) -> None:
    create_batch(held, BatchPlan("b", task="prefer", per_pair=2), items(1))
    for name, label in (("Ana", "First"), ("Bo", "Second")):
        press(drawn("annotate", name=name), label)
    at = drawn("adjudication", name="Judge")
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
    at = drawn("adjudication", name="Judge")
    raw = "\n".join(m.value for m in at.markdown)
    assert "\\<script\\>" in raw
    assert "<script>" not in raw
    assert "](javascript" not in raw


def test_adjudication_asks_for_a_name_and_says_when_there_is_no_dispute(held: Judgments) -> None:
    assert held.present() == []
    assert [box.label for box in drawn("adjudication").main.selectbox] == ["Your name"]
    assert says(drawn("adjudication", name="Judge"), "no disagreements", "info")


def test_adjudication_opens_where_disputes_are_and_other_batches_lead_there(disputed: Judgments) -> None:
    create_batch(disputed, BatchPlan("later"), items(1, "Undisputed."))
    at = drawn("adjudication", name="Judge")
    assert at.selectbox(key="of").value == "b"
    assert says(at, r"\b2 to adjudicate", "caption")
    at = drawn("adjudication", name="Judge", of="later")
    assert says(at, r"no disagreements in later.*in b, 2 disputed pairs wait", "info")
    assert says(press(at, "Go to b"), r"\b2 to adjudicate", "caption")
    for _ in range(2):
        press(at, "Supports")
    assert at.selectbox(key="of").value == "b", "settling the last pair does not change the choice"
    assert says(at, r"\b2 pairs are adjudicated", "success")


def test_adjudication_opens_on_all_judgments_if_no_batch_has_the_dispute(held: Judgments) -> None:
    create_batch(held, BatchPlan("b"), items(1))
    apart = items(1, "In no batch.")[0].record
    held.add_pairs([apart])
    for name, said in (("Ana", "supports"), ("Bo", "does not support")):
        held.judge(held.sign_in(name), apart.key, said, source="annotate")  # type: ignore[arg-type]
    at = drawn("adjudication", name="Judge")
    assert at.selectbox(key="of").value == "all judgments"
    assert says(at, r"\b1 to adjudicate", "caption")


def test_a_verdict_that_replaces_the_one_of_another_window_says_so(held: Judgments) -> None:
    create_batch(held, BatchPlan("b"), items())
    one, two = drawn("annotate", name="Ana"), drawn("annotate", name="Ana")
    press(one, "Supports")
    assert not one.toast
    press(two, "Does not support")
    assert [j.verdict for j in held.present()] == ["does not support"]
    [toast] = two.toast
    assert "your verdict “supports”" in toast.value
    assert "Annotate" in toast.value
    assert says(two, "replaces your verdict", "caption")


def test_a_judgment_undone_on_another_page_brings_its_comment_back(held: Judgments) -> None:
    create_batch(held, BatchPlan("b"), items())
    at = drawn("annotate", name="Ana")
    at.text_input[0].set_value("a comment")
    press(at, "Supports")
    held.undo(held.sign_in("Ana"))
    press(at, "Unsure")
    assert "Perspective 0." in texts(at), "the pair that was on the screen came first"
    assert at.text_input[0].value == "a comment"
