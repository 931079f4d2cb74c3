"""The command palette in a browser: it opens by key, finds, opens pages in the same session, and keeps its keys to itself."""

from collections.abc import Mapping
from urllib.parse import parse_qs, urlparse

import pytest
from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]
from playwright.sync_api import Locator, Page, expect

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.workspace import Workspace
from tests.browser.served import Served, look_at_passages, settled, visit

pytestmark = pytest.mark.browser

UNIFORMS = "Should school uniforms be compulsory?"
OPENS = "Control+k"


def dialog(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Go to")


def marked(page: Page) -> Locator:
    return dialog(page).locator("[role=option][aria-selected=true]")


def opened(page: Page) -> None:
    page.keyboard.press(OPENS)
    expect(dialog(page).get_by_role("combobox")).to_be_focused()


def address(page: Page) -> tuple[str, Mapping[str, list[str]]]:
    parts = urlparse(page.url)
    return parts.path, parse_qs(parts.query)


def test_a_question_is_opened_by_a_part_of_its_words_without_loading_the_app_again(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/runs", "Petra")
    page.evaluate("window.stays = true")
    opened(page)
    page.keyboard.type("school unif")
    expect(marked(page)).to_contain_text(UNIFORMS)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=UNIFORMS)).to_be_visible()
    assert page.evaluate("window.stays")
    # Another question of the same page, then back.
    opened(page)
    page.keyboard.type("pet cats")
    expect(marked(page)).to_contain_text("Should pet cats be kept indoors?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Should pet cats be kept indoors?")).to_be_visible()
    assert address(page)[1]["set"] == ["living"]
    page.go_back()
    expect(page.get_by_role("heading", name=UNIFORMS)).to_be_visible()
    # What was chosen before comes first.
    opened(page)
    expect(dialog(page).get_by_role("group").first).to_contain_text("Should pet cats be kept indoors?")


def test_enter_pressed_before_the_answer_waits_for_it(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/runs", "Petra")
    opened(page)
    page.keyboard.type("zoos keep large")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Should zoos keep large wild animals?")).to_be_visible()


def test_escape_gives_the_focus_back_and_arrows_choose(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/runs", "Petra")
    change = page.get_by_role("button", name="Change")
    change.focus()
    opened(page)
    first = marked(page).inner_text()
    page.keyboard.press("ArrowDown")
    expect(marked(page)).not_to_have_text(first)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Escape")
    expect(dialog(page)).to_be_hidden()
    expect(change).to_be_focused()
    opened(page)
    page.keyboard.press(OPENS)
    expect(dialog(page)).to_be_hidden()
    expect(change).to_be_focused()


@pytest.mark.parametrize("at", ["explore", "annotate"])
def test_what_is_typed_into_it_judges_nothing(own_app: Served, page: Page, at: str) -> None:
    visit(page, f"{own_app.url}/{at}", "Petra")
    if at == "explore":
        look_at_passages(page)
    log = Judgments.open(Workspace.open(own_app.workspace).judgments_url)
    before = log.version()
    opened(page)
    page.keyboard.type("1 2 3 x u f p e j k 1 1", delay=20)
    expect(dialog(page).get_by_role("combobox")).to_have_value("1 2 3 x u f p e j k 1 1")
    page.keyboard.press("Escape")
    settled(page)
    page.wait_for_timeout(1000)  # a key that reached the page would be recorded meanwhile
    assert log.version() == before
    # The keys of the page work again.
    page.keyboard.press("1")
    _grows(page, log, before)


def _grows(page: Page, log: Judgments, before: int) -> None:
    for _ in range(100):
        if log.version() != before:
            return
        page.wait_for_timeout(100)
    raise AssertionError("no judgment was recorded")


def test_it_listens_once_however_often_the_page_is_drawn(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/", "Petra")
    for name in ("Runs", "Search", "Explore"):
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=name).click()
        settled(page)
    opened(page)  # two listeners would open and close it
    page.keyboard.press("ArrowDown")
    expect(dialog(page).get_by_role("option").nth(1)).to_have_attribute("aria-selected", "true")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_has_no_serious_finding(app: Served, page: Page, theme: str) -> None:
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    visit(page, f"{app.url}/keys", "Petra")
    page.evaluate(AXE_SCRIPT)
    opened(page)
    for words in ("", "school", "qqqqqq"):
        dialog(page).get_by_role("combobox").fill(words)
        page.wait_for_timeout(1500)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        serious = [v["id"] for v in found["violations"] if v["impact"] in ("serious", "critical")]
        assert serious == [], [(v["id"], [n["html"] for n in v["nodes"]]) for v in found["violations"]]


def test_links_of_the_documentation_stay_in_the_app(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/annotate", "Petra")
    page.evaluate("window.stays = true")
    opened(page)
    page.keyboard.type("Installing Berdseye")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Installing Berdseye")).to_be_visible()
    expect(page.locator("[data-links=same-tab]")).to_be_attached()
    page.get_by_role("link", name="how to install Pyserini").click()
    expect(page.get_by_role("heading", name="Retrieval", exact=True)).to_be_visible()
    page.get_by_role("link", name="Every page", exact=True).click()
    expect(page.get_by_test_id("stImage").first).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Retrieval", exact=True)).to_be_visible()
    assert page.evaluate("window.stays")


def test_a_page_leads_to_the_heading_about_it(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/bias", "Petra")
    with page.expect_popup() as popup:
        page.locator(".st-key-page-help a").click()
    heading = popup.value.get_by_role("heading", name="Bias", exact=True)
    expect(heading).to_be_in_viewport()
