"""Everyone can sign in to Label Studio as themselves, and their password is theirs."""

import json
import logging
import stat
from pathlib import Path
from uuid import uuid4

import pytest
from there import new_user, pair, signed_in
from typer.testing import CliRunner

from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.label_studio.accounts import give_account, known_account
from berdseye.annotation.label_studio.connection import Connection, connect
from berdseye.annotation.label_studio.exchange import push_to_projects
from berdseye.annotation.label_studio.people import email_of
from berdseye.annotation.label_studio.server import read_passwords, write_passwords
from berdseye.annotation.people import Identity, link, person_of
from berdseye.app.access.roles import RefusedError
from berdseye.app.cli import cli
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace

live = pytest.mark.label_studio
ISSUER = "https://id.example.org"


@live
def test_who_a_batch_is_for_signs_in_with_a_password_that_only_their_account_shows(
    judgments: Judgments, people: list[Annotator], own: Connection, capfd: pytest.CaptureFixture[str]
) -> None:
    ana, bo, zoe = people
    plan = BatchPlan(f"b-{uuid4().hex[:6]}", per_pair=2, people=(ana.name, bo.name))
    batch = create_batch(judgments, plan, [Item(pair(0))])
    for said in push_to_projects(judgments, own, batch):
        assert said.report.warnings == ()
    folder = own.folder
    accounts = [known_account(judgments, folder, own.url, one) for one in (ana, bo)]
    assert accounts[0] is not None
    assert accounts[1] is not None
    assert known_account(judgments, folder, own.url, zoe) is None, "nobody asked her for anything"
    assert accounts[0].email == email_of(ana)
    assert accounts[0].password != accounts[1].password
    assert len(accounts[0].password) >= 20
    for account in accounts:
        assert account is not None
        http = signed_in(own.url, account.email, account.password)
        assert http is not None
        assert http.get("/api/current-user/whoami").json()["email"] == account.email
        http.close()

    again = push_to_projects(judgments, own, batch)
    assert [one.report.tasks_created for one in again] == [0] * len(again)
    assert known_account(judgments, folder, own.url, ana) == accounts[0], "sending again changes no password"
    assert stat.S_IMODE((folder / "accounts.json").stat().st_mode) == 0o600
    # Nothing but that file holds it: no log of either server's, no row of the judgments, no representation.
    secret = accounts[0].password
    holding = [path.name for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert holding == ["accounts.json"]
    judgments.engine.dispose()
    database = Path(judgments.engine.url.database or "")
    assert secret.encode() not in database.read_bytes()
    assert secret not in f"{accounts[0]!r}{own!r}"
    assert secret not in "".join(capfd.readouterr())


@live
def test_a_new_password_ends_the_old_one(judgments: Judgments, people: list[Annotator], own: Connection) -> None:
    first = give_account(judgments, own, people[0])
    assert give_account(judgments, own, people[0]) == first
    second = give_account(judgments, own, people[0], reset=True)
    assert second.email == first.email
    assert signed_in(own.url, first.email, first.password) is None
    found = signed_in(own.url, second.email, second.password)
    assert found is not None
    found.close()


@live
def test_an_account_of_an_emptied_server_is_given_a_password_again(
    judgments: Judgments, people: list[Annotator], own: Connection
) -> None:
    give_account(judgments, own, people[0])
    held = read_passwords(own.folder)
    email = email_of(people[0])
    write_passwords(own.folder, held | {email: held[email]._replace(password="of-an-earlier-server", joined="2020")})
    account = give_account(judgments, own, people[0])
    assert account.password != "of-an-earlier-server"
    assert signed_in(own.url, email, account.password) is not None


@live
def test_who_has_an_account_of_their_own_keeps_its_password_until_they_ask(
    judgments: Judgments, people: list[Annotator], own: Connection
) -> None:
    email = f"ana-{uuid4().hex[:6]}@example.org"
    new_user(own, email)
    link(judgments, people[0].name, email)
    account = give_account(judgments, own, people[0])
    assert (account.email, account.password) == (email, "")
    account = give_account(judgments, own, people[0], reset=True)
    assert signed_in(own.url, email, account.password) is not None


@live
def test_on_a_server_of_others_people_are_invited_and_nobody_is_locked_out(
    judgments: Judgments, people: list[Annotator], connection: Connection
) -> None:
    assert connection.own is None
    ana, bo, _ = people
    email = f"ana-{uuid4().hex[:6]}@example.org"
    link(judgments, ana.name, email)
    plan = BatchPlan(f"b-{uuid4().hex[:6]}", per_pair=2, people=(ana.name, bo.name))
    batch = create_batch(judgments, plan, [Item(pair(0))])
    # Ana's word needs an author there, and her own address must stay free for her to sign up with.
    judgments.judge(ana, pair(0).key, "supports", source="annotate")
    sent = push_to_projects(judgments, connection, batch)
    assert sum(one.report.annotations_created for one in sent) == 1
    assert email not in {user.email for user in connection.client.users.list()}
    account = give_account(judgments, connection, bo)
    assert not account.ours
    assert account.password == ""
    assert account.invitation.startswith(f"{connection.url}/user/signup/?token=")
    warnings = [warning for one in sent for warning in one.report.warnings]
    assert any(bo.name in warning and "has no account" in warning for warning in warnings), warnings
    there = give_account(judgments, connection, ana)
    assert there.password_form.startswith(f"{connection.url}/admin/users/user/")
    with pytest.raises(BadInputError, match="did not start"):
        give_account(judgments, connection, bo, reset=True)


def test_a_damaged_file_of_passwords_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "accounts.json").write_text('{"ana": 1}')
    with pytest.raises(BadInputError, match=r"accounts\.json.*--reset"):
        read_passwords(tmp_path)


