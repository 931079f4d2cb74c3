"""Verdicts by swipe on a telephone: what a finger that swipes records, and what one that scrolls or hesitates does not."""

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.judgments.adjudication import adjudicated_labels
from berdseye.annotation.judgments.log import Judgments, PairRecord, Verdict
from berdseye.data.workspace import Workspace
from tests.browser.served import leaves, served, settled

pytestmark = pytest.mark.browser

SCREEN = {"width": 390, "height": 844}
LONG = " ".join(f"Sentence {n} of a passage that is longer than the screen of a telephone." for n in range(60))
PAIRS = [PairRecord("made", f"q{n}", "Why?", f"View {n}.", None, "web", "", f"Page {n}. {LONG}") for n in range(5)]


@pytest.fixture
def judgments(tmp_path: Path) -> Judgments:
    return Judgments.open(Workspace.create(tmp_path / "workspace").judgments_url)


@pytest.fixture
def telephone(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=SCREEN, has_touch=True, is_mobile=True)  # type: ignore[arg-type]
    context.route(leaves, lambda route: route.abort())
    yield context.new_page()
    context.close()


class Finger:
    """A finger on the screen: the touches that the browser gets from a real one."""

    def __init__(self, page: Page) -> None:
        self.page, self._screen = page, page.context.new_cdp_session(page)

    def drag(self, card: str, across: int, along: int = 0, *, lifts: bool = True, rests: int = 0) -> None:
        """From the middle of a card so many pixels to the right and down, after so many milliseconds of rest."""
        box = self.page.locator(card).bounding_box()
        assert box is not None
        x, y = SCREEN["width"] / 2, box["y"] + box["height"] / 2
        self._touch("touchStart", x, y)
        self.page.wait_for_timeout(rests)
        for step in range(1, 11):
            self._touch("touchMove", x + across * step / 10, y + along * step / 10)
        if lifts:
            self.lift()

    def lift(self) -> None:
        self._screen.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def _touch(self, kind: str, x: float, y: float) -> None:
        self._screen.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})


def verdicts(judgments: Judgments, name: str) -> dict[str, str]:
    """What a person has said, by perspective."""
    frame = judgments.frame()
    return {} if frame.empty else dict(frame[frame["annotator"] == name][["perspective", "verdict"]].to_numpy())


def enter(page: Page, address: str, name: str) -> None:
    """Open a page and give a name in its own box, because the sidebar is closed on a telephone."""
    page.goto(address)
    settled(page)
    box = page.get_by_test_id("stMain").get_by_role("combobox", name=re.compile("Your name"))
    box.fill(name)
    box.press("Enter")
    expect(box).to_have_count(0)
    settled(page)


def test_a_swipe_judges_and_a_scroll_does_not(judgments: Judgments, telephone: Page, tmp_path: Path) -> None:
    create_batch(judgments, BatchPlan("b"), [Item(one) for one in PAIRS])
    page, card = telephone, ".st-key-pair-card"
    with served(tmp_path / "workspace", tmp_path / "log") as app:
        enter(page, f"{app.url}/annotate", "Ana")
        finger = Finger(page)
        passage, progress = page.locator(f"{card} .berdseye-passage"), page.get_by_test_id("stProgress")
        expect(passage).to_contain_text("Page 0.")
        expect(page.get_by_text("Supports →")).to_be_in_viewport()
        expect(page.get_by_text("← Does not support")).to_be_in_viewport()

        finger.drag(card, 150, lifts=False)
        says = page.locator(".berdseye-swipe-says")
        expect(says).to_have_text("Supports")
        assert page.locator(card).evaluate("card => card.style.transform") != ""
        finger.lift()
        expect(progress).to_contain_text("1 of 5")
        expect(passage).to_contain_text("Page 1.")
        expect(says).to_be_hidden()
        assert page.locator(card).evaluate("card => card.style.transform") == ""
        settled(page)
        finger.drag(card, -150)
        expect(progress).to_contain_text("2 of 5")
        settled(page)
        assert verdicts(judgments, "Ana") == {"View 0.": "supports", "View 1.": "does not support"}

        before = page.locator(card).evaluate("card => card.scrollTop")
        finger.drag(card, 20, -150)  # scrolls
        page.wait_for_function(f"before => document.querySelector('{card}').scrollTop > before", arg=before)
        finger.drag(card, 50)  # too short
        finger.drag(card, 150, 140)  # aslant
        page.get_by_role("button", name="Evidence (E)").click()
        finger.drag(card, 150)  # while evidence is chosen
        page.get_by_role("button", name="Done (E)").click()
        finger.drag(card, 150, rests=700)  # selects text
        page.evaluate("window.getSelection().removeAllRanges()")
        settled(page)
        expect(progress).to_contain_text("2 of 5")

        page.get_by_role("button", name="Undo").click()
        expect(passage).to_contain_text("Page 1.")
        expect(progress).to_contain_text("1 of 5")
        settled(page)
        assert verdicts(judgments, "Ana") == {"View 0.": "supports"}

        # Two swipes before the server has drawn the next pair: the second one has no pair that anybody has read.
        os.kill(app.process.pid, signal.SIGSTOP)
        finger.drag(card, 150)
        finger.drag(card, 150)
        os.kill(app.process.pid, signal.SIGCONT)
        expect(progress).to_contain_text("2 of 5")
        settled(page)
        expect(progress).to_contain_text("2 of 5")
        assert verdicts(judgments, "Ana") == {"View 0.": "supports", "View 1.": "supports"}


def test_a_swipe_adjudicates(judgments: Judgments, telephone: Page, tmp_path: Path) -> None:
    votes: dict[str, Verdict] = {"Ana": "supports", "Bo": "does not support"}
    for name, said in votes.items():
        for pair in judgments.add_pairs(PAIRS[:2]):
            judgments.judge(judgments.sign_in(name), pair, said, source="annotate")
    page, card = telephone, ".st-key-dispute-card"
    with served(tmp_path / "workspace", tmp_path / "log") as app:
        enter(page, f"{app.url}/adjudication", "Cy")
        finger = Finger(page)
        expect(page.get_by_text("2 to adjudicate")).to_be_visible()
        finger.drag(card, 0, -150)
        finger.drag(card, -150)
        expect(page.get_by_text("1 to adjudicate")).to_be_visible()
        settled(page)
        assert list(adjudicated_labels(judgments).values()) == ["does not support"]
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_text("2 to adjudicate")).to_be_visible()
        assert adjudicated_labels(judgments) == {}
