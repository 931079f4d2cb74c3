"""The two ways in which a person works with a page: by mouse, and by keyboard alone.

By keyboard, whatever is used is first reached with Tab, from wherever the focus was: what Tab does not reach fails the test.
"""

from pathlib import Path
from typing import Protocol

from playwright.sync_api import Locator, Page, TimeoutError, expect

from tests.browser.served import settled

_STEPS = 400
_IN_FOCUS = """(element) => {
  const active = document.activeElement;
  return active.matches("a, button, input, textarea, summary, [role=tab], [tabindex='0']")
    && (element.contains(active) || (active.contains(element) && active.matches("a, button, summary, label")));
}"""
_TABS = "xpath=ancestor::*[@role='tablist']"


class Hand(Protocol):
    """What a person does with an element."""

    def click(self, target: Locator) -> None: ...

    def write(self, target: Locator, text: str) -> None:
        """Write a text in place of what a field holds, and confirm it."""

    def pick(self, box: Locator, option: str) -> None:
        """Choose an option of a list."""

    def upload(self, page: Page, file: Path) -> None: ...


class Mouse:
    """A person with a mouse, who types where they clicked."""

    def click(self, target: Locator) -> None:
        # The input of a switch lies below what is drawn of it.
        is_switch = target.get_attribute("role") == "switch"
        (target.locator("xpath=ancestor::label") if is_switch else target).click()

    def write(self, target: Locator, text: str) -> None:
        target.click()
        target.fill(text)
        target.press("Enter")

    def pick(self, box: Locator, option: str) -> None:
        """The list is opened again if the page, drawn anew by a job that ends, has closed it."""
        page = box.page
        for _ in range(10):
            settled(page)
            box.click()
            try:
                page.get_by_role("option", name=option, exact=True).click(timeout=3000)
            except TimeoutError:
                page.keyboard.press("Escape")
                continue
            break

    def upload(self, page: Page, file: Path) -> None:
        with page.expect_file_chooser() as chooser:
            _browse(page).click()
        chooser.value.set_files(file)


class Keyboard:
    """A person without a mouse."""

    def click(self, target: Locator) -> None:
        page = target.page
        kind = target.get_attribute("role")
        if kind == "tab":
            reach(target.locator(_TABS))
            for _ in range(_STEPS):
                if target.evaluate("element => element === document.activeElement"):
                    break
                page.keyboard.press("ArrowRight")
        else:
            reach(target)
        page.keyboard.press("Space" if kind in ("checkbox", "radio", "switch") or _is_choice(target) else "Enter")

    def write(self, target: Locator, text: str) -> None:
        reach(target)
        keyboard = target.page.keyboard
        keyboard.press("Control+a")
        keyboard.type(text)
        keyboard.press("Enter")

    def pick(self, box: Locator, option: str) -> None:
        page = box.page
        for _ in range(10):
            settled(page)
            reach(box)
            page.keyboard.press("Control+a")
            page.keyboard.type(option)
            offered = page.get_by_role("option", name=option, exact=True)
            try:
                offered.wait_for(timeout=3000)
            except TimeoutError:
                page.keyboard.press("Escape")
                continue
            if (
                box.input_value() != option
            ):  # Streamlit empties a field whose text is, on the way, what was chosen before
                active = offered.get_attribute("id")
                while box.get_attribute("aria-activedescendant") != active:
                    page.keyboard.press("ArrowDown")
            page.keyboard.press("Enter")
            break

    def upload(self, page: Page, file: Path) -> None:
        with page.expect_file_chooser() as chooser:
            self.click(_browse(page))
        chooser.value.set_files(file)


def reach(target: Locator) -> None:
    """Move the focus to an element, or to the control that it is a part of, with Tab alone."""
    expect(target).to_be_attached()
    for _ in range(_STEPS):
        if target.evaluate(_IN_FOCUS):
            return
        target.page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {target}")


def _browse(page: Page) -> Locator:
    return page.get_by_test_id("stFileUploaderDropzone").locator("button")


def _is_choice(target: Locator) -> bool:
    return bool(target.evaluate("e => e.matches('input[type=checkbox], input[type=radio]')"))
