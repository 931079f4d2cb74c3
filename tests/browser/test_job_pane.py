"""Long work that is started from the Jobs page: it outlives the page, is stopped, goes on, and leads to what it made."""

import re

from playwright.sync_api import Page, expect

from tests.browser.served import Served, go, settled, visit


def test_work_outlives_a_reload_is_stopped_goes_on_and_is_done(own_app: Served, page: Page) -> None:
    visit(page, f"{own_app.url}/jobs?work=run", "Jo")
    main = page.get_by_test_id("stMain")
    main.get_by_text("Start a job", exact=True).click()
    settled(page)
    main.get_by_test_id("stFormSubmitButton").get_by_role("button").click()
    expect(main.get_by_text("Not started. Enter a value for Data set, Corpus, Pipeline.")).to_be_visible()
    for name, value in (("Data set", "debate"), ("Corpus", "web"), ("Pipeline", "bm25")):
        box = main.get_by_role("combobox", name=name)
        box.click()
        box.press_sequentially(value)
        expect(page.get_by_role("option", name=value, exact=True)).to_be_visible()
        box.press("Enter")
        expect(main.locator(f'[data-tag][aria-label="{value}"]')).to_be_visible()
        box.press("Escape")
    main.get_by_test_id("stFormSubmitButton").get_by_role("button").click()
    job = main.locator('[class*="st-key-job-"]').first
    expect(job.get_by_text("run --dataset debate --corpus web")).to_be_visible()

    # The process is stopped, and stands there as stopped after a reload; then it goes on to its end.
    job.get_by_role("button", name="Stop").click()
    expect(job.get_by_text("has stopped")).to_be_visible()
    go(page, page.url)
    expect(job.get_by_text("has stopped")).to_be_visible()
    job.get_by_role("button", name="Resume").click()
    going = main.locator('[class*="st-key-job-"]').filter(has_text="is running")
    expect(going.or_(main.get_by_text("is done")).first).to_be_visible()
    go(page, page.url)
    expect(main.get_by_text("is done").first).to_be_visible()
    main.get_by_role("button", name="Show the result").first.click()
    expect(page).to_have_url(re.compile(r"/runs(\?|$)"))