# The command ---------------------------------------------------------------------------------------------------------


def run(workspace: Workspace, *words: str, who: str = "") -> str:
    before = ("--as", who) if who else ()
    done = CliRunner().invoke(cli, [*before, *words, "--workspace", str(workspace.folder)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


@pytest.fixture
def at_home(own: Connection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Workspace:
    """The workspace whose server it is, with judgments of its own."""
    monkeypatch.setenv("BERDSEYE_JUDGMENTS_URL", f"sqlite:///{tmp_path / 'own.db'}")
    monkeypatch.delenv("BERDSEYE_PERSON", raising=False)
    return Workspace.open(own.folder.parent)


@live
def test_the_command_shows_how_a_person_signs_in(at_home: Workspace) -> None:
    name = f"Ana {uuid4().hex[:6]}"
    Judgments.open(at_home.judgments_url).sign_in(name)
    shown = json.loads(run(at_home, "label-studio", "account", name, "--json"))
    http = signed_in(shown["url"], shown["email"], shown["password"])
    assert http is not None
    http.close()
    assert f"password  {shown['password']}" in run(at_home, "label-studio", "account", name)
    new = json.loads(run(at_home, "label-studio", "account", name, "--reset", "--json"))
    assert new["password"] != shown["password"]


@live
def test_in_a_team_a_password_is_shown_to_its_person_alone(at_home: Workspace) -> None:
    mark = uuid4().hex[:6]
    ana, bo, ada = (f"{name}-{mark}@example.org" for name in ("ana", "bo", "ada"))
    settings = at_home.folder / "berdseye.toml"
    before = settings.read_text()
    settings.write_text(
        f'[people]\nmode = "team"\nissuer = "{ISSUER}"\nclient_id = "b"\n[people.roles]\n'
        f'"@example.org" = "annotator"\n"{ada}" = "admin"\n'
    )
    try:
        held = Judgments.open(at_home.judgments_url)
        person_of(held, Identity(ISSUER, "1", f"Ana {mark}", ana))
        person_of(held, Identity(ISSUER, "2", f"Bo {mark}", bo))
        mine = json.loads(run(at_home, "label-studio", "account", ana, "--json", who=ana))
        assert signed_in(mine["url"], ana, mine["password"]) is not None
        for arguments in ((ana,), (ana, "--reset"), (f"Ana {mark}",)):
            with pytest.raises(RefusedError, match="requires the role of an admin"):
                run(at_home, "label-studio", "account", *arguments, who=bo)
        assert signed_in(mine["url"], ana, mine["password"]) is not None, "Bo has changed nothing"
        reset = json.loads(run(at_home, "label-studio", "account", ana, "--reset", "--json", who=ada))
        assert reset["password"] == ""
        assert signed_in(mine["url"], ana, mine["password"]) is None
        again = json.loads(run(at_home, "label-studio", "account", ana, "--json", who=ana))
        assert signed_in(mine["url"], ana, again["password"]) is not None
        assert again["password"] not in run(at_home, "label-studio", "account", ana, who=ada)
    finally:
        settings.write_text(before)


@live
def test_passwords_are_in_no_log(
    judgments: Judgments, people: list[Annotator], own: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        account = give_account(judgments, own, people[0])
    assert account.password not in caplog.text
    assert connect(Workspace.open(own.folder.parent)).own == own.own
