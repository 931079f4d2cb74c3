"""The picture of the README, taken anew by `make screenshot`."""

import os
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page

from tests.browser.served import Served, chips, look_at_passages, settled, visit

pytestmark = pytest.mark.browser

SCREENSHOT = Path(__file__).resolve().parents[2] / "app" / "static" / "screenshot-explore.png"


@pytest.mark.skipif(os.environ.get("BERDSEYE_SCREENSHOTS") != "1", reason="takes the picture: `make screenshot`")
def test_picture_of_the_start_page(own_app: Served, page: Page) -> None:
    page.set_viewport_size({"width": 1400, "height": 1680})
    visit(page, f"{own_app.url}/explore", "Ada")
    look_at_passages(page)
    assert chips(page).count() == 2, "a chip for each of the two perspectives"
    settled(page)
    page.mouse.move(0, 999)
    page.screenshot(path=SCREENSHOT, animations="disabled")
    # A third of the size; this method keeps rare colours, such as those of the perspectives.
    few_colours = Image.open(SCREENSHOT).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE)
    few_colours.save(SCREENSHOT, optimize=True)
    assert SCREENSHOT.stat().st_size > 20_000
