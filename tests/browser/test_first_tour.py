"""The first-run tour in a browser, by keyboard alone: every step on its page, nothing covered, nothing cut off, and out again."""

from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Locator, Page, expect

from berdseye.app.components.tour import PARAMETER, STEPS
from tests.browser.served import Served, go, settled, visit

pytestmark = pytest.mark.browser
SMALL = {"width": 1024, "height": 768}
KEYS_OF_THE_DESK = ("Supports", "Does not support", "Unsure", "Skip", "Undo", "Flag", "Pause", "Guidelines")


def top(locator: Locator) -> float:
    return float(locator.evaluate("element => element.getBoundingClientRect().top"))


def bottom(locator: Locator) -> float:
    return float(locator.evaluate("element => element.getBoundingClientRect().bottom"))


def named(address: str) -> tuple[str, list[str]]:
    """The page of an address, and the step that it keeps."""
    parts = urlparse(address)
    return parts.path.strip("/") or "home", parse_qs(parts.query).get(PARAMETER, [])


def is_at(page: Page, nth: int) -> None:
    """The card shows the step of this number, whole, and the address names it; it is there before the page is drawn."""
    step = STEPS[nth - 1]
    card = page.get_by_role("region", name=f"Tour, step {nth} of {len(STEPS)}")
    expect(card).to_contain_text(step.title)
    expect(card.locator("[aria-live=polite]")).to_have_count(2)
    page.wait_for_url(lambda address: named(address) == (step.page, [step.name]))
    bar = page.get_by_test_id("stBottomBlockContainer")
    assert bar.evaluate("bar => bar.scrollHeight <= bar.clientHeight"), f"step {nth} is cut off"


def covers_nothing(page: Page) -> None:
    """The end of the page comes up above the card."""
    settled(page)
    room = page.get_by_test_id("stBottom").evaluate("""bar => {
        const page = document.querySelector('[data-testid=stMain]');
        page.scrollTo(0, page.scrollHeight);
        const last = document.querySelector('[data-testid=stMainBlockContainer]').getBoundingClientRect().bottom;
        page.scrollTo(0, 0);
        return bar.getBoundingClientRect().top - last;
    }""")
    assert room > -1


def test_the_tour_is_walked_by_keys(app: Served, page: Page) -> None:
    page.set_viewport_size(SMALL)  # type: ignore[arg-type]
    visit(page, f"{app.url}/explore?set=policy", "Tilda")
    question = page.get_by_role("heading", level=2)
    asked = question.inner_text()
    sidebar = page.get_by_test_id("stSidebar")
    before = top(sidebar.get_by_role("button", name="Two-minute tour"))
    page.keyboard.press("t")
    for nth, step in enumerate(STEPS, start=1):
        is_at(page, nth)
        if step.page == "explore":
            covers_nothing(page)
        if step.page == "annotate":
            # All that one works with there stands above the card, without scrolling.
            settled(page)
            keys = [page.get_by_test_id("stMain").get_by_role("button", name=key).first for key in KEYS_OF_THE_DESK]
            assert max(map(bottom, keys)) <= top(page.get_by_test_id("stBottom"))
            page.keyboard.press("b")
            is_at(page, nth - 1)
            expect(question).to_have_text(asked)
            page.keyboard.press("n")
            is_at(page, nth)
        page.keyboard.press("n")
    card = page.get_by_role("region", name="Tour, step")
    expect(card).to_have_count(0)
    page.wait_for_url(lambda address: named(address) == (STEPS[-1].page, []))
    assert top(sidebar.get_by_role("button", name="Tour")) == before, "nothing beside it has moved"

    # The place is in the address: it survives a reload, and a key leaves the tour for good.
    go(page, f"{app.url}/label_studio?{PARAMETER}=exchange")
    is_at(page, len(STEPS))
    page.reload()
    is_at(page, len(STEPS))
    page.keyboard.press("q")
    expect(card).to_have_count(0)
    page.wait_for_url(lambda address: named(address) == ("label_studio", []))
