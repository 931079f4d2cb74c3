"""What an annotator loses to the machine: from the key to the next pair of a batch of 2,000, with 100,000 judgments there."""

import time
from collections.abc import Iterator
from statistics import median, quantiles

import pytest
from playwright.sync_api import Page
from sqlalchemy import text

from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.data.workspace import Workspace
from tests.benchmarks.bench_app import NEXT_PAIR_BAR, press
from tests.browser.served import chromium, new_context, served, settled, visit

pytestmark = pytest.mark.benchmark

PAIRS, PEOPLE, JUDGMENTS, SENT_OUT = 40_000, 50, 100_000, 2_000
PRESSES, WARM_UP = 60, 5
HEADING = "document.querySelector('.st-key-pair-card h5')?.innerText"
PASSAGE = "document.querySelector('.berdseye-passage')?.textContent"


def filled(judgments: Judgments) -> None:
    """100,000 words of 50 people on 40,000 pairs, two or three on each; the first 2,000 are sent out for three words."""
    records = [
        PairRecord(
            "made",
            f"q{n // 100}",
            f"Should question {n // 100} be asked?",
            f"View {n} is right.",
            None,
            "web",
            f"Page {n}",
            f"This is passage {n}. " + "It says something that a reader may take for a reason, or not. " * 8,
        )
        for n in range(PAIRS)
    ]
    keys = judgments.add_pairs(records)
    people = [judgments.sign_in(f"Person {n}") for n in range(PEOPLE)]
    rows = [
        {
            "uid": f"{n:036d}",
            "at": f"2026-01-{n % 28 + 1:02d}T10:00:00.000000+00:00",
            "who": people[(n + n // PAIRS) % PEOPLE].id,
            "pair": keys[n % PAIRS],
            "verdict": ("supports", "does not support")[n % 3 % 2],
        }
        for n in range(JUDGMENTS)
    ]
    with judgments.engine.begin() as connection:
        connection.execute(
            text("""INSERT INTO events (uid, at, annotator_id, pair, kind, verdict, comment, source, seconds, shown)
                    VALUES (:uid, :at, :who, :pair, 'judge', :verdict, '', 'annotate', 5.0, FALSE)"""),
            rows,
        )
    assert judgments.version() == JUDGMENTS
    create_batch(judgments, BatchPlan("b", per_pair=4), [Item(record) for record in records[:SENT_OUT]])


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    workspace = Workspace.create(tmp_path_factory.mktemp("desk") / "workspace")
    judgments = Judgments.open(workspace.judgments_url)
    filled(judgments)
    judgments.engine.dispose()
    with served(workspace.folder, workspace.folder / "log") as app, chromium() as browser:
        opened = new_context(browser).new_page()
        visit(opened, f"{app.url}/annotate", "Person 7")
        opened.get_by_test_id("stProgress").wait_for()
        yield opened


def test_the_next_pair_of_a_batch(page: Page) -> None:
    """From the key to a progress, a perspective and a passage that are all the next pair's."""
    settled(page)
    times = []
    for number in range(PRESSES + WARM_UP):
        done = int(page.get_by_test_id("stProgress").inner_text().split()[0])
        page.evaluate(f"() => {{ window.heading = {HEADING}; window.passage = {PASSAGE}; }}")
        drawn = (
            f"document.querySelector('[data-testid=stProgress]').innerText.startsWith('{done + 1} of') && "
            f"{HEADING} && {HEADING} !== window.heading && {PASSAGE} && {PASSAGE} !== window.passage"
        )
        times.append(press(page, str(number % 3 + 1), drawn))
        settled(page)
        time.sleep(0.05)
    found = times[WARM_UP:]
    worst = quantiles(found, n=20)[-1]
    print(
        f"\nkey to next pair: median {median(found):.0f} ms, p95 {worst:.0f} ms of {len(found)} (bar {NEXT_PAIR_BAR:.0f} ms)"
    )
    assert median(found) < NEXT_PAIR_BAR
