"""The Perspectives page without a browser: propose, decide, take back, make a version and measure under both."""

from collections.abc import Iterator

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.annotation.people import Identity
from berdseye.annotation.perspective_edits.changes import Change
from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.app.access.roles import right_of_page
from berdseye.app.access.session import judgments as shared_judgments
from berdseye.app.components.perspective_mark import perspective_mark
from berdseye.data.datasets.stored import load_dataset, save_dataset
from berdseye.data.records import Perspective, Question
from berdseye.data.workspace import Workspace
from tests.app import drawn_page
from tests.app.drawn_page import APP, again, says, texts

HOSTILE = "<script>alert(1)</script> **bold** $x$ :red[no]"
CARS, TRAMS = Perspective("Cars harm cities.", "supporting"), Perspective("Trams suffice.")


@pytest.fixture
def held(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Judgments]:
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
    st.cache_resource.clear()
    save_dataset(
        workspace,
        "made",
        [
            Question("cars", "made", "Should cities ban cars?", (CARS, TRAMS)),
            Question("zoos", "made", f"Should zoos exist? {HOSTILE}", (Perspective(HOSTILE),)),
        ],
    )
    opened = shared_judgments()
    yield opened
    opened.engine.dispose()
    st.cache_resource.clear()


def drawn(name: str = "Ana", **query: str) -> AppTest:
    return drawn_page.drawn("perspectives", name=name, **query)


def press(at: AppTest, label: str) -> AppTest:
    next(b for b in at.button if b.label == label).click()
    return again(at)


def write(at: AppTest, words: str) -> AppTest:
    at.text_area[0].set_value(words)
    return press(at, "Send proposal")


def now_of(held: Judgments, workspace: Workspace) -> tuple[Perspective, ...]:
    return EditLog(workspace, held, "made").present().questions[0].perspectives


def test_a_missing_perspective_goes_from_the_form_into_a_version(held: Judgments, workspace: Workspace) -> None:
    at = drawn("Ana", dataset="made", question="cars")
    assert f"{perspective_mark(0)} Cars harm cities.".replace("**", "") in texts(at).replace("**", "")
    write(at, "- Shops need cars.")
    assert says(at, r"\bedit 1\b")
    assert now_of(held, workspace) == (CARS, TRAMS)
    press(at, "Accept")
    assert says(at, r"edit 1\b.*accepted")
    assert now_of(held, workspace)[-1] == Perspective("Shops need cars.", "opposing")
    press(at, "Create made@2")
    assert says(at, r"created made@2")
    assert len(load_dataset(workspace, "made@2")[0].perspectives) == 3
    assert not [b for b in at.button if b.label.startswith("Create made@")], "no accepted edit is missing from it"
    press(at, "Undo decision")
    assert now_of(held, workspace) == (CARS, TRAMS)
    press(at, "Withdraw")
    assert says(at, r"edit 1\b.*withdrawn")


def test_every_kind_of_edit_has_its_form(held: Judgments, workspace: Workspace) -> None:
    at = drawn("Ana", dataset="made", question="cars")
    press(at, "Merge")
    at.multiselect[0].set_value([CARS.text, TRAMS.text])
    write(at, "+ Streets are for people.")
    press(at, "Reword")
    next(s for s in at.selectbox if s.label == "Perspective").set_value(CARS.text)
    write(at, "Cars spoil cities.")
    press(at, "Split")
    next(s for s in at.selectbox if s.label == "Perspective").set_value(TRAMS.text)
    write(at, "Trams are quiet.\nTrams are clean.")
    press(at, "Drop")
    next(s for s in at.selectbox if s.label == "Perspective").set_value(TRAMS.text)
    press(at, "Send proposal")
    edits = EditLog(workspace, held, "made").edits()
    assert [e.change.action for e in edits] == ["merge", "reword", "split", "drop"]
    assert edits[1].change.becomes[0].stance == "supporting"
    assert says(at, "conflicts with edit 2, 3, 4", "warning")
    press(at, "Accept")
    press(at, "Accept")
    assert says(at, r"edit 2 conflicts with edit 1\b.*\bAna\b", "error")
    press(at, "Reject")
    assert says(at, r"edit 2\b.*rejected")


def test_an_equals_sign_removes_the_stance(held: Judgments, workspace: Workspace) -> None:
    at = drawn("Ana", dataset="made", question="cars")
    press(at, "Reword")
    next(s for s in at.selectbox if s.label == "Perspective").set_value(CARS.text)
    write(at, f"= {CARS.text}")
    press(at, "Accept")
    assert now_of(held, workspace)[0] == Perspective(CARS.text)


