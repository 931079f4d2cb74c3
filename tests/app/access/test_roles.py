"""One table says what each role may; pages, commands and tokens are held to it."""

import getpass
import json
import os
import re
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer.main
from typer.testing import CliRunner

from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.people import Identity, person_of
from berdseye.app.access.oidc import SignInError, auth_secrets, identity, provider_trouble
from berdseye.app.access.roles import COMMANDS, MAY, PAGES, RefusedError, Right, check, right_of_command, right_of_page
from berdseye.app.cli import cli
from berdseye.app.components.command_form import leaf_commands
from berdseye.app.jobs.running import start_job
from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.data.people import ROLES, PeopleSettings
from berdseye.data.workspace import Workspace

VIEWS = Path(__file__).resolve().parents[3] / "app" / "views"
README = VIEWS.with_name("README.md").read_text(encoding="utf-8")
ISSUER = "https://id.example.org"
PEOPLE = PeopleSettings("team", ISSUER, "b", roles={"@example.org": "annotator", "ada@example.org": "admin"})
CLAIMS = {
    "iss": ISSUER,
    "sub": "1",
    "iat": 1000,
    "name": "Ana",
    "email": "ana@example.org",
    "email_verified": True,
}


def test_each_role_may_what_the_one_before_may_and_more() -> None:
    for less, more in pairwise(ROLES):
        assert MAY[less] < MAY[more]
    with pytest.raises(RefusedError, match=r"requires the role of a researcher, but ana@x is an annotator\."):
        check("annotator", "train", "ana@x")
    with pytest.raises(RefusedError, match="has no role"):
        check(None, "judge", "ana@x")


def test_every_page_and_every_command_has_a_right() -> None:
    pages = {path.stem for path in VIEWS.glob("*.py")}
    assert pages <= set(PAGES), "app/access/roles.py: PAGES"
    commands = set(leaf_commands(typer.main.get_command(cli)))
    assert len(commands) > 50
    unknown = [" ".join(words) for words in commands if not any(" ".join(words[:n]) in COMMANDS for n in (1, 2, 3))]
    assert unknown == [], "app/access/roles.py: COMMANDS"
    held = {words for words, command in leaf_commands(typer.main.get_command(cli)).items() if right_of_command(words)}
    callbacks = {words: command.callback for words, command in leaf_commands(typer.main.get_command(cli)).items()}
    assert all(hasattr(callbacks[words], "__wrapped__") for words in held), "each asks before it runs"
    assert right_of_command(("batch", "create")) == "send out"
    assert right_of_command(("batch", "export")) == "analyse"
    assert right_of_command(("batch", "qualification")) == "analyse"
    assert (right_of_command(("new",)), right_of_page("new")) == ("administer", "administer")


def test_the_readme_lists_the_rights_and_pages_of_each_role() -> None:
    told = {
        role: ({right.strip() for right in rights.split(",")}, {page.strip().casefold() for page in pages.split(",")})
        for role, rights, pages in re.findall(r"^\| (\w+) \| (.+) \| (.+) \|$", README, re.MULTILINE)
        if role in ROLES
    }
    assert tuple(told) == ROLES
    before: frozenset[Right] = frozenset()
    for role in ROLES:
        more = MAY[role] - before
        pages = {name.replace("_", " ") for name, right in PAGES.items() if right in more}
        assert told[role][0] == more
        assert told[role][1] == pages or (role == "admin" and not pages)
        before = MAY[role]


