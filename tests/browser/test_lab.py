"""The researcher's way in the detector lab: can it be trusted, what another threshold does, what it gets wrong and whether
another one is better."""

import re

from playwright.sync_api import Page, expect

from tests.browser.served import Served, go, settled, visit, walk


def test_from_calibration_to_a_mistake_and_to_two_detectors(app: Served, page: Page) -> None:
    visit(page, f"{app.url}/detector_lab", "Lara")
    main = page.get_by_test_id("stMain")
    part = main.get_by_test_id("stButtonGroup").first
    chart = main.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first
    expect(main.get_by_text("Expected calibration error")).to_be_visible()
    expect(chart).to_be_visible()

    # The threshold is moved by keys, and what it does follows.
    part.get_by_text("Threshold", exact=True).click()
    precision = main.get_by_test_id("stMetric").filter(has_text="Precision").first
    expect(precision).to_be_visible()
    settled(page)
    before = precision.inner_text()
    typed = main.get_by_role("spinbutton", name="Exact threshold")
    typed.fill("0.6")
    typed.press("Enter")
    expect(precision).not_to_have_text(before)
    expect(main.get_by_text("Effect on a run")).to_be_visible()

    part.get_by_text("Confusion", exact=True).click()
    expect(main.get_by_text("At the threshold in use")).to_be_visible()
    settled(page)  # a choice made while the one before is still being drawn may not come into the address

    # The surest mistake is read, and corrected.
    part.get_by_text("Mistakes", exact=True).click()
    expect(main.get_by_text("Choose a row to read the pair.")).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]part=Mistakes"))
    walk(page, main.get_by_test_id("stDataFrame").first, 1)
    main.get_by_role("button", name="Does not support").click()
    expect(page.get_by_text("Your judgment: does not support")).to_be_visible()

    # The address alone leads to two detectors; the second is asked there.
    go(page, f"{app.url}/detector_lab?part=Two+detectors")
    main.get_by_role("button", name="Predict them").click()
    expect(main.get_by_text("Agreement (Cohen's kappa)")).to_be_visible()
