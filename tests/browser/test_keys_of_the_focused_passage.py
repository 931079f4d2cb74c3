"""Where people read, a key answers the passage that has the focus on the screen, once, however quickly keys follow each other."""

import re
import time

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.annotation.judgments.schema import annotators, events
from berdseye.data.workspace import Workspace
from tests.browser.served import (
    CARDS,
    FOCUSED,
    Served,
    chips,
    look_at_passages,
    press_at_once,
    settled,
    shown_text,
    unmarked,
    visit,
)

pytestmark = pytest.mark.browser


def events_of(app: Served, name: str) -> list[tuple[PairRecord, str]]:
    """The pairs and verdicts of every event of a person, those that were changed later too."""
    held = Judgments.open(Workspace.open(app.workspace).judgments_url)
    query = select(events.c.pair, events.c.verdict).join(annotators, annotators.c.id == events.c.annotator_id)
    try:
        with held.reading() as connection:
            log = connection.execute(query.where(annotators.c.name == name).order_by(events.c.id)).all()
        records = held.pair_records([event.pair for event in log])
        return [(records[event.pair], event.verdict) for event in log]
    finally:
        held.engine.dispose()


def wait_for_events(app: Served, page: Page, name: str, count: int) -> None:
    """Wait until so many judgments are recorded and the page has drawn them; more would be seen by the next check."""
    ends = time.monotonic() + 60
    while len(events_of(app, name)) < count and time.monotonic() < ends:
        page.wait_for_timeout(50)
    settled(page)
    assert len(events_of(app, name)) == count


def test_j_and_a_digit_pressed_together_answer_the_next_passage(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/explore", "Jay")
    look_at_passages(page)
    second = unmarked(page.locator(CARDS).nth(1))
    press_at_once(page, "j1")
    expect(page.get_by_text(re.compile(r"P1 of “"))).to_be_visible()
    settled(page)
    [(pair, _)] = events_of(app, "Jay")
    assert " ".join(pair.passage.split()) in second


def test_a_digit_pressed_twice_at_once_is_one_judgment(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/explore", "Twyla")
    look_at_passages(page)
    before = shown_text(chips(page).first)
    press_at_once(page, "11")
    expect(chips(page).first).not_to_have_text(before, use_inner_text=True)
    wait_for_events(app, page, "Twyla", 1)
    page.keyboard.press("1")  # once it is drawn, the key takes the opposite side again
    expect(chips(page).first).to_contain_text(before.split(" · ")[0])
    wait_for_events(app, page, "Twyla", 2)
    press_at_once(page, "12")  # different perspectives are different answers
    expect(chips(page).first).not_to_contain_text(before.split(" · ")[0])
    wait_for_events(app, page, "Twyla", 4)


def test_a_passage_that_is_not_on_the_screen_gets_no_verdict(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/explore", "Oskar")
    page.locator(CARDS).last.scroll_into_view_if_needed()
    page.mouse.move(700, 500)
    page.mouse.wheel(0, 20_000)
    expect(page.locator(FOCUSED)).not_to_be_in_viewport()
    page.keyboard.press("1")
    expect(page.locator(FOCUSED)).to_be_in_viewport()
    expect(page.get_by_role("status").filter(has_text="Press 1 again")).to_have_count(1)
    settled(page)
    assert events_of(app, "Oskar") == []
    seen = shown_text(page.locator(FOCUSED))
    page.keyboard.press("1")
    expect(page.get_by_text(re.compile(r"P1 of “"))).to_have_count(1)
    settled(page)
    [(pair, _)] = events_of(app, "Oskar")
    assert " ".join(pair.passage.split()) in seen


def test_another_question_puts_the_focus_on_its_first_passage(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/explore", "Quentin")
    for _ in range(4):
        page.keyboard.press("j")
    page.mouse.move(700, 500)
    page.mouse.wheel(0, -20_000)
    heading = page.get_by_role("heading", level=2).first
    old = shown_text(heading)
    page.get_by_role("combobox", name=re.compile("Question")).click()
    page.get_by_role("option").nth(1).click()
    expect(heading).not_to_have_text(old)
    settled(page)
    expect(page.locator(CARDS).first).to_have_attribute("aria-current", "true")
    expect(page.locator(FOCUSED)).to_have_count(1)


COMPARED = "compare?a=debate--web--bm25&b=debate--pages--bm25&question=school-uniforms"


def test_keys_pressed_fast_on_compare_answer_what_is_on_the_screen_once(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/{COMPARED}", "Connie")
    expect(page.locator(FOCUSED)).to_have_count(1)
    page.keyboard.press("1")
    expect(page.get_by_role("status").filter(has_text="Press 1 again")).to_have_count(1)
    look_at_passages(page)
    second = unmarked(page.locator(CARDS).nth(1))
    press_at_once(page, "j11")
    wait_for_events(app, page, "Connie", 1)
    [(pair, verdict)] = events_of(app, "Connie")
    assert " ".join(pair.passage.split()) in second
    expect(page.get_by_text(re.compile(rf"P1 of “.*”: {verdict}"))).to_be_visible()
    expect(chips(page).first).to_contain_text("you")
    page.keyboard.press("u")
    expect(page.get_by_text(re.compile(rf"Undone: “{verdict}”"))).to_be_visible()
    expect(chips(page).first).not_to_contain_text("you")


def test_the_list_of_last_judgments_takes_the_keys_while_it_is_open(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/{COMPARED}", "Lena")
    look_at_passages(page)
    page.keyboard.press("1")
    wait_for_events(app, page, "Lena", 1)
    settled(page)
    page.keyboard.press("l")
    rows = page.get_by_role("dialog").locator('[class*="st-key-own-"]')
    expect(rows).to_have_count(1)
    expect(rows).to_have_attribute("aria-current", "true")
    settled(page)
    press_at_once(page, "j3t")  # no key reaches the page behind the list
    wait_for_events(app, page, "Lena", 2)
    [_, (pair, verdict)] = events_of(app, "Lena")
    assert (pair.key, verdict) == (events_of(app, "Lena")[0][0].key, "unsure")
    expect(page.get_by_role("dialog").get_by_text("changed here")).to_be_visible()
    page.keyboard.press("l")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".st-key-tour")).to_have_count(0)
    expect(chips(page).first).to_contain_text("no · you")  # unsure does not count as supporting
