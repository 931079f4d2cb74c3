"""Views of Bias by keys: the chart is drawn, its file is fetched, and the view is in the address."""

import re

from playwright.sync_api import Page, expect

from tests.browser.served import Served, go, settled


def test_views_change_by_keys_and_their_file_is_downloaded(app: Served, page: Page) -> None:
    go(page, f"{app.url}/bias?datasets=debate")
    main = page.get_by_test_id("stMain")
    expect(main.get_by_text("which of the two the top 5 supports")).to_be_visible()
    expect(main.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first).to_be_visible()
    with page.expect_download() as taken:
        main.get_by_test_id("stDownloadButton").filter(has_text="CSV").first.get_by_role("button").click()
    assert taken.value.suggested_filename == "leaning-5.csv"

    # By keys: the view beside it.
    settled(page)
    main.get_by_role("radio", name="Leaning").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(main.get_by_text("labels each top k")).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]view=Sycophancy"))
