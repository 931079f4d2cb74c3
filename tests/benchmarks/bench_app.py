"""What a person waits for in the browser: the first page, another page, an answer, a correction, the next pair. Medians in
milliseconds, printed.

BERDSEYE_BENCH_CORPUS, the folder of a corpus with its index, adds this corpus to those of the demo:

    BERDSEYE_BENCH_CORPUS=FOLDER/corpora/synthetic-22000000 \
    python -m pytest -m benchmark -s tests/benchmarks/bench_app.py -k "first_page or warm or correction"
"""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

import pytest
from playwright.sync_api import Page, expect

from berdseye.data.workspace import Workspace
from tests.browser.served import chips, chromium, go, new_context, served, settled, sign_in

pytestmark = pytest.mark.benchmark

REPETITIONS = 12
FIRST_PAGE_BAR, SWITCH_BAR, ANSWER_BAR, CORRECTION_BAR = 3000.0, 300.0, 1000.0, 300.0
NEXT_PAIR_BAR, STORED_BAR = 100.0, 250.0
LINKS = '[data-testid="stSidebarNavLink"]'

# Timed in the page itself, from the event to the first drawn frame in which `done` holds: what travels between the test and
# the browser is not counted.
TIMED = """
([act, done]) => new Promise((resolve, reject) => {
  const holds = new Function('return ' + done), start = performance.now();
  new Function(act)();
  const look = () => {
    const spent = performance.now() - start;
    if (holds()) resolve(spent);
    else if (spent > 20000) reject(new Error('not drawn in 20 s: ' + done));
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})
"""
# To the last change of a page: charts are drawn after the program is at rest.
SWITCHED = """
([links, path]) => new Promise((resolve, reject) => {
  const link = [...document.querySelectorAll(links)].find((one) => new URL(one.href).pathname === path);
  const app = document.querySelector('[data-testid=stApp]'), start = performance.now();
  const rests = () => app.dataset.testScriptState === 'notRunning';
  const heading = () => document.querySelector('h1')?.innerText, before = heading();
  let last = 0;
  const changes = new MutationObserver(() => { last = performance.now() - start; });
  changes.observe(document.querySelector('[data-testid=stMain]'), {childList: true, subtree: true, characterData: true});
  link.click();
  const look = () => {
    const spent = performance.now() - start;
    if (heading() !== before && rests() && spent - last > 300) { changes.disconnect(); resolve(last); }
    else if (spent > 20000) reject(new Error('not drawn in 20 s: ' + path));
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})
"""
PRESS = """for (const type of ['keydown', 'keyup'])
  document.body.dispatchEvent(new KeyboardEvent(type, {{key: '{0}', code: '{1}', bubbles: true}}))"""
# What stands on top where the perspective of the card is.
PASSAGE = """(() => {
  const card = document.querySelector('.st-key-pair-card'), next = card.querySelector('.berdseye-next-pair');
  const texts = (next ?? card).querySelectorAll('h5, .berdseye-passage, .berdseye-passage-next');
  return [...texts].map((one) => one.innerText).join(' ');
})()"""
CHIP = "document.querySelector('[class*=\\'st-key-card-\\'][aria-current] button p').innerText"


