"""The picture of the README, taken anew by `make screenshot`."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.served import Served, chips, flipped, look_at_passages, settled, shown_text, visit

pytestmark = pytest.mark.browser

SCREENSHOT = Path(__file__).resolve().parents[2] / "app" / "static" / "screenshot-explore.png"


@pytest.mark.skipif(os.environ.get("BERDSEYE_SCREENSHOTS") != "1", reason="takes the picture: `make screenshot`")
def test_picture_of_a_corrected_answer(own_app: Served, page: Page) -> None:
    page.set_viewport_size({"width": 1400, "height": 1480})
    visit(page, own_app.url, "Ada")
    label = shown_text(chips(page).first)
    look_at_passages(page)
    page.keyboard.press("1")
    expect(chips(page).first).to_contain_text(flipped(label))
    settled(page)
    page.mouse.move(0, 999)
    page.screenshot(path=SCREENSHOT, animations="disabled")
    assert SCREENSHOT.stat().st_size > 20_000
