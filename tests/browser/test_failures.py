"""The researcher's way in a browser: from a hole to its passages, by mouse and by keys."""

import re
from urllib.parse import parse_qs, urlparse

from playwright.sync_api import Page, expect

from tests.browser.served import CURRENT, Served, go, settled, visit, walk

PAGES = "debate--pages--bm25"


def asked(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlparse(page.url).query)


def test_from_a_hole_to_the_passages_around_it(app: Served, page: Page) -> None:
    go(page, f"{app.url}/failures?run={PAGES}")
    main = page.get_by_test_id("stMain")
    expect(main.get_by_text("Choose a hole on the map")).to_be_visible()

    # By keys: the table of holes, its third line.
    before = page.url
    walk(page, main.get_by_test_id("stDataFrame").last, 2)
    page.wait_for_function("before => location.href !== before", arg=before)
    expect(main.get_by_role("link", name="Open in Explore")).to_be_visible()
    walked = asked(page)

    # By mouse: the first line of the map has the most holes, and its first cell is P1.
    chart = page.get_by_test_id("stVegaLiteChart").first.locator("canvas, svg").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    before = page.url
    page.mouse.click(box["x"] + box["width"] - 44 - 22, box["y"] + box["height"] - 8 * 24 + 12)
    page.wait_for_function("before => location.href !== before", arg=before)
    settled(page)
    clicked = asked(page)
    assert (clicked["place"], clicked["of"]) == (["1"], [PAGES])
    assert (clicked["question"], clicked["place"]) != (walked["question"], walked["place"])

    # The address alone leads there again, and on to Explore: that question, corpus and pipeline.
    go(page, page.url)
    link = main.get_by_role("link", name="Open in Explore")
    target = parse_qs(urlparse(str(link.get_attribute("href"))).query)
    assert (target["question"], target["corpora"], target["pipelines"]) == (clicked["question"], ["pages"], ["bm25"])
    said = main.get_by_role("heading", level=3).last.inner_text()
    go(page, f"{app.url}/{str(link.get_attribute('href')).removeprefix('./')}")
    expect(page.get_by_role("heading", level=2)).to_have_text(said)


def test_keys_scroll_a_chart_that_is_wider_than_the_screen(app: Served, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    go(page, f"{app.url}/failures?run={PAGES}")
    chart = page.get_by_test_id("stVegaLiteChart").first
    expect(chart).to_have_attribute("tabindex", "0")
    chart.focus()
    page.keyboard.press("ArrowLeft")  # the numbers are in sight; the questions are to their left
    page.wait_for_function("chart => chart.scrollLeft < 0", arg=chart.element_handle())
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(chart).not_to_have_attribute("tabindex", re.compile(".*"))


def test_a_label_is_corrected_by_key_beside_its_hole_and_taken_back(own_app: Served, page: Page) -> None:
    hole = f"run={PAGES}&of={PAGES}&labels=human%3Eembedded&question=car-free-centres&place=1"
    visit(page, f"{own_app.url}/failures?{hole}", "Fay")
    main = page.get_by_test_id("stMain")
    holes = main.get_by_text(re.compile("holes within 5")).locator("strong").first
    before = int(holes.inner_text())
    page.keyboard.press("j")  # the passages are below the screen: the first one is brought there
    expect(main.locator(f".st-key-card-0{CURRENT}")).to_be_in_viewport()
    page.keyboard.press("j")
    expect(main.locator(f".st-key-card-1{CURRENT}")).to_be_in_viewport()
    page.keyboard.press("1")
    expect(holes).to_have_text(str(before - 1))
    page.keyboard.press("u")
    expect(holes).to_have_text(str(before))
