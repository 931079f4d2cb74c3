"""The app as a person meets it: a Streamlit server on a workspace, and a page of a real browser that looks at it."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2] / "berdseye"
HOST = "127.0.0.1"
_QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
NO_SECRETS: Mapping[str, str] = MappingProxyType({})
_STARTS_WITHIN = 600.0
_PATIENCE = 180_000
CARDS = '[class*="st-key-card-"]'
CURRENT = '[aria-current="true"]'
FOCUSED = f"{CARDS}{CURRENT}"
"""The passages of a page, and the one that the keys act on."""
VIEW = {"width": 1400, "height": 1000}
_REPORTS = """(() => {
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (...message) {
    window.lastSent = performance.now();
    return send.apply(this, message);
  };
  new MutationObserver(changes => {
    if (changes.some(change => change.target.dataset.testScriptState !== "notRunning")) window.lastRan = performance.now();
  }).observe(document, {subtree: true, attributeFilter: ["data-test-script-state"]});
})()"""
"""Notes when a page last asked the server for something, and when it was last told that the server is at work."""
_ANSWERED = """() => {
  const state = document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState;
  const sent = window.lastSent ?? 0;
  return state === "notRunning" && ((window.lastRan ?? 0) >= sent || performance.now() - sent > 1000);
}"""
_TWO_FRAMES = "() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
_NOTHING_MOVES = """() => document.getAnimations().every(
    moving => moving.playState !== "running" || moving.effect?.getComputedTiming().endTime === Infinity)"""
expect.set_options(timeout=_PATIENCE)


class Served:
    """A Streamlit server of the app, on a workspace and a port of its own; `script` and `secrets` are those of a team."""

    def __init__(
        self, workspace: Path, log: Path, *, script: str = "app/local.py", secrets: Mapping[str, str] = NO_SECRETS
    ) -> None:
        self.workspace, self.log, self.script, self.secrets = workspace, log, script, secrets
        self.port = unused_port()
        self.process = self._start()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def kill(self) -> None:
        """End it as a power cut would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=10)

    def restart(self) -> None:
        """Start it again on the same port."""
        self.process = self._start()

    def stop(self) -> None:
        """End it, whatever state it is in."""
        if self.process.poll() is None:
            self.kill()

    def _start(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "streamlit", "run", self.script, "--server.port", str(self.port)]
        options = ["--server.headless", "true", "--server.address", HOST, "--server.fileWatcherType", "none"]
        environment = {**os.environ, "BERDSEYE_WORKSPACE": str(self.workspace), **self.secrets}
        environment.pop("BERDSEYE_JUDGMENTS_URL", None)
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [*command, *options], cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        ends = time.monotonic() + _STARTS_WITHIN
        while time.monotonic() < ends and process.poll() is None:
            if answers(f"{self.url}/_stcore/health"):
                return process
            time.sleep(0.1)
        process.kill()
        raise AssertionError(f"The app did not start:\n{self.log.read_text(encoding='utf-8', errors='replace')}")


def unused_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def answers(url: str) -> bool:
    """Whether something there answers an HTTP request with 200."""
    try:
        with urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


