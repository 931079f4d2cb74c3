"""Judging without a mouse: evidence, comment, keys, pause; and a hostile passage that stays text."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from berdseye.annotation.batches.progress import batch_frame
from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch, load_batch
from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.annotation.judgments.recorded import quotes
from berdseye.data.workspace import Workspace
from tests.browser.served import served, settled, visit

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"
PASSAGE = f"𝒳 is first. {HOSTILE} **second** $x$. Then the third. And so on."


@pytest.fixture
def judgments(tmp_path: Path) -> Judgments:
    held = Judgments.open(Workspace.create(tmp_path / "workspace").judgments_url)
    record = [
        PairRecord("made", f"q{n}", "Why?", f"View {n}.", None, "web", "", f"Page {n}. {PASSAGE}") for n in range(9)
    ]
    create_batch(held, BatchPlan("b"), [Item(one) for one in record])
    return held


def test_everything_is_done_by_keys_and_the_passage_stays_text(
    judgments: Judgments, tmp_path: Path, browser: Browser, page: Page
) -> None:
    assert browser.is_connected()
    with served(tmp_path / "workspace", tmp_path / "log") as app:
        visit(page, f"{app.url}/annotate", "Ana")
        passage, progress = page.locator(".berdseye-passage"), page.get_by_test_id("stProgress")
        expect(passage).to_have_text(f"Page 0. {PASSAGE}")
        assert passage.locator("script, img, b, .katex").count() == 0

        page.keyboard.press("e")
        page.keyboard.press("2")
        expect(passage.locator("mark")).to_have_text("𝒳 is first.")
        for key in ("ArrowDown", "ArrowDown", "ArrowDown", " "):
            page.keyboard.press(key)
        expect(passage.locator("mark")).to_have_count(2)
        assert passage.locator("script, img, b, .katex").count() == 0
        expect(progress).to_contain_text("0 of 9")
        page.keyboard.press("Escape")
        page.keyboard.press("m")
        page.keyboard.type("1 x u: why")
        page.keyboard.press("Escape")
        page.keyboard.press("1")
        expect(progress).to_contain_text("1 of 9")
        expect(passage).to_contain_text("Page 1.")
        expect(passage.locator("mark")).to_have_count(0)

        page.keyboard.press("?")
        expect(page.get_by_text("flag the perspective")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_text("flag the perspective")).to_have_count(0)
        page.keyboard.press("p")
        expect(page.get_by_text("Your pair is available to others again.")).to_be_visible()
        # Until the card is gone the button that pauses stands there as well, and would take the key.
        expect(passage).to_have_count(0)
        page.keyboard.press("p")
        expect(passage).to_contain_text("Page 1.")

        settled(page)
        for _ in range(12):
            page.keyboard.down("2")  # held down: the same key again and again
        page.keyboard.up("2")
        expect(progress).to_contain_text("2 of 9")
        settled(page)
        expect(progress).to_contain_text("2 of 9")

    words = batch_frame(judgments, load_batch(judgments, "b")).dropna(subset="verdict").to_dict(orient="records")
    assert [(word["verdict"], word["comment"]) for word in words] == [
        ("supports", "1 x u: why"),
        ("does not support", ""),
    ]
    assert quotes(words[0]["passage"], words[0]["evidence"]) == ("𝒳 is first.", "Then the third.")
    judgments.engine.dispose()
