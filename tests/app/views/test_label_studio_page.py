"""The page Label Studio shows each person their own way in, and the exchange to those who may exchange."""

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.label_studio.people import email_of
from berdseye.annotation.label_studio.server import Password, Server, make_credentials, write_passwords
from berdseye.data.people import Role
from berdseye.data.workspace import Workspace
from tests.app.drawn_page import says

PAGE = Path(__file__).resolve().parents[3] / "app" / "views" / "label_studio.py"
URL = "http://127.0.0.1:9"
SECRET = "anas-own-password"


@pytest.fixture
def held(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Judgments:
    """A workspace with a server of its own, on which Ana has an account and Bo has none."""
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
    for name in ("BERDSEYE_JUDGMENTS_URL", "BERDSEYE_LABEL_STUDIO_URL"):
        monkeypatch.delenv(name, raising=False)
    judgments = Judgments.open(workspace.judgments_url)
    folder = workspace.label_studio_folder
    folder.mkdir(parents=True)
    make_credentials(folder)
    write_passwords(folder, {email_of(judgments.sign_in("Ana")): Password(SECRET, 2, "2026")})
    for module in ("berdseye.app.components.label_studio", "berdseye.annotation.label_studio.connection"):
        monkeypatch.setattr(f"{module}.running", lambda _: Server(folder, URL, 1))
    st.cache_resource.clear()
    return judgments


def drawn(judgments: Judgments, name: str, monkeypatch: pytest.MonkeyPatch, role: Role = "admin") -> AppTest:
    for module in ("berdseye.app.access.session", "berdseye.app.components.label_studio"):
        monkeypatch.setattr(f"{module}.role", lambda: role)
    at = AppTest.from_file(str(PAGE), default_timeout=60)
    if name:
        at.session_state["annotator"] = judgments.sign_in(name)
    at.run()
    assert not at.exception, [e.value for e in at.exception]
    return at


def codes(at: AppTest) -> list[str]:
    return [code.value for code in at.code]


def labels(at: AppTest) -> set[str]:
    return {button.label for button in at.button}


def test_the_server_is_started_from_the_page(held: Judgments, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[str, ...]] = []
    monkeypatch.setattr("berdseye.annotation.label_studio.connection.running", lambda _: None)
    monkeypatch.setattr("berdseye.app.jobs.running.start_job", lambda _, arguments, **__: started.append(arguments))
    drawn(held, "Ana", monkeypatch).button(key="start-server").click().run()
    assert started == [("label-studio",)]
    assert "Start Label Studio" not in labels(drawn(held, "Ana", monkeypatch, "annotator"))


def test_an_annotator_is_shown_their_own_account_and_no_more(
    held: Judgments, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = drawn(held, "Ana", monkeypatch, "annotator")
    assert codes(at) == [email_of(held.annotator("Ana")), SECRET]
    assert labels(at) == set(), "nothing to send, receive or reset"
    assert not at.expander
    secrets = (workspace.label_studio_folder / "credentials.json").read_text()
    assert not any(code in secrets for code in codes(at))


@pytest.mark.parametrize("role", ["annotator", "researcher", "admin"])
def test_nobody_is_shown_the_password_of_another(role: Role, held: Judgments, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("Bo", ""):
        at = drawn(held, name, monkeypatch, role)
        assert SECRET not in codes(at)
        assert ("Set my password" in labels(at)) == bool(name)


def test_the_admins_account_is_for_admins_and_warns_whose_its_judgments_are(
    held: Judgments, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert codes(drawn(held, "Ana", monkeypatch, "researcher")) == [email_of(held.annotator("Ana")), SECRET]
    at = drawn(held, "Ana", monkeypatch)
    assert codes(at)[:2] == [email_of(held.annotator("Ana")), SECRET], "one's own comes first"
    assert codes(at)[2] == "admin@berdseye.local"
    assert says(at, r"admin@berdseye\.local", "warning"), "judgments under this account are nobody's own"


def test_an_exchange_checks_the_role_again_when_a_button_is_pressed(
    held: Judgments, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = drawn(held, "Ana", monkeypatch, "researcher")
    monkeypatch.setattr("berdseye.app.access.session.role", lambda: "annotator")
    started: list[object] = []
    monkeypatch.setattr("berdseye.app.jobs.running.start_job", lambda *words, **_: started.append(words))
    next(button for button in at.button if button.label == "Pull").click()
    at.run()
    assert started == []
    assert labels(at) == set()
