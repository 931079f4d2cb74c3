"""The researcher's way on Compare: two runs, what one loses, and one question of both, by keys and by its address."""

from urllib.parse import parse_qs, urlparse

from playwright.sync_api import Page, expect

from tests.browser.served import Served, go, settled, walk

PAGES, WEB = "debate--pages--bm25", "debate--web--bm25"


def test_from_two_runs_to_what_one_loses_and_to_a_question_of_both(app: Served, page: Page) -> None:
    go(page, f"{app.url}/compare?a={WEB}&b={PAGES}")
    main = page.get_by_test_id("stMain")
    expect(main.get_by_text("between A: web and B: pages")).to_be_visible()
    expect(main.get_by_text("Choose a question in the list")).to_be_visible()

    # What B loses is one click away, and in the address.
    main.get_by_text("Lost by B", exact=True).click()
    expect(main.get_by_text("perspectives that A covers and B does not within 5")).to_be_visible()
    settled(page)
    walk(page, main.get_by_test_id("stDataFrame").nth(1), 1)
    page.wait_for_function("location.search.includes('question=')")
    expect(main.get_by_text("A: web · bm25")).to_be_visible()
    settled(page)
    query = parse_qs(urlparse(page.url).query)
    assert (query["list"], query["a"], query["b"]) == (["Lost by B"], [WEB], [PAGES])
    read = main.get_by_role("heading", level=3).filter(has_text="?").first.inner_text()
    with page.expect_download() as taken:
        main.get_by_test_id("stDownloadButton").filter(has_text="CSV").first.get_by_role("button").click()
    assert taken.value.suggested_filename == "compared.csv"

    # The address alone shows the same; another correction of p is a choice away.
    go(page, page.url)
    expect(main.get_by_role("heading", level=3).filter(has_text="?").first).to_have_text(read)
    expect(main.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first).to_be_visible()
