"""The detector lab by keys: a mistake is chosen in its table, read and judged, and the address leads there."""

import re

from playwright.sync_api import Page, expect

from tests.browser.served import Served, go, visit, walk


def test_a_mistake_is_chosen_by_keys_and_judged(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/detector_lab", "Lara")
    main = page.get_by_test_id("stMain")
    expect(main.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first).to_be_visible()
    main.get_by_test_id("stButtonGroup").first.get_by_text("Mistakes", exact=True).click()
    expect(page).to_have_url(re.compile(r"[?&]part=Mistakes"))
    go(page, page.url)
    walk(page, main.get_by_test_id("stDataFrame").first, 1)
    main.get_by_role("button", name="Does not support").click()
    expect(page.get_by_text("Your judgment: does not support")).to_be_visible()
