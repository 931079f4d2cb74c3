"""The first-run tour: what it promises is on its pages, who is offered it, and where its place is kept."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.app.access.roles import PAGES, may, right_of_page
from berdseye.app.access.session import judgments as shared_judgments
from berdseye.app.components.keys import PAGES as KEYS
from berdseye.app.components.tour import DEMO, MISSING, PARAMETER, STEPS, Step, lacks, step_at, steps_of
from berdseye.app.navigation import VIEWS
from berdseye.data.people import ROLES, Role
from berdseye.data.workspace import Workspace
from tests.app.drawn_page import APP, again, drawn, says, texts

MINUTES, WORDS_A_MINUTE = 2, 200
OFFER, QUIET = "Two-minute tour", "Tour"
BY_NAME = {step.name: step for step in STEPS}


def app(*, name: str = "", **query: str) -> AppTest:
    """The whole app on the page it opens with."""
    at = AppTest.from_file(str(APP / "main.py"), default_timeout=60)
    if name:
        at.session_state["annotator"] = shared_judgments().sign_in(name)
    for key, value in query.items():
        at.query_params[key] = value
    again(at)
    return at


def press(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click()
    again(at)
    return at


def shown(at: AppTest) -> str | None:
    """The step on the card, by its title; None: there is no card."""
    titles = {step.title for step in STEPS}
    found = [title for m in at.markdown for title in titles if m.value.endswith(f"**{title}**")]
    return found[0] if found else None


def place(at: AppTest) -> str:
    """The step in the address; AppTest has a list or a text there, as it was put there."""
    asked: list[str] | str = at.query_params[PARAMETER]
    return asked if isinstance(asked, str) else asked[-1]


def judge_something(name: str) -> None:
    held = shared_judgments()
    held.add_pairs([record := PairRecord("d", "q", "Cats?", "Cats are good.", None, "c", "", "Cats purr.")])
    held.judge(held.sign_in(name), record.key, "supports", source="annotate")


# The table ------------------------------------------------------------------------------------------------------------


def test_the_steps_lead_to_pages_and_are_read_in_two_minutes() -> None:
    assert len(BY_NAME) == len(STEPS)
    for step in STEPS:
        assert (APP / "views" / f"{step.page}.py").is_file()
        assert step.page in PAGES
        assert step.needs in MISSING
    words = sum(len(f"{step.title} {step.text}".split()) for step in STEPS)
    assert words <= MINUTES * WORDS_A_MINUTE


@pytest.mark.parametrize("step", STEPS, ids=list(BY_NAME))
def test_a_step_names_only_keys_that_its_page_has(step: Step) -> None:
    named = [key.lower() for key in re.findall(r"`(.)`", step.text)]
    known = {binding.key for binding in KEYS.get(step.page.capitalize(), ())}
    assert set(named) <= known


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("step", STEPS, ids=list(BY_NAME))
def test_what_a_step_names_is_on_its_page(step: Step) -> None:
    at = drawn(step.page, name="Ada", **step.on_demo)
    labelled = [
        *(w.label for kind in ("button", "selectbox", "multiselect", "expander") for w in at.get(kind)),
        *(popover.proto.popover.label for popover in at.get("popover")),
        *(m.value for kind in ("subheader", "markdown") for m in at.get(kind)),
        *(str(cell) for table in at.table for cell in table.value.to_numpy().ravel()),
    ]
    for named in re.findall(r"\*\*(.+?)\*\*", step.text):
        assert any(named in label for label in labelled), f"{named} is not on {step.page}"


@pytest.mark.parametrize("role", [None, *ROLES])
def test_a_role_is_led_to_the_pages_it_may_use(role: Role | None) -> None:
    steps = steps_of(role)
    assert steps == tuple(s for s in STEPS if may(role, s.right or right_of_page(s.page)))
    counted = {None: 0, "annotator": 4, "adjudicator": 4, "researcher": len(STEPS), "admin": len(STEPS)}
    assert len(steps) == counted[role]


@pytest.mark.parametrize(
    ("page", "asked", "kept", "found"),
    [
        ("explore", None, None, None),  # no tour
        ("runs", "compare", None, "compare"),
        ("runs", "compare", "ask", "compare"),  # the address comes first
        ("runs", "ask", None, "ask"),  # the card then leads to Explore
        ("explore", None, "correct", "correct"),
        ("runs", None, "correct", "compare"),  # someone went there by the navigation
        ("compare", None, "correct", "correct"),  # a page without a step
        ("runs", "nonsense", None, "compare"),
        ("compare", "nonsense", None, "ask"),
        ("runs", "nonsense", "holes", "compare"),
        ("compare", None, "gone", "ask"),  # a step of a role that was taken
    ],
)
def test_where_someone_is(page: str, asked: str | None, kept: str | None, found: str | None) -> None:
    step = step_at(STEPS, page, asked, kept)
    assert (step.name if step else None) == found
    assert step_at((), page, asked, kept) is None


def test_what_is_missing_is_named_with_the_page_that_helps(workspace: Workspace) -> None:
    held = Judgments.open(workspace.judgments_url)
    assert all(lacks(workspace, held, need) for need in MISSING)
    named = [view.title for view in VIEWS.values()]
    assert all(
        any(f"{title} page" in text or f"on {title}" in text for title in named) for text in (*MISSING.values(), DEMO)
    )


def test_the_demo_lacks_nothing(demo_workspace: Workspace, demo_judgments: Judgments) -> None:
    assert not any(lacks(demo_workspace, demo_judgments, need) for need in MISSING)
    assert all(Path(demo_workspace.runs_folder / f"{BY_NAME['holes'].on_demo['run']}{end}").exists() for end in
               (".json", ".parquet"))  # fmt: skip


# On the pages ---------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("demo")
def test_a_new_person_is_offered_the_tour_and_one_who_has_judged_is_not() -> None:
    assert app().button(key="tour-start").label == OFFER
    assert app(name="Ada").button(key="tour-start").label == OFFER
    judge_something("Ada")
    at = app(name="Ada")
    assert at.button(key="tour-start").label == QUIET
    assert shown(at) is None
    assert PARAMETER not in at.query_params
    assert app(name="Bea").button(key="tour-start").label == OFFER


@pytest.mark.usefixtures("demo")
def test_the_place_is_in_the_address_and_the_page_keeps_its_choices() -> None:
    at = press(app(name="Ada"), "tour-start")
    at.selectbox(key="set").set_value("policy")
    at.number_input(key="k").set_value(2).run()
    assert (shown(at), place(at)) == (BY_NAME["ask"].title, "ask")
    assert at.button(key="tour-back").disabled
    press(at, "tour-next")
    assert (shown(at), place(at)) == (BY_NAME["correct"].title, "correct")
    assert at.selectbox(key="set").value == "policy"
    assert at.number_input(key="k").value == 2
    press(at, "tour-back")
    assert shown(at) == BY_NAME["ask"].title
    assert shown(app(**{PARAMETER: "correct"})) == BY_NAME["correct"].title


@pytest.mark.usefixtures("demo")
def test_a_step_of_another_page_leads_there() -> None:
    at = app(name="Ada", **{PARAMETER: "judge"})
    assert at.button(key="tour-next").label == "Go to Annotate"
    press(at, "tour-next")
    assert at.button(key="tour-next").label == "Next"
    assert place(at) == "judge"
    assert any(b.label == "Does not support" for b in at.button), "the page is Annotate now"


@pytest.mark.usefixtures("demo")
def test_a_tour_that_was_left_stays_left_for_the_session() -> None:
    at = press(app(**{PARAMETER: "correct"}), "tour-leave")
    assert shown(at) is None
    assert PARAMETER not in at.query_params
    assert at.button(key="tour-start").label == QUIET, "it is not offered again"
    at.query_params[PARAMETER] = "correct"  # as the browser's Back does
    assert shown(again(at)) is None
    assert PARAMETER not in at.query_params
    assert shown(press(at, "tour-start")) == BY_NAME["ask"].title, "unless it is asked for"


@pytest.mark.usefixtures("demo")
def test_a_name_is_asked_for_where_a_step_takes_one() -> None:
    first_words = re.escape(BY_NAME["correct"].text[:20])
    assert says(app(**{PARAMETER: "correct"}), rf"\bname\b.*sidebar.*{first_words}")
    assert not says(app(name="Ada", **{PARAMETER: "correct"}), rf"\bname\b.*sidebar.*{first_words}")


@pytest.mark.usefixtures("at_hand")
def test_on_an_empty_workspace_a_step_names_what_is_missing_and_the_demo() -> None:
    at = app(name="Ada", **{PARAMETER: "ask"})
    assert f"{MISSING['corpus']} {DEMO}" in texts(at)


@pytest.mark.usefixtures("demo")
def test_an_annotator_of_a_team_is_led_through_their_own_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("berdseye.app.components.tour.role", lambda: "annotator")
    at = app(name="Ada", **{PARAMETER: "holes"})
    assert shown(at) == BY_NAME["ask"].title, "not where they may not go"
    assert any(":blue-badge[1 of 4]" in m.value for m in at.markdown)
