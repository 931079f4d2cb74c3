"""Every page of the app with something to show, for what looks at all of them: the accessibility engine and the screenshots."""

from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from berdseye.app.access.roles import PAGES
from berdseye.app.serving.gate import START_PAGE
from berdseye.data.workspace import Workspace
from tests.app.views.page_addresses import page_addresses
from tests.browser.served import go, settled, sign_in

# Where the demo has something to find: its first run misses nothing.
_MISSING: dict[str, dict[str, str]] = {
    "failures": {"run": "debate--pages--bm25"},
    "compare": {"a": "debate--web--bm25", "b": "debate--pages--bm25"},
}
READER = "Robin"
"""Who looks at the pages."""


def queries(workspace: Workspace) -> dict[str, str]:
    """What follows each page's address, by the page's name, in the order of the table of pages; a page of one thing is shown
    with the first passage or question of the first run."""
    held = {**page_addresses(workspace), "search": {"q": "cars in cities"}}
    asked = {name: held[name] for name in ("passage", "question", "search")} | _MISSING
    return {name: f"?{urlencode(asked[name])}" if name in asked else "" for name in PAGES}


def show(page: Page, url: str, name: str, query: str) -> None:
    """Open a page as someone who has given a name, and wait until all of it is drawn."""
    go(page, f"{url}/{'' if name == START_PAGE else name}{query}")
    sign_in(page, READER)
    drawn(page)


def drawn(page: Page) -> None:
    """Wait until what is in sight has been painted, charts too; one in a closed section is never."""
    settled(page)
    expect(page.get_by_test_id("stSpinner")).to_have_count(0)
    page.wait_for_function(
        "[...document.querySelectorAll('[data-testid=stVegaLiteChart]')]"
        ".every(chart => !chart.checkVisibility() || chart.querySelector('canvas, svg'))"
    )