@pytest.fixture
def team(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.delenv("BERDSEYE_PERSON", raising=False)
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
    (workspace.folder / "berdseye.toml").write_text(
        f'[people]\nmode = "team"\nissuer = "{ISSUER}"\nclient_id = "b"\n[people.roles]\n'
        '"@example.org" = "annotator"\n"rea@example.org" = "researcher"\n"ada@example.org" = "admin"\n'
    )
    return Workspace.open(workspace.folder)


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(cli, list(arguments))
    assert isinstance(result.exception, RefusedError | BadInputError), (result.output, result.exception)
    return str(result.exception)


def done(*arguments: str) -> str:
    result = CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.usefixtures("team")
def test_a_command_asks_who_and_whether_they_may(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "by their e-mail address" in refused("batch", "list")
    assert "by their e-mail address" in refused("--as", "Ana", "batch", "list")
    assert "requires the role of a researcher, but ana@example.org is an annotator" in refused(
        "--as", "ana@example.org", "batch", "list"
    )
    assert "has no role" in refused("--as", "ana@elsewhere.org", "search", "x", "--corpus", "y")
    assert "requires the role of an admin" in refused("--as", "rea@example.org", "backup", "x.zip")
    assert done("--as", "Rea@example.org", "batch", "list") == ""
    monkeypatch.setenv("BERDSEYE_PERSON", "rea@example.org")
    assert done("batch", "list") == ""
    assert "the role of a researcher" in refused("--as", "ana@example.org", "batch", "list"), "what is said comes first"
    assert "annotator\texplore, judge" in done("people", "roles")


def test_what_a_command_makes_bears_a_name(team: Workspace, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("passage\tperspective\nStreets are quiet.\tCars should go.\n")
    held = Judgments.open(team.judgments_url)
    person_of(held, Identity(ISSUER, "1", "Rea Sun", "rea@example.org"))
    made = ("--as", "rea@example.org", "batch", "create", "--json", "--file", str(pairs))
    assert json.loads(done(*made, "one").partition("person a pair")[2])["made_by"] == "Rea Sun"
    done("--as", "rea@example.org", "detector", "adopt", "embedded")
    assert json.loads((team.detectors_folder / "adopted.json").read_text())["made_by"] == "Rea Sun"
    (team.folder / "berdseye.toml").write_text("")
    done("batch", "close", "one")
    with held.reading() as connection:
        (closed,) = connection.exec_driver_sql("SELECT made_by FROM batch_events WHERE kind = 'close'").all()
    assert closed.made_by == getpass.getuser()
    held.engine.dispose()


def test_people_are_listed_and_linked_by_an_admin(team: Workspace) -> None:
    held = Judgments.open(team.judgments_url)
    held.sign_in("Ana")
    assert "requires the role of an admin" in refused(
        "--as", "rea@example.org", "people", "link", "Ana", "ana@example.org"
    )
    done("--as", "ada@example.org", "people", "link", "Ana", "ana@example.org")
    assert done("--as", "ada@example.org", "people", "list") == "Ana\tana@example.org\tannotator\tby name\n"
    assert person_of(held, Identity(ISSUER, "1", "Somebody", "ana@example.org")).name == "Ana"
    done("--as", "ada@example.org", "people", "unlink", "Ana")
    (row,) = json.loads(done("--as", "ada@example.org", "people", "list", "--json"))
    assert row == {"name": "Ana", "email": "", "role": "", "signed_in": False, "made_up": False}
    result = CliRunner().invoke(cli, ["--as", "ada@example.org", "people", "link", "Anna", "a@b"])
    assert isinstance(result.exception, UnknownNameError)
    assert "Did you mean Ana?" in str(result.exception)
    held.engine.dispose()


def test_a_command_that_the_app_starts_acts_for_the_person(team: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[dict[str, str]] = []

    class Process:
        pid = 1

        def __init__(self, *_: object, env: dict[str, str] | None, **__: object) -> None:
            begun.append(env or dict(os.environ))

    monkeypatch.setattr(subprocess, "Popen", Process)
    start_job(team, ("study", "list"), person="ana@example.org")
    start_job(team, ("study", "list"))
    assert [env.get("BERDSEYE_PERSON") for env in begun] == ["ana@example.org", None]


# Tokens ---------------------------------------------------------------------------------------------------------------


def test_a_good_token_is_someone() -> None:
    assert identity(CLAIMS, PEOPLE, now=1001) == Identity(ISSUER, "1", "Ana", "ana@example.org")
    assert identity(CLAIMS | {"email_verified": "true"}, PEOPLE, now=1001).email == "ana@example.org"


@pytest.mark.parametrize(
    ("change", "now", "said"),
    [
        ({}, 1000 + 12 * 3600, "Your sign-in has expired"),
        ({}, 0, "Your sign-in has expired"),
        ({"iat": None}, 1001, "Your sign-in has expired"),
        ({"iss": "https://other.example.org"}, 1001, "not from the provider"),
        ({"sub": ""}, 1001, "not from the provider"),
        ({"email": None}, 1001, "did not send your e-mail address"),
        ({"email_verified": False}, 1001, "has not verified"),
        ({"email_verified": None}, 1001, "has not verified"),
        ({"email_verified": "false"}, 1001, "has not verified"),
        ({"email": "ana@elsewhere.org"}, 1001, "has no access to this workspace"),
    ],
)
def test_a_token_that_is_not_enough_says_why(change: dict[str, Any], now: float, said: str) -> None:
    with pytest.raises(SignInError, match=said):
        identity(CLAIMS | change, PEOPLE, now=now)


def test_the_secrets_of_the_sign_in_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BERDSEYE_OIDC_CLIENT_SECRET", raising=False)
    with pytest.raises(UnavailableError, match="BERDSEYE_OIDC_CLIENT_SECRET"):
        auth_secrets(PEOPLE, "cookie", 8501)
    monkeypatch.setenv("BERDSEYE_OIDC_CLIENT_SECRET", "hush")
    made = auth_secrets(PEOPLE, "cookie", 8501)
    assert made["client_secret"] == "hush"
    assert made["redirect_uri"] == "http://localhost:8501/oauth2callback"
    assert made["server_metadata_url"] == f"{ISSUER}/.well-known/openid-configuration"


def test_a_provider_that_is_down_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def answering(status: int, body: object) -> None:
        answer = httpx.Response(status, json=body, request=httpx.Request("GET", ISSUER))
        monkeypatch.setattr(httpx, "get", lambda *_, **__: answer)

    answering(200, {"issuer": f"{ISSUER}/"})
    assert provider_trouble(PEOPLE) == ""
    answering(200, {"issuer": "https://evil.example.org"})
    assert "another issuer" in provider_trouble(PEOPLE)
    answering(503, {})
    assert provider_trouble(PEOPLE) == "It answers with HTTP status 503."
    answering(200, [])
    assert provider_trouble(PEOPLE) == "It does not answer."
    monkeypatch.undo()
    assert provider_trouble(PeopleSettings("team", "http://127.0.0.1:9")) == "It does not answer."