@contextmanager
def served(
    workspace: Path, log: Path, *, script: str = "app/local.py", secrets: Mapping[str, str] = NO_SECRETS
) -> Iterator[Served]:
    """A server that ends with the block."""
    server = Served(workspace, log, script=script, secrets=secrets)
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium, the one that is installed; None of it calls home."""
    path = shutil.which("chromium")
    assert path is not None, "Chromium is missing (apt-get install chromium)."
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*_QUIET, "--disable-sync"])
        try:
            yield browser
        finally:
            browser.close()


def leaves(url: str) -> bool:
    """Whether a request for an address would leave this machine."""
    address = urlsplit(url)
    return address.scheme in ("http", "https", "ws", "wss") and address.hostname not in (HOST, "localhost")


def new_context(browser: Browser) -> BrowserContext:
    """A context as of a person who never was here, in a light theme; nothing it asks for leaves this machine."""
    context = browser.new_context(viewport=VIEW, color_scheme="light", accept_downloads=True)  # type: ignore[arg-type]
    context.set_default_timeout(_PATIENCE)
    context.route(leaves, lambda route: route.abort())
    context.add_init_script(_REPORTS)
    return context


def go(page: Page, address: str) -> None:
    """Open an address and wait until the app has drawn its page."""
    page.goto(address)
    settled(page)


def drawn(page: Page) -> None:
    """Wait until Streamlit has connected and is at rest, with something drawn and nothing moving."""
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    page.wait_for_selector('[data-testid="stMain"] [data-testid="stElementContainer"]', state="attached")
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    page.wait_for_function(_NOTHING_MOVES)


def settled(page: Page) -> None:
    """Wait until the page is drawn and the server has answered what it was asked: a click on what an opening box pushes away is
    lost, and so is one that interrupts the answer to the one before it."""
    page.wait_for_selector('[data-testid="stMain"] [data-testid="stElementContainer"]', state="attached")
    page.evaluate(_TWO_FRAMES)
    page.wait_for_function(_ANSWERED)
    drawn(page)


def sign_in(page: Page, name: str, *, shown: str = "") -> None:
    """Type a name into the sidebar, as the placeholder says; it is then shown as `shown`. A browser that was here before has
    kept it."""
    sidebar = page.get_by_test_id("stSidebar")
    if sidebar.locator("strong").all_inner_texts() == [shown or name]:
        return
    box = sidebar.get_by_role("combobox")
    box.click()
    box.fill(name)
    box.press("Enter")
    expect(sidebar.get_by_role("button", name="Change")).to_be_visible()
    expect(sidebar.locator("strong")).to_have_text(shown or name)
    settled(page)


def visit(page: Page, address: str, name: str) -> None:
    """Open an address and sign in."""
    go(page, address)
    sign_in(page, name)


def look_at_passages(page: Page) -> None:
    """Scroll to the passage in focus, which no key answers before it is on the screen."""
    page.locator(FOCUSED).evaluate("card => card.scrollIntoView({block: 'nearest'})")
    expect(page.locator(FOCUSED).get_by_role("button").first).to_be_in_viewport()


def chips(page: Page) -> Locator:
    """The chips of the card that the keys act on."""
    return page.locator(FOCUSED).get_by_role("button").locator("p")


def shown_text(locator: Locator) -> str:
    """What a person reads there, in one line, without the invisible joiners."""
    return " ".join(locator.inner_text().replace("\u2060", "").split())


def unmarked(card: Locator) -> str:
    """The text of a card without the numbers of perspectives that follow what is marked."""
    return re.sub(r"(?: P\d+)+(?= |$)", "", shown_text(card))


def flipped(label: str) -> re.Pattern[str]:
    """The text of a chip that says the opposite."""
    place, said = label.split()[:2]
    return re.compile(rf"{place} {'no' if said == 'yes' else 'yes'}")


def walk(page: Page, table: Locator, lines: int) -> None:
    """From the first line of a table so many down, and choose that one."""
    table.scroll_into_view_if_needed()
    table.click(position={"x": 200, "y": 54})
    for key in (*["ArrowDown"] * lines, "Shift+Space"):
        page.wait_for_timeout(200)  # the table draws its focus before the next key
        page.keyboard.press(key)


def press_at_once(page: Page, keys: str) -> None:
    """Press keys before the page can be drawn again in between."""
    page.evaluate(
        """keys => { for (const key of keys) for (const kind of ["keydown", "keyup"]) document.body.dispatchEvent(
            new KeyboardEvent(kind, {key, code: /[0-9]/.test(key) ? `Digit${key}` : `Key${key.toUpperCase()}`,
                                     bubbles: true, composed: true})); }""",
        keys,
    )
