"""Judging on the pages where people read: the texts of the last action, and the list of a person's last judgments."""

from datetime import UTC, datetime, timedelta

import pytest
from streamlit.testing.v1 import AppTest

from berdseye.annotation.judgments.log import IN_THE_APP, PairRecord
from berdseye.app.access.session import judgments as shared_judgments
from berdseye.app.components.judging import PLACES, age, beginning
from berdseye.app.components.keys import LAST, PAGES
from tests.app.drawn_page import APP, again, says, texts

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "a moment ago"), (59, "a moment ago"), (60, "1 min ago"), (3599, "59 min ago"), (7300, "2 h ago"),
     (86_400, "1 day ago"), (3 * 86_400, "3 days ago")],
)  # fmt: skip
def test_an_age_is_given_in_its_largest_unit(seconds: int, shown: str) -> None:
    assert age((NOW - timedelta(seconds=seconds)).isoformat(), NOW) == shown


def test_a_beginning_ends_with_a_whole_word() -> None:
    assert beginning("Cats purr.") == "Cats purr."
    assert beginning("Cats purr and sleep", most=12) == "Cats purr …"


def test_every_place_of_a_judgment_in_the_app_has_a_name() -> None:
    assert set(IN_THE_APP) <= set(PLACES)


def test_the_key_of_the_list_is_no_page_s_own() -> None:
    others = [b.key for page, bindings in PAGES.items() if "last judgments" not in page for b in bindings]
    assert LAST not in others


def opened(name: str) -> AppTest:
    """The app, with the list of last judgments open."""
    at = AppTest.from_file(str(APP / "main.py"), default_timeout=60)
    at.session_state["annotator"] = shared_judgments().sign_in(name)
    again(at)
    at.button(key="last-judgments").click()
    return again(at)


@pytest.mark.usefixtures("demo")
def test_the_list_has_the_last_ten_and_a_person_without_any_is_told() -> None:
    assert says(opened("Bo"), "not judged a pair yet", "info")
    held = shared_judgments()
    ana = held.sign_in("Ana")
    records = [
        PairRecord("d", "q", "Cats?", f"<b>Cats</b> are {n}.", None, "web", "", f"Cats purr {n}.") for n in range(12)
    ]
    for key in held.add_pairs(records):
        held.judge(ana, key, "supports", source="search", shown=True)
    at = opened("Ana")
    rows = [b for b in at.button if str(b.key).startswith("give-")]
    assert len(rows) == 3 * 10
    assert [b.label for b in rows[:3]] == ["Supports", "Does not support", "Unsure"]
    assert "<b>Cats</b> are 11." in texts(at)
    assert "<b>Cats</b> are 1." not in texts(at), "only ten"
    assert says(at, "Search · a moment ago", "caption")


@pytest.mark.usefixtures("demo")
def test_nobody_without_a_name_has_a_list() -> None:
    at = again(AppTest.from_file(str(APP / "main.py"), default_timeout=60))
    assert not [b for b in at.button if b.key == "last-judgments"]
