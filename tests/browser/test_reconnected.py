"""The server goes away while somebody judges, and comes back under the page that stands open."""

import pytest
from playwright.sync_api import Page, expect

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.workspace import Workspace
from tests.browser.served import Served, settled, visit

pytestmark = pytest.mark.browser


def judgments_of(app: Served, name: str) -> list[tuple[str, str]]:
    held = Judgments.open(Workspace.open(app.workspace).judgments_url)
    try:
        return [(one.verdict, one.comment) for one in held.present() if one.annotator.name == name]
    finally:
        held.engine.dispose()


def test_a_comment_in_the_making_goes_with_the_verdict_and_comes_back_on_undo(own_app: Served, page: Page) -> None:
    visit(page, f"{own_app.url}/annotate", "Cora")
    box, progress = page.get_by_placeholder("Comment (M)"), page.get_by_test_id("stProgress")
    passage = page.locator(".berdseye-passage")
    text = passage.inner_text()
    page.keyboard.press("m")
    page.keyboard.type("half a com")
    own_app.kill()
    expect(box).to_be_disabled()
    own_app.restart()
    notice = page.get_by_text("Reconnected.")
    expect(notice).to_be_visible()
    page.keyboard.press("2")  # nothing is taken before the page is drawn again
    expect(notice).to_be_hidden()
    expect(box).to_be_focused()
    page.keyboard.type("ment")
    page.keyboard.press("Escape")
    expect(box).to_have_value("half a comment")
    page.keyboard.press("1")
    expect(progress).to_contain_text("1 of")
    assert judgments_of(own_app, "Cora") == [("supports", "half a comment")]
    expect(passage).not_to_have_text(text, use_inner_text=True)
    settled(page)  # while the next pair is being drawn, the box of the last one stands beside its own
    expect(box).to_have_value("")

    page.keyboard.press("e")
    page.keyboard.press("1")
    expect(passage.locator("mark")).to_have_count(1)
    quoted = passage.locator("mark").inner_text()
    page.keyboard.press("e")
    settled(page)
    page.keyboard.press("2")
    expect(progress).to_contain_text("2 of")
    settled(page)
    page.keyboard.press("u")
    expect(progress).to_contain_text("1 of")
    expect(passage.locator("mark")).to_have_text(quoted)
    page.keyboard.press("u")
    expect(progress).to_contain_text("0 of")
    settled(page)
    expect(box).to_have_value("half a comment")
    page.keyboard.press("3")
    expect(progress).to_contain_text("1 of")
    assert judgments_of(own_app, "Cora") == [("unsure", "half a comment")]
