"""Keys act on the pair that is drawn, however often the page was drawn before."""

import os
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from berdseye.annotation.batches.progress import batch_frame
from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch, load_batch
from berdseye.annotation.judgments.adjudication import decisions
from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.annotation.judgments.recorded import quotes
from berdseye.data.workspace import Workspace
from tests.browser.served import press_at_once, served, settled, visit

pytestmark = pytest.mark.browser

PAIRS = 6
_SELDOM_DRAWN = """() => {
  window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 3000);
}"""
"""A busy browser, which draws a frame every three seconds: an answer comes and is there between two of them."""


@pytest.fixture
def judgments(tmp_path: Path) -> Judgments:
    held = Judgments.open(Workspace.create(tmp_path / "workspace").judgments_url)
    pairs = [
        PairRecord("made", f"q{n}", "Why?", f"View {n}.", None, "web", "", f"Page {n} begins. Page {n} ends.")
        for n in range(PAIRS)
    ]
    create_batch(held, BatchPlan("b"), [Item(pair) for pair in pairs])
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


@pytest.mark.parametrize("by", ["key", "mouse"])
def test_the_next_pair_is_read_before_the_server_has_answered(
    judgments: Judgments, tmp_path: Path, page: Page, by: str
) -> None:
    with served(tmp_path / "workspace", tmp_path / "log") as app:
        visit(page, f"{app.url}/annotate", "Ana")
        page.keyboard.press("2")
        expect(page.get_by_test_id("stProgress")).to_contain_text(f"1 of {PAIRS}")
        settled(page)
        ahead = page.locator(".berdseye-next-pair")
        expect(ahead).to_have_count(0)
        os.kill(app.process.pid, signal.SIGSTOP)
        try:
            page.keyboard.press("1") if by == "key" else page.get_by_role("button", name="Supports").first.click()
            expect(ahead).to_contain_text("View 2.")
            expect(ahead).to_contain_text("Page 2 begins. Page 2 ends.")
            expect(page.get_by_test_id("stProgress")).to_contain_text(f"1 of {PAIRS}")
            page.wait_for_timeout(2000)  # however long the server takes
            expect(ahead).to_be_visible()
        finally:
            os.kill(app.process.pid, signal.SIGCONT)
        expect(page.get_by_test_id("stProgress")).to_contain_text(f"2 of {PAIRS}")
        expect(ahead).to_have_count(0)
        expect(page.locator(".berdseye-passage")).to_have_text("Page 2 begins. Page 2 ends.")
    given = batch_frame(judgments, load_batch(judgments, "b")).dropna(subset="verdict")
    judgments.engine.dispose()
    assert given["verdict"].tolist() == ["does not support", "supports"]


def test_what_was_shown_ahead_goes_although_no_frame_fell_into_the_answer(
    judgments: Judgments, tmp_path: Path, page: Page
) -> None:
    with served(tmp_path / "workspace", tmp_path / "log") as app:
        visit(page, f"{app.url}/annotate", "Ana")
        progress = page.get_by_test_id("stProgress")
        page.evaluate(_SELDOM_DRAWN)
        for number in range(1, 4):
            page.get_by_role("button", name="Supports").first.click()
            expect(progress).to_contain_text(f"{number} of {PAIRS}")
            expect(page.locator(".berdseye-next-pair")).to_have_count(0, timeout=10_000)
            expect(page.locator(".berdseye-passage")).to_contain_text(f"Page {number} begins.")
            settled(page)
    judgments.engine.dispose()


def test_a_decision_is_of_the_pair_that_was_read_and_a_flag_is_raised_once(
    judgments: Judgments, tmp_path: Path, page: Page
) -> None:
    keys = judgments.add_pairs(
        [PairRecord("made", f"d{n}", "Why?", f"Dispute {n}.", None, "web", "", f"Passage {n}.") for n in range(3)]
    )
    people = [judgments.sign_in(name) for name in ("Bo", "Cy")]
    for key in keys:
        for person, verdict in zip(people, ("supports", "does not support"), strict=True):
            judgments.judge(person, key, verdict, source="annotate")  # type: ignore[arg-type]
    with served(tmp_path / "workspace", tmp_path / "log") as app:
        visit(page, f"{app.url}/adjudication?of=all%20judgments", "Ana")
        card = page.locator(".st-key-dispute-card")
        expect(card).to_contain_text("Dispute 0.")
        press_at_once(page, "j1")
        expect(card).to_contain_text("Dispute 1.")
        settled(page)
        assert decisions(judgments, keys) == {}, "nobody has read the pair that J went to"
        press_at_once(page, "11")
        expect(card).not_to_contain_text("Dispute 1.")
        settled(page)
        assert list(decisions(judgments, keys)) == [keys[1]]
        assert [event["kind"] for event in judgments.history(keys[1])] == ["judge", "judge", "adjudicate"]

        visit(page, f"{app.url}/annotate", "Ana")
        expect(page.locator(".berdseye-passage")).to_contain_text("Page 0 begins.")
        press_at_once(page, "ff")
        expect(page.get_by_text("Flagged:")).to_be_visible()
        settled(page)
    [flagged] = [
        key for key in batch_frame(judgments, load_batch(judgments, "b"))["pair"].unique() if judgments.history(key)
    ]
    assert [event["kind"] for event in judgments.history(flagged)] == ["flag"]
    judgments.engine.dispose()
