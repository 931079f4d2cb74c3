"""The loop in a browser: judge, train from the judgments, use what was trained."""

import pytest
from playwright.sync_api import Page, expect

from berdseye.data.workspace import Workspace
from berdseye.detectors.trained import adopted_detector
from tests.browser.served import Served, go, settled


@pytest.mark.slow
def test_a_detector_is_trained_from_judgments_and_used(own_app: Served, page: Page) -> None:
    go(page, f"{own_app.url}/detectors")
    page.get_by_role("tab", name="Train a better one").click()
    settled(page)
    page.get_by_text("Count the votes of the demo").click()
    settled(page)
    page.get_by_label("Name", exact=True).fill("mine")
    page.keyboard.press("Enter")
    settled(page)
    page.get_by_role("button", name="Train", exact=True).click()
    table = page.get_by_test_id("stTable")
    expect(table).to_contain_text("stance(mine)", timeout=120_000)
    go(page, f"{own_app.url}/detectors?chosen=stance(mine)")
    page.get_by_role("button", name="Use", exact=True).click()
    expect(table.get_by_role("row", name="in use")).to_contain_text("stance(mine)")
    assert adopted_detector(Workspace.open(own_app.workspace)) == "stance(mine)"
    go(page, f"{own_app.url}/explore")
    expect(page.get_by_text("the detector stance(mine)")).to_be_visible()