@pytest.fixture(scope="module")
def page(demo_workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("timed")
    with served(copied(demo_workspace, folder), folder / "log") as app, chromium() as browser:
        opened = new_context(browser).new_page()
        go(opened, f"{app.url}/explore")
        sign_in(opened, "Ada")
        yield opened
        status = Path(f"/proc/{app.process.pid}/status").read_text()
        own, mapped = (int(re.search(f"{name}:\\s+(\\d+)", status)[1]) // 1024 for name in ("RssAnon", "RssFile"))  # type: ignore[index]
        print(f"\nThe server has {own} MB of its own, and {mapped} MB of files mapped.")


def copied(demo_workspace: Workspace, folder: Path) -> Path:
    """A copy of the demo, with the corpus that is to be searched beside its own."""
    shutil.copytree(demo_workspace.folder, folder / "workspace")
    if corpus := os.environ.get("BERDSEYE_BENCH_CORPUS"):
        (folder / "workspace" / "corpora" / Path(corpus).name).symlink_to(corpus)
    return folder / "workspace"


def told(what: str, times: list[float], bar: float) -> None:
    print(f"\n{what}: median {median(times):.0f} ms of {len(times)}, worst {max(times):.0f} ms (bar {bar:.0f} ms)")
    assert median(times) < bar


def press(page: Page, key: str, done: str) -> float:
    code = f"Digit{key}" if key.isdigit() else f"Key{key.upper()}"
    return float(page.evaluate(TIMED, [PRESS.format(key, code), done]))


def test_the_first_page(demo_workspace: Workspace, tmp_path: Path) -> None:
    """From an address in a browser that was never here, to a server that answered nobody yet, until the page is complete."""
    times, folder = [], copied(demo_workspace, tmp_path)
    for number in range(3):
        with served(folder, tmp_path / str(number)) as app, chromium() as browser:
            opened = new_context(browser).new_page()
            began = perf_counter()
            go(opened, app.url)
            times.append(1000 * (perf_counter() - began))
    told("First page of a fresh server", times, FIRST_PAGE_BAR)


def test_page_switches(page: Page) -> None:
    """From the click on a link of the navigation to the last change of that page, each page in turn."""
    paths = page.evaluate(
        "links => [...document.querySelectorAll(links)].map((link) => new URL(link.href).pathname)", LINKS
    )
    times: dict[str, list[float]] = {path: [] for path in paths}
    for number in range(7):
        for path, those in times.items():
            spent = float(page.evaluate(SWITCHED, [LINKS, path]))
            if number >= 2:  # the first rounds fill the caches
                those.append(spent)
    for path, those in times.items():
        print(f"\n{path}: {median(those):.0f} ms", end="")
    told("Another page", [spent for those in times.values() for spent in those], SWITCH_BAR)
    page.locator(f'{LINKS}[href$="/explore"]').click()
    expect(page.locator("h1")).to_have_text("Explore")
    settled(page)


def test_a_warm_answer(page: Page) -> None:
    """From the choice of another question to its cards on the screen: three corpora, five passages each."""
    times = []
    for number in range(1, 9 + REPETITIONS):
        page.get_by_role("combobox", name="Question").click()
        option = page.get_by_role("option").nth(number % 8)
        text = option.inner_text()
        page.evaluate("text => { window.wanted = text }", text)
        option.evaluate("e => { window.chosen = e }")
        done = (
            "[...document.querySelectorAll('h2, h3')].some((heading) => heading.innerText === window.wanted) && "
            "!document.querySelector('[data-stale=true]') && "
            "document.querySelectorAll('[class*=\\'st-key-card-\\']').length > 9 && "
            "document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'"
        )
        spent = float(page.evaluate(TIMED, ["window.chosen.click()", done]))
        if number >= 8:  # the first round fills the caches
            times.append(spent)
        settled(page)
    told("Explore, warm answer drawn", times, ANSWER_BAR)


def test_a_correction(page: Page) -> None:
    """From the key to the chip that says the opposite."""
    settled(page)
    times = []
    for _ in range(REPETITIONS + 2):
        label = chips(page).first.inner_text()
        times.append(press(page, "1", f"{CHIP} !== {label!r}"))
        settled(page)
    told("Explore, correction visible", times[2:], CORRECTION_BAR)


def test_the_next_pair(page: Page) -> None:
    """From the key to the next pair on the screen, and to the page that the server has drawn with its progress."""
    page.locator(f'{LINKS}[href$="/annotate"]').click()
    page.get_by_test_id("stProgress").wait_for()
    settled(page)
    seen, stored = [], []
    for number in range(2 * REPETITIONS):
        before = int(page.get_by_test_id("stProgress").inner_text().split()[0])
        page.evaluate(f"window.shown = () => {PASSAGE}; window.pair = window.shown()")
        done = f"document.querySelector('[data-testid=stProgress]').innerText.startsWith('{before + 1} of')"
        if number % 2:
            seen.append(press(page, "2", "window.shown() !== window.pair"))
        else:
            stored.append(press(page, "1", f"{done} && window.shown() !== window.pair"))
        settled(page)
        expect(page.get_by_test_id("stProgress")).to_contain_text(f"{before + 1} of")
    told("Annotate, stored and drawn", stored[2:], STORED_BAR)
    told("Annotate, next pair on the screen", seen[2:], NEXT_PAIR_BAR)
