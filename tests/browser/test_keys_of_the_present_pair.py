"""Keys act on the pair that is drawn, however often the page was drawn before."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.batch_progress import batch_frame
from annotation.batches import Item, Plan, create_batch, load_batch
from annotation.evidence import quotes
from annotation.judgments import Judgments, PairRecord
from data.workspace import Workspace
from tests.browser.served import served, settled, visit

pytestmark = pytest.mark.browser

PAIRS = 6


@pytest.fixture
def judgments(tmp_path: Path) -> Judgments:
    held = Judgments.open(Workspace.create(tmp_path / "workspace").judgments_url)
    pairs = [
        PairRecord("made", f"q{n}", "Why?", f"View {n}.", None, "web", "", f"Page {n} begins. Page {n} ends.")
        for n in range(PAIRS)
    ]
    create_batch(held, Plan("b"), [Item(pair) for pair in pairs])
    return held


def test_evidence_is_of_the_pair_in_sight_on_every_pair(judgments: Judgments, tmp_path: Path, page: Page) -> None:
    with served(tmp_path / "workspace", tmp_path / "log") as app:
        visit(page, f"{app.url}/annotate", "Ana")
        passage, progress = page.locator(".berdseye-passage"), page.get_by_test_id("stProgress")
        for number in range(4):
            expect(passage).to_have_text(f"Page {number} begins. Page {number} ends.")
            page.keyboard.press("e")
            expect(passage).to_have_text(f"Page {number} begins. Page {number} ends.")
            page.keyboard.press("2")
            expect(passage.locator("mark")).to_have_text(f"Page {number} ends.")
            page.keyboard.press("e")
            settled(page)
            page.keyboard.press("1")
            expect(progress).to_contain_text(f"{number + 1} of {PAIRS}")

        # Evidence is being chosen when the verdict comes by mouse: the keys of the next pair are verdicts again.
        expect(passage).to_contain_text("Page 4 begins.")
        page.keyboard.press("e")
        page.get_by_role("button", name="Supports").first.click()
        expect(progress).to_contain_text(f"5 of {PAIRS}")
        expect(passage).to_contain_text("Page 5 begins.")
        settled(page)
        page.keyboard.press("2")
        expect(progress).to_contain_text(f"6 of {PAIRS}")

    given = batch_frame(judgments, load_batch(judgments, "b")).dropna(subset="verdict").to_dict(orient="records")
    judgments.engine.dispose()
    assert [one["verdict"] for one in given] == ["supports"] * 5 + ["does not support"]
    assert [quotes(one["passage"], one["evidence"]) if isinstance(one["evidence"], str) else () for one in given] == [
        *((f"Page {number} ends.",) for number in range(4)),
        (),
        (),
    ]
