"""The picture of the README, taken anew by `make screenshot`."""

import os
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.served import Served, chips, flipped, look_at_passages, settled, shown_text, visit

pytestmark = pytest.mark.browser

SCREENSHOT = Path(__file__).resolve().parents[2] / "app" / "static" / "screenshot-explore.png"


@pytest.mark.skipif(os.environ.get("BERDSEYE_SCREENSHOTS") != "1", reason="takes the picture: `make screenshot`")
def test_picture_of_a_corrected_label(own_app: Served, page: Page) -> None:
    """The first passage is about renting and buying, and the detector labels P3, public housing, as supported by it."""
    page.set_viewport_size({"width": 1400, "height": 1680})
    visit(page, f"{own_app.url}/?set=policy&question=housing-costs", "Ada")
    third = chips(page).nth(2)
    label = shown_text(third)
    assert label.startswith("P3 yes")
    look_at_passages(page)
    page.keyboard.press("3")
    expect(third).to_contain_text(flipped(label))
    settled(page)
    page.mouse.move(0, 999)
    page.screenshot(path=SCREENSHOT, animations="disabled")
    # A third of the size; this method keeps rare colours, such as those of the perspectives.
    few_colours = Image.open(SCREENSHOT).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE)
    few_colours.save(SCREENSHOT, optimize=True)
    assert SCREENSHOT.stat().st_size > 20_000
