"""The name that a browser keeps in local mode: whose it may be, and when it is looked at."""

import pytest
from streamlit.testing.v1 import AppTest

from berdseye.app.access.session import judgments as shared_judgments
from tests.app.drawn_page import APP, again


def came(monkeypatch: pytest.MonkeyPatch, sent: str) -> AppTest:
    """The app as someone finds it whose browser has kept a name."""
    monkeypatch.setattr("berdseye.app.access.session.kept_name", lambda _: sent)
    return again(AppTest.from_file(str(APP / "main.py"), default_timeout=60))


def who(at: AppTest) -> str | None:
    return at.session_state["annotator"].name if "annotator" in at.session_state else None


@pytest.mark.usefixtures("at_hand")
@pytest.mark.parametrize(("sent", "found"), [("Ada", "Ada"), ("Noor", None), ("Eve", None), ("", None)])
def test_only_someone_known_who_is_not_made_up_is_signed_in(
    monkeypatch: pytest.MonkeyPatch, sent: str, found: str | None
) -> None:
    held = shared_judgments()
    held.sign_in("Ada")
    held.sign_in("Noor", demo=True)
    at = came(monkeypatch, sent)
    assert who(at) == found
    assert [box.label for box in at.sidebar.selectbox] == ([] if found else ["Your name"])
    assert {a.name for a in held.annotators()} == {"Ada", "Noor"}, "nobody is made of what a browser sends"


@pytest.mark.usefixtures("at_hand")
def test_who_changes_the_name_is_not_given_the_old_one_again(monkeypatch: pytest.MonkeyPatch) -> None:
    shared_judgments().sign_in("Ada")
    at = came(monkeypatch, "Ada")
    at.sidebar.button(key="sign_out").click()
    assert who(again(at)) is None
    assert who(again(at)) is None
