"""The whole way in a browser: a batch goes out, its person signs in to Label Studio as themselves, and their word comes
back."""

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, expect
from there import pair
from typer.testing import CliRunner

from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.exchange import push_to_projects
from berdseye.annotation.label_studio.server import ADMIN_EMAIL, read_credentials
from berdseye.app.cli import cli
from berdseye.data.workspace import Workspace
from tests.browser.served import Served, chromium, go, new_context, served, settled, shown_text, visit

pytestmark = [pytest.mark.browser, pytest.mark.label_studio, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def browser() -> Iterator[Browser]:
    if shutil.which("chromium") is None:
        pytest.skip("Chromium is missing (apt-get install chromium)")
    with chromium() as found:
        yield found


@pytest.fixture
def app(own: Connection, tmp_path: Path) -> Iterator[Served]:
    """The app on the workspace whose server it is."""
    with served(own.folder.parent, tmp_path / "log") as server:
        yield server


def run(workspace: Workspace, *words: str) -> str:
    done = CliRunner().invoke(cli, [*words, "--workspace", str(workspace.folder)], catch_exceptions=False)
    return done.output


@pytest.mark.parametrize("grade", ["topic", "stance"])
def test_only_a_detector_of_sides_selects_a_verdict_in_advance(own: Connection, browser: Browser, grade: str) -> None:
    judgments = Judgments.open(Workspace.open(own.folder.parent).judgments_url)
    recipe = {"detector": "embedded", "version": "7", "grade": grade}
    plan = BatchPlan(f"{grade}-{uuid4().hex[:6]}", blind=False, recipe=recipe)
    (sent,) = push_to_projects(judgments, own, create_batch(judgments, plan, [Item(pair(200), 0.7, True)]))
    admin = read_credentials(own.folder)
    page = new_context(browser).new_page()
    page.goto(f"{own.url}/projects/{sent.project.id}/data?labeling=1")
    page.locator("input[name=email]").fill(admin.email)
    page.locator("input[name=password]").fill(admin.password)
    page.locator("input[name=password]").press("Enter")
    page.wait_for_url(lambda url: "/projects/" in url)
    page.goto(f"{own.url}/projects/{sent.project.id}/data?labeling=1")
    expect(page.get_by_role("radio", name="supports", exact=False).first).to_be_attached()
    expect(page.get_by_text("Detector embedded: on topic, P(supports) = 0.70")).to_have_count(int(grade == "topic"))
    expect(page.get_by_role("radio", checked=True)).to_have_count(int(grade == "stance"))
    page.context.close()
    judgments.engine.dispose()


def shown_account(page: Page) -> tuple[str, str]:
    """The first e-mail and password that the page shows."""
    codes = page.get_by_test_id("stCode")
    expect(codes.nth(1)).to_be_visible()
    return shown_text(codes.nth(0)), shown_text(codes.nth(1))


def judge_there(page: Page, project: str, email: str, password: str, keys: tuple[str, ...]) -> None:
    """Sign in to Label Studio as a person does, and judge the next tasks of a project by hotkey."""
    page.goto(f"{project}?labeling=1")
    page.locator("input[name=email]").fill(email)
    page.locator("input[name=password]").fill(password)
    page.locator("input[name=password]").press("Enter")
    page.wait_for_url(lambda url: "/projects/" in url)
    if "labeling=1" not in page.url:
        page.goto(f"{project}?labeling=1")
    # The guidelines stand in front of the first task, once for each person.
    guidelines = page.locator(".lsf-modal-ls_visible")
    expect(guidelines).to_be_visible()
    guidelines.get_by_role("button").first.click()
    expect(guidelines).to_have_count(0)
    for key in keys:
        expect(page.get_by_role("radio", name="supports", exact=False).first).to_be_visible()
        expect(page.get_by_role("radio", checked=True)).to_have_count(0)
        page.keyboard.press(key)
        expect(page.get_by_role("radio", checked=True)).to_have_count(1)
        with page.expect_response(lambda got: "/annotations" in got.url and got.request.method == "POST") as answer:
            page.get_by_test_id("bottombar-submit-button").click()
        assert answer.value.status == 201


def test_a_persons_judgments_come_back_as_theirs_and_the_admins_are_decided_on(
    own: Connection, app: Served, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
    workspace = Workspace.open(own.folder.parent)
    judgments = Judgments.open(workspace.judgments_url)
    mark = uuid4().hex[:6]
    ana, name = f"Ana {mark}", f"batch-{mark}"
    create_batch(judgments, BatchPlan(name, people=(ana,)), [Item(pair(100 + number)) for number in range(3)])
    keys = [pair(100 + number).key for number in range(3)]
    assert "pushed 3 tasks" in run(workspace, "label-studio", "send", name)

    def given() -> dict[str, Counter[str]]:
        found: dict[str, Counter[str]] = {}
        for word in judgments.present(keys):
            found.setdefault(word.annotator.name, Counter())[word.verdict] += 1
        return found

    context = new_context(browser)
    page = context.new_page()
    visit(page, f"{app.url}/label_studio", ana)
    email, password = shown_account(page)
    assert email.startswith("ana-")
    project = page.get_by_role("link", name="/data").first.get_attribute("href") or ""
    judge_there(context.new_page(), project, email, password, ("1", "2"))
    context.close()
    assert "pulled 2 new" in run(workspace, "label-studio", "receive", name)
    assert given() == {ana: Counter({"supports": 1, "does not support": 1})}

    # Somebody else's page does not show her password. The admin's stands apart, and says what comes of it.
    context = new_context(browser)
    page = context.new_page()
    visit(page, f"{app.url}/label_studio", f"Bo {mark}")
    expect(page.get_by_role("button", name="Set my password")).to_be_visible()
    assert password not in page.content()
    page.get_by_text("Admin account of Label Studio").click()
    expect(page.get_by_text("Judgments made as the admin count as the admin")).to_be_visible()
    admin = shown_account(page)
    assert admin[0] == ADMIN_EMAIL
    judge_there(context.new_page(), project, *admin, ("3",))
    told = run(workspace, "label-studio", "receive", name)
    assert f"Warning: 1 judgments in the project of {ana} were made from the account of {ADMIN_EMAIL}" in told
    assert given() == {ana: Counter({"supports": 1, "does not support": 1}), ADMIN_EMAIL: Counter({"unsure": 1})}

    # A person decides on the page whose it is.
    go(page, f"{app.url}/label_studio")
    expect(page.get_by_text(f"1 judgments in the project of {ana}")).to_be_visible()
    page.get_by_role("button", name=f"Assign to {ana}").click()
    expect(page.get_by_text("judgments of admin@berdseye.local are now recorded as")).to_be_visible()
    settled(page)
    expect(page.get_by_text(f"1 judgments in the project of {ana}")).to_have_count(0)
    assert given() == {ana: Counter({"supports": 1, "does not support": 1, "unsure": 1})}
    context.close()
    judgments.engine.dispose()
