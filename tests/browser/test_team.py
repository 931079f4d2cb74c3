"""A team signs in at a real OpenID Connect provider, in a real browser: who sees what, and who did what."""

from collections.abc import Iterator
from datetime import timedelta

import oidc_provider_mock
import pytest
import tomli_w
from oidc_provider_mock import User
from playwright.sync_api import Browser, Page, expect

from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.annotation.people import people
from berdseye.data.workspace import Workspace
from tests.browser.served import Served, new_context, served, settled, shown_text

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:authlib"),
]

CLIENT_SECRET = "the-secret-of-the-client-5f2c"
COOKIE_SECRET = "the-secret-of-the-cookies-90ab77c1d2"
HOSTILE = "<b>Ana</b> **Sun** =1+1"


def user(sub: str, name: str, *, email: str = "", verified: bool = True) -> User:
    return User(sub=sub, claims={"name": name, "email": email or f"{sub}@example.org", "email_verified": verified})


USERS = (
    user("ana", HOSTILE),
    user("twin", HOSTILE),
    user("ada", "Ada"),
    user("eve", "Eve", verified=False),
)
ROLES = {"@example.org": "annotator", "ada@example.org": "admin"}


def set_roles(team: Served, roles: dict[str, str]) -> None:
    path = team.workspace / "berdseye.toml"
    settings = Workspace.open(team.workspace).settings["people"]
    path.write_text(tomli_w.dumps({"people": settings | {"roles": roles}}))


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("team")
    workspace = Workspace.create(folder / "workspace")
    held = Judgments.open(workspace.judgments_url)
    text = "Streets without cars are quieter."
    records = [
        PairRecord("made", "q", "Should cities ban cars?", f"View {n}.", None, "web", "", text) for n in range(3)
    ]
    create_batch(held, BatchPlan("first", per_pair=2), list(map(Item, records)))
    held.engine.dispose()
    with oidc_provider_mock.run_server_in_thread(
        port=0, user_claims=USERS, access_token_max_age=timedelta(minutes=1)
    ) as provider:
        issuer = f"http://localhost:{provider.server_port}"
        section = {"mode": "team", "issuer": issuer, "client_id": "berdseye", "roles": ROLES}
        (workspace.folder / "berdseye.toml").write_text(tomli_w.dumps({"people": section}))
        secrets = {"BERDSEYE_OIDC_CLIENT_SECRET": CLIENT_SECRET, "BERDSEYE_COOKIE_SECRET": COOKIE_SECRET}
        with served(workspace.folder, folder / "log", script="app/team.py", secrets=secrets) as server:
            yield server


def address(team: Served, page: str = "") -> str:
    """As the provider sends people back; the cookie is of this host alone."""
    return f"http://localhost:{team.port}/{page}"


def enter(page: Page, team: Served, sub: str) -> None:
    page.goto(address(team))
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name=sub, exact=True).click()
    settled(page)


def leave(page: Page) -> None:
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="End session").click()  # the provider asks once more
    expect(page.get_by_text("Sign in to judge passages with your team.")).to_be_visible()


def open_page(page: Page, team: Served, name: str) -> None:
    page.goto(address(team, name))
    settled(page)


def pages(page: Page) -> list[str]:
    expect(page.get_by_test_id("stSidebarNavLink").first).to_be_visible()
    return [shown_text(link).partition(" ")[2] for link in page.get_by_test_id("stSidebarNavLink").all()]


def alert(page: Page) -> str:
    """What a person reads in the one alert: addresses in it hold an invisible joiner, so that no link is made of them."""
    expect(page.get_by_role("alert")).to_be_visible()
    return shown_text(page.get_by_role("alert"))


def words(team: Served) -> list[tuple[str, str]]:
    held = Judgments.open(Workspace.open(team.workspace).judgments_url)
    found = [(word.annotator.name, word.verdict) for word in held.present()]
    held.engine.dispose()
    return found


def test_an_annotator_judges_under_their_name_and_is_refused_elsewhere(team: Served, page: Page) -> None:
    page.goto(address(team, "runs"))
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    expect(page.get_by_test_id("stSidebarNavLink")).to_have_count(0)
    enter(page, team, "ana")
    expect(page.get_by_test_id("stSidebar").locator("strong")).to_have_text(HOSTILE)
    assert {"Explore", "Annotate"} <= set(pages(page))
    for name in ("Adjudication", "Agreement", "Runs", "Studies", "Detectors"):
        assert name not in pages(page)
    open_page(page, team, "runs")
    assert "ana@example.org is an annotator. An admin can assign roles" in alert(page)
    expect(page.get_by_test_id("stMain").get_by_role("button")).to_have_count(0)
    open_page(page, team, "annotate")
    expect(page.get_by_role("heading", name="View ")).to_be_visible()
    page.keyboard.press("1")
    expect(page.get_by_test_id("stProgress")).to_contain_text("1 of 3")
    assert words(team) == [(HOSTILE, "supports")]
    set_roles(team, {"ada@example.org": "admin"})
    page.keyboard.press("2")  # on the page that still stands open
    expect(page.get_by_role("alert").first).to_contain_text("has no access to this workspace")
    assert words(team) == [(HOSTILE, "supports")], "a button is refused on the server"
    set_roles(team, ROLES)


def test_an_admin_sees_every_page_and_a_namesake_is_someone_else(team: Served, page: Page, browser: Browser) -> None:
    enter(page, team, "ada")
    expect(page.get_by_test_id("stSidebar")).to_contain_text("admin")
    assert {"Explore", "Adjudication", "Agreement", "Runs", "Detectors", "Label Studio"} <= set(pages(page))
    open_page(page, team, "adjudication")
    expect(page.get_by_text("No disagreements")).to_be_visible()
    context = new_context(browser)
    other = context.new_page()
    enter(other, team, "twin")
    expect(other.get_by_test_id("stSidebar").locator("strong")).to_have_text(f"{HOSTILE} (2)")
    context.close()
    held = Judgments.open(Workspace.open(team.workspace).judgments_url)
    known = {p.email: p.annotator.name for p in people(held)}
    held.engine.dispose()
    assert known == {
        "ada@example.org": "Ada",
        "ana@example.org": HOSTILE,
        "twin@example.org": f"{HOSTILE} (2)",
    }


def test_a_person_without_access_is_shown_why(team: Served, page: Page) -> None:
    enter(page, team, "eve")
    assert "The provider has not verified your address eve@example.org." in alert(page)
    expect(page.get_by_test_id("stSidebarNavLink")).to_have_count(0)
    leave(page)


def test_secrets_are_in_no_log_and_no_file(team: Served) -> None:
    """Runs last: all that was written by then is looked at."""
    files = [team.log, *(p for p in team.workspace.rglob("*") if p.is_file())]
    for path in files:
        for secret in (CLIENT_SECRET, COOKIE_SECRET):
            assert secret.encode() not in path.read_bytes(), path
