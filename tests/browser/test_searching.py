"""The researcher's way through Search in a browser: words, facets, more like one, a map, words apart; a passage, a
question; and the addresses of Explore, to which the links lead."""

from urllib.parse import parse_qs, urlparse

from playwright.sync_api import Page, expect

from tests.browser.served import Served, go, settled, shown_text

QUESTION, TEXT = "zoos", "Should zoos keep large wild animals?"


def asked(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlparse(page.url).query)


def addressed(page: Page, **query: str) -> None:
    """Wait until these stand in the address and the page is at rest."""
    for name, value in query.items():
        page.wait_for_function(
            "([name, value]) => new URLSearchParams(location.search).get(name) === value", arg=[name, value]
        )
    settled(page)


def test_words_facets_and_more_like_one(app: Served, page: Page) -> None:
    go(page, f"{app.url}/search")
    main = page.get_by_test_id("stMain")
    expect(main.get_by_text("Enter what you want to find.")).to_be_visible()
    box = main.get_by_role("textbox", name="Search")
    box.fill("cars in cities")
    box.press("Enter")
    addressed(page, q="cars in cities")
    found = main.get_by_role("button", name="Similar passages")
    expect(found).to_have_count(20)
    expect(main.get_by_text("encyclopedia · bm25 rank 1")).to_be_visible()

    # A facet by keys; its choice narrows the list, and the address leads to the narrow list.
    main.get_by_role("button", name="Corpus").press("Enter")
    page.get_by_role("checkbox", name="web").press("Space")
    addressed(page, corpus="web")
    page.keyboard.press("Escape")
    expect(main.get_by_text("encyclopedia · bm25 rank 1")).to_have_count(0)
    go(page, page.url)
    expect(main.get_by_text("corpus: web")).to_be_visible()
    expect(main.get_by_text("web · bm25 rank 1").first).to_be_visible()
    expect(main.get_by_text("encyclopedia · bm25 rank 1")).to_have_count(0)

    title = shown_text(main.locator('a[href*="passage?"]').first)
    found.first.press("Enter")
    like = main.get_by_text("Passages similar to")
    expect(like).to_contain_text(title)
    [place] = asked(page)["like"]
    assert place.startswith("web:")
    expect(main.get_by_role("link", name=title, exact=True)).to_have_count(0)
    main.get_by_role("button", name="Back to the text query").press("Enter")
    expect(like).to_have_count(0)
    assert asked(page)["q"] == ["cars in cities"]
    assert "like" not in asked(page)


def test_from_a_map_to_a_passage_to_a_question_in_all_runs(app: Served, page: Page) -> None:
    go(page, f"{app.url}/search?set=debate&question={QUESTION}&corpora=encyclopedia&corpora=web")
    main = page.get_by_test_id("stMain")
    main.get_by_role("radio", name="map").press("Space")
    addressed(page, view="map", question=QUESTION)

    # A line of the table, by keys: its passage is read beside the map, and nothing moves.
    table = main.get_by_test_id("stDataFrame")
    place = table.bounding_box()
    table.click(position={"x": 150, "y": 54})
    for key in ("ArrowDown", "Shift+Space"):
        page.wait_for_timeout(200)  # the table draws its focus before the next key
        page.keyboard.press(key)
    title = main.locator("a[href*='passage?']").first
    expect(title).to_be_visible()
    settled(page)
    assert table.bounding_box() == place
    read, passage = shown_text(title), str(title.get_attribute("href"))

    main.get_by_role("radio", name="words").press("Space")
    addressed(page, view="words")
    expect(main.get_by_text("those in both groups are omitted")).to_be_visible()
    words = main.get_by_test_id("stVegaLiteChart").get_by_role("img")
    assert "P1: " in str(words.text_content())

    go(page, f"{app.url}/{passage}")
    expect(page.get_by_role("heading", level=2)).to_have_text(read)
    main.get_by_role("tab", name="Neighbours").press("Enter")
    addressed(page, part="Neighbours")
    expect(main.get_by_role("link", name="Similar passages in every corpus")).to_be_visible()

    go(page, f"{app.url}/question?set=debate&question={QUESTION}&k=3")
    said = page.get_by_role("heading", level=2)
    expect(said).to_have_text(TEXT)
    on = main.get_by_role("link", name="Explore: read its passages and correct labels")
    go(page, f"{app.url}/{str(on.get_attribute('href')).removeprefix('./')}")
    expect(page.get_by_role("combobox", name="Question")).to_be_visible()
    expect(said).to_have_text(TEXT)
    assert asked(page)["question"] == [QUESTION]


NOTICED = """
window.notFound = 0;
new MutationObserver(() => { window.notFound += document.body?.innerText.includes("Page not found") ? 1 : 0; })
    .observe(document, {childList: true, subtree: true, characterData: true});
"""
"""Counts how often a page shows "Page not found", however briefly."""


def test_the_start_page_has_the_root_address_and_one_of_its_name(app: Served, page: Page) -> None:
    page.add_init_script(NOTICED)
    for path in ("/", "/home", "/home/"):
        go(page, f"{app.url}{path}")
        expect(page.get_by_role("heading", level=1)).to_have_text("Home")
        assert urlparse(page.url).path == "/"
        assert page.evaluate("window.notFound") == 0, path
        home = page.get_by_test_id("stSidebarNavLink").filter(has_text="Home")
        assert home.get_attribute("aria-current") == "page", path

    # From there into the pages that links lead to, and back.
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Runs").click()
    page.wait_for_url("**/runs*")
    settled(page)
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Home").click()
    page.wait_for_url(lambda address: urlparse(address).path == "/")
    settled(page)
    page.go_back()
    page.wait_for_url("**/runs*")
    settled(page)
    assert page.evaluate("window.notFound") == 0
    go(page, f"{app.url}/no_such_page")
    page.wait_for_function("window.notFound > 0")
