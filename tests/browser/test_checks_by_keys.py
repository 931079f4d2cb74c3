"""Checks judged by keys alone, from the first to the last, with comment, mark, undo and feedback."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from berdseye.annotation.batches.check_items import CheckItem, create_check_batch
from berdseye.annotation.batches.progress import batch_frame, flags
from berdseye.annotation.batches.qualification import qualification
from berdseye.annotation.batches.stored import load_batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.workspace import Workspace
from tests.browser.served import served, settled, visit

VERDICTS = ("yes", "no", "harmful", "no", "yes", "harmful", "yes")


@pytest.fixture
def judgments(tmp_path: Path) -> Judgments:
    held = Judgments.open(Workspace.create(tmp_path / "workspace").judgments_url)
    items = [
        CheckItem(f"v{n}", f"[1] Document {n}.\n\n[2] Another.", f"View {n}.", "Why?", "", expected)
        for n, expected in enumerate(VERDICTS)
    ]
    create_check_batch(held, "b", "addresses", items, dataset="made", people=("Ana",), purpose="training")
    return held


def test_seven_checks_are_judged_by_keys(judgments: Judgments, tmp_path: Path, browser: Browser, page: Page) -> None:
    assert browser.is_connected()
    with served(tmp_path / "workspace", tmp_path / "log") as app:
        visit(page, f"{app.url}/annotate?batch=b", "Ana")
        passage, progress = page.locator(".berdseye-passage"), page.get_by_test_id("stProgress")
        for n, verdict in enumerate(VERDICTS):
            expect(passage).to_have_text(f"[1] Document {n}.\n\n[2] Another.", use_inner_text=True)
            expect(page.get_by_text(f"View {n}.", exact=True)).to_be_visible()
            if n == 2:
                page.keyboard.press("f")
                expect(page.get_by_text("Marked as difficult")).to_be_visible()
            if n == 4:  # the fifth: a comment, the wrong key, undo, and the right one
                page.keyboard.press("m")
                page.keyboard.type("because")
                page.keyboard.press("Escape")
                page.keyboard.press("2")
                expect(page.get_by_text("the known answer is yes")).to_be_visible()
                expect(progress).to_contain_text("5 of 7")
                settled(page)
                page.keyboard.press("u")
                expect(passage).to_contain_text("Document 4.")
                settled(page)
            page.keyboard.press(str(("yes", "no", "harmful").index(verdict) + 1))
            expect(progress).to_contain_text(f"{n + 1} of 7")
            settled(page)
        expect(page.get_by_text("You were right on 6 of 7")).to_be_visible()
    batch = load_batch(judgments, "b")
    rows = batch_frame(judgments, batch).dropna(subset="verdict").to_dict(orient="records")
    assert [row["verdict"] for row in rows] == list(VERDICTS)
    assert [row["comment"] for row in rows] == ["", "", "", "", "because", "", ""]
    assert all(row["seconds"] > 0 for row in rows)
    assert flags(judgments, batch)["perspective"].tolist() == ["View 2."]
    assert [(q.right, q.passed) for q in qualification(judgments, batch)] == [(6, False)]
