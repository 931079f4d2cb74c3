"""Every page on the demo, in both themes, before an accessibility engine: axe-core finds nothing serious in what is ours."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, ViewportSize

from berdseye.app.access.roles import PAGES
from berdseye.data.workspace import Workspace
from tests.browser.every_page import drawn, queries, show
from tests.browser.screenshots import SIZES
from tests.browser.served import Served, new_context

pytestmark = pytest.mark.browser

SERIOUS = ("serious", "critical")
OF_STREAMLIT: Mapping[tuple[str, str], str] = {
    ("aria-dialog-name", 'data-testid="stToast"'): "a toast's title is named by an id that Streamlit never gives out",
    (
        "scrollable-region-focusable",
        'data-testid="stVerticalBlock"',
    ): "st.container(height=...) takes no tabindex; browsers let the keyboard into a scroller without one",
    (
        "scrollable-region-focusable",
        '<div class="st-emotion-cache-',
    ): "st.table scrolls on a narrow screen and takes no tabindex either",
}
"""Findings in Streamlit's own parts that nothing here can change: the rule, a part of the element's HTML, and why."""
THEMES = ("light", "dark")
NO_SIZES: Sequence[ViewportSize] = ()
TRIES = 3


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a fresh visitor, whatever its scripts say: other tests ask that."""
    context = new_context(browser)
    yield context.new_page()
    context.close()


def serious(page: Page) -> list[str]:
    """What axe-core finds on a page as it stands, an element a line; axe-core must have been loaded into it."""
    found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']} ({violation['impact']}): {node['html'][:300]} :: {node['target']} :: {node['failureSummary'][:300]}"
        for violation in found["violations"]
        if violation["impact"] in SERIOUS
        for node in violation["nodes"]
        if not any(violation["id"] == rule and part in node["html"] for rule, part in OF_STREAMLIT)
    ]


def findings(
    page: Page, app: Served, name: str, themes: Iterable[str], sizes: Sequence[ViewportSize] = NO_SIZES
) -> list[str]:
    """What is found on a page of this name in the themes, and at other sizes in the last theme."""
    show(page, app.url, name, queries(Workspace.open(app.workspace))[name])
    page.evaluate(AXE_SCRIPT)
    found = []
    for theme in themes:
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        found += [f"{theme}: {line}" for line in lasting(page)]
    for size in sizes:
        page.set_viewport_size(size)
        drawn(page)
        found += [f"{size['width']}x{size['height']}: {line}" for line in lasting(page)]
    return found


def lasting(page: Page) -> list[str]:
    """What is found and does not pass: what is being drawn anew is faded, and colours change by and by."""
    lines = serious(page)
    for _ in range(TRIES):
        if not lines:
            break
        page.wait_for_timeout(1000)
        lines = serious(page)
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_serious_finding_in_either_theme_or_at_any_size(app: Served, page: Page, name: str) -> None:
    found = findings(page, app, name, THEMES, SIZES)
    assert not found, "\n".join(found)


def test_explore_has_no_serious_finding_in_the_light(app: Served, page: Page) -> None:
    found = findings(page, app, "explore", THEMES[:1])
    assert not found, "\n".join(found)
