"""Many people at once on one batch: no word is lost or doubled, and no pair is out to one person too many."""

import threading
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from batch_crowd import Told, Words, annotate
from sqlalchemy import text

from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.judgments.log import Judgments
from tests.annotation.made_pairs import record
from tests.killable import fork_server

PROCESSES = 4
OVER = text("""
    SELECT COUNT(*) FROM batch_items i WHERE i.judged + (
        SELECT COUNT(*) FROM reservations r WHERE r.batch_id = i.batch_id AND r.pair = i.pair AND r.until > :now
    ) > i.wanted
""")


def work(url: str, people: int, pairs: int, per_pair: int, seconds: float, think: float) -> tuple[list[Told], int, int]:
    """Let people judge a new batch; returns what they were told, and how often, of how many looks, a pair was over-assigned."""
    judgments = Judgments.open(url)
    crowd = [judgments.sign_in(f"Person {n}") for n in range(people)]
    create_batch(judgments, BatchPlan("b", per_pair=per_pair), [Item(record(n)) for n in range(pairs)])
    over, stop = [], threading.Event()

    def watch() -> None:
        while not stop.wait(0.1):
            with judgments.reading() as connection:
                over.append(connection.execute(OVER, {"now": time.time()}).scalar_one())

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        with ProcessPoolExecutor(PROCESSES, mp_context=fork_server()) as processes:
            parts = [crowd[n::PROCESSES] for n in range(PROCESSES)]
            found = [
                processes.submit(annotate, url, "b", part, seconds, think, seed) for seed, part in enumerate(parts)
            ]
            told = [one for done in found for one in done.result()]
    finally:
        stop.set()
        watching.join()
    check(judgments, told, per_pair)
    judgments.engine.dispose()
    return told, sum(n > 0 for n in over), len(over)


def check(judgments: Judgments, told: list[Told], per_pair: int) -> None:
    """What stands is what people were told, word for word, and the counts of the queue are those of the log."""
    expected: Words = {}
    for one in told:
        expected |= one.words
    standing = judgments.present()
    assert {(j.annotator.id, j.pair): j.uid for j in standing} == expected
    assert len(standing) == len(expected)
    counts = Counter(j.pair for j in standing)
    assert max(counts.values()) <= per_pair
    assert sum(one.late for one in told) == 0
    with judgments.reading() as connection:
        rows = connection.execute(text("SELECT pair, judged FROM batch_items")).all()
    assert {pair: judged for pair, judged in rows if judged} == counts


def test_a_crowd_in_four_processes(database_url: str) -> None:
    told, over, looks = work(database_url, people=16, pairs=60, per_pair=3, seconds=60, think=0.01)
    assert over == 0
    assert looks > 0
    assert sum(len(one.words) for one in told) > 120, "of 180 words asked for, few are skipped"


@pytest.mark.slow
def test_fifty_people_in_four_processes_for_five_minutes(database_url: str) -> None:
    began = time.monotonic()
    told, over, looks = work(database_url, people=50, pairs=12_000, per_pair=2, seconds=300, think=1.0)
    saving = np.array([s for one in told for s in one.saving])
    asking = np.array([s for one in told for s in one.asking])
    p95 = float(np.percentile(saving, 95))
    print(
        f"\n{time.monotonic() - began:.0f} s, 50 people, {PROCESSES} processes: {len(saving):,} words saved,"
        f" {sum(one.undone for one in told):,} steps undone, 0 lost, 0 doubled; {over} of {looks:,} looks found a pair"
        f" over-assigned; saving p50 {1e3 * np.median(saving):.1f} ms, p95 {1e3 * p95:.1f} ms, worst {1e3 * saving.max():.0f};"
        f" next p50 {1e3 * np.median(asking):.1f} ms, p95 {1e3 * np.percentile(asking, 95):.1f} ms"
    )
    assert over == 0
    assert p95 < 0.1


@pytest.mark.postgres
def test_a_crowd_in_four_processes_on_postgresql(postgres_url: str) -> None:
    _, over, _ = work(postgres_url, people=16, pairs=60, per_pair=3, seconds=60, think=0.01)
    assert over == 0
