"""Nothing jumps while a page loads for the first time."""

import pytest
from playwright.sync_api import Browser

from tests.browser.served import Served, go, new_context

pytestmark = pytest.mark.browser

BOUND = 0.1
"""The cumulative layout shift up to which a page counts as good (https://web.dev/articles/cls)."""
_OBSERVE = """
window.shifted = [];
new PerformanceObserver((seen) => {
  for (const shift of seen.getEntries()) window.shifted.push(shift.value);
}).observe({type: "layout-shift", buffered: true});
"""
_LAST_SHIFTS = 1500  # milliseconds in which a chart or a table may still grow


_PAGES = ("", "explore", "runs", "annotate", "data", "documentation")
_WIDE, _SMALL, _TELEPHONE = (1440, 900), (1024, 768), (390, 844)


@pytest.mark.parametrize(
    ("path", "size"),
    [*((path, _WIDE) for path in _PAGES), ("explore", _SMALL), ("runs", _TELEPHONE)],
    ids=lambda value: f"{value[0]}x{value[1]}" if isinstance(value, tuple) else value or "home",
)
def test_the_first_load_of_a_page_does_not_jump(
    app: Served, browser: Browser, path: str, size: tuple[int, int]
) -> None:
    context = new_context(browser)
    page = context.new_page()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.add_init_script(_OBSERVE)
    go(page, f"{app.url}/{path}")
    page.wait_for_timeout(_LAST_SHIFTS)
    assert page.evaluate("document.documentElement.dataset.loading") is None
    shifts = page.evaluate("window.shifted")
    context.close()
    assert sum(shifts) < BOUND, shifts
