"""The researcher's way on Bias: from view to view, to a study that is begun there, and back to it by its address."""

from urllib.parse import parse_qs, urlparse

from playwright.sync_api import Page, expect

from tests.browser.served import Served, go, settled


def test_views_are_walked_by_keys_and_a_study_is_begun_and_found_again(app: Served, page: Page) -> None:
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
    settled(page)
    assert parse_qs(urlparse(page.url).query)["view"] == ["Sycophancy"]

    # A study over one corpus goes on beside the page, and its arrows stand there when it is done.
    form = main.get_by_test_id("stForm")
    for name, value in (("Data sets", "debate"), ("Corpora", "web")):
        box = form.get_by_role("combobox", name=name)
        box.fill(value)
        box.press("Enter")
        box.press("Escape")
    main.get_by_test_id("stFormSubmitButton").get_by_role("button").click()
    expect(main.get_by_text("Delta = (p - n) / p of the top 5")).to_be_visible()
    settled(page)
    expect(main.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first).to_be_visible()
    expect(main.get_by_text("No result with people's labels yet")).to_be_visible()
    go(page, page.url)
    expect(main.get_by_text("Delta = (p - n) / p of the top 5")).to_be_visible()