@pytest.mark.parametrize(
    ("email", "may"),
    [("ann@example.org", ""), ("adj@example.org", "Accept Reject"), ("rea@example.org", "Accept Reject Create made@2")],
)
def test_in_a_team_each_role_has_the_buttons_of_its_rights(
    held: Judgments, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, email: str, may: str
) -> None:
    log, bo = EditLog(workspace, held, "made"), held.sign_in("Bo")
    for text in ("Done.", "Waits."):
        edit = log.propose(held.sign_in("Ana"), "cars", Change.of("propose", (), (Perspective(text),)))
        if text == "Done.":
            log.accept(bo, edit.id)
    (workspace.folder / "berdseye.toml").write_text(
        '[people]\nmode = "team"\nissuer = "https://id.example.org"\nclient_id = "b"\n[people.roles]\n'
        '"ann@example.org" = "annotator"\n"adj@example.org" = "adjudicator"\n"rea@example.org" = "researcher"\n'
    )
    held.engine.dispose()
    st.cache_resource.clear()
    signed_in = [email]
    monkeypatch.setattr(
        "berdseye.app.access.session.identity", lambda _claims, _people: Identity("i", "1", "Cleo", signed_in[0])
    )
    at = AppTest.from_file(str(APP / "views" / "perspectives.py"), default_timeout=60)
    at.session_state["right"] = right_of_page("perspectives")
    at.session_state["annotator"] = Judgments.open(workspace.judgments_url).sign_in("Cleo")
    again(at)
    usable = {b.label for b in at.button if not b.disabled}
    assert {label for label in ("Accept", "Reject", "Create made@2") if label in usable} == {
        label for label in ("Accept", "Reject", "Create made@2") if label in may
    }
    write(at, "Mine.")
    if "Accept" in may:
        own = [b for b in at.button if b.label == "Accept"]
        assert [b.disabled for b in own] == [False, True], "nobody accepts what they proposed"
        signed_in[0] = "ann@example.org"
        press(at, "Accept")
        assert says(at, r"role.*\badjudicator\b", "error")
    statuses = [e.status for e in EditLog(workspace, Judgments.open(workspace.judgments_url), "made").edits()]
    assert statuses == ["accepted", "open", "open"]


def test_an_incomplete_form_is_an_error_and_keeps_what_was_typed(held: Judgments, workspace: Workspace) -> None:
    at = drawn("Ana", dataset="made", question="cars")
    press(at, "Merge")
    write(at, "Both.")
    assert says(at, r"`merge`.*\btwo\b", "error")
    assert at.text_area[0].value == "Both."
    assert EditLog(workspace, held, "made").edits() == []


def test_judgments_and_flags_are_shown_and_hostile_text_is_text(held: Judgments) -> None:
    bo = held.sign_in("Bo")
    record = PairRecord("made", "zoos", "Should zoos exist?", HOSTILE, None, "web", "", "A passage.")
    [key] = held.add_pairs([record])
    held.judge(bo, key, "supports", source="annotate")
    held.flag(bo, key, source="annotate", comment=HOSTILE)
    at = drawn("Ana", dataset="made", question="zoos")
    assert says(at, r"\b1 judgment\b")
    assert says(at, r"\b1 flag\b")
    assert f"Bo: {HOSTILE}" in texts(at)
    assert all("<script>" not in m.value for m in (*at.markdown, *at.caption, *at.header))


def test_a_person_without_a_name_can_only_read(held: Judgments, workspace: Workspace) -> None:
    log = EditLog(workspace, held, "made")
    log.propose(held.sign_in("Bo"), "cars", Change.of("drop", [CARS], []))
    at = drawn("", dataset="made", question="cars")
    assert says(at, r"\bname\b.*sidebar", "info")
    assert says(at, r"\bedit 1\b")
    assert not [b for b in at.button if b.label in ("Accept", "Reject", "Send proposal")]


def test_next_goes_through_the_questions_and_an_unknown_one_is_the_first(held: Judgments) -> None:
    assert held.annotators() == []
    at = drawn("Ana", dataset="made", question="nowhere")
    assert at.header[0].value == "Should cities ban cars\\?"
    press(at, "Next")
    assert "Should zoos exist" in at.header[0].value
    press(at, "Next")
    assert "Should cities ban cars" in at.header[0].value


def test_a_workspace_without_data_sets_says_what_to_do(held: Judgments, workspace: Workspace) -> None:
    assert held.version() == 0
    workspace.dataset_file("made").unlink()
    at = drawn()
    assert says(at, "no data set")
    assert "Add a data set" in [b.label for b in at.button]
