"""A chart in a file of its own, opened from disk."""

from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from berdseye.app.components.charts import worth_of_corrections
from berdseye.evaluation.charts import drawer

pytestmark = pytest.mark.browser


def test_a_chart_is_drawn_without_a_network(page: Page, tmp_path: Path) -> None:
    curve = pd.DataFrame({"strategy": ["random", "random"], "corrections": [0, 50]})
    for figure in ("auroc", "f1"):
        curve[figure] = [0.5, 0.7]
        curve[f"{figure}_low"], curve[f"{figure}_high"] = curve[figure] - 0.1, curve[figure] + 0.1
    file = tmp_path / "curve.html"
    file.write_bytes(drawer(file)(worth_of_corrections(curve)))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    expect(page.locator("#vis canvas, #vis svg")).to_be_visible()
    assert asked == [file.as_uri()]
