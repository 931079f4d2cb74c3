"""How long the queue of a batch takes at 100,000 judgments, for who is behind the others and for who is ahead of them."""

import time
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

from berdseye.annotation.batches.progress import batch_progress, batch_shares
from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import BatchPlan, Item, Order, create_batch
from berdseye.annotation.judgments.log import Judgments, PairRecord

PAIRS, PEOPLE, PER_PAIR = 40_000, 50, 3


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Judgments:
    """100,000 judgments of 50 people; the first one has judged 10,000 pairs that still need others."""
    folder: Path = tmp_path_factory.mktemp("full")
    judgments = Judgments.open(f"sqlite:///{folder / 'judgments.db'}")
    people = [judgments.sign_in(f"Person {n}") for n in range(PEOPLE)]
    records = [
        PairRecord(
            "made", f"q{n // 100}", f"Question {n // 100}?", f"View {n}.", None, "web", "", f"Passage {n}. " * 20
        )
        for n in range(PAIRS)
    ]
    keys = judgments.add_pairs(records)
    chance = np.random.default_rng(0)
    rows = [(people[(n + turn) % (PEOPLE - 1) + 1].id, keys[n]) for n in range(30_000) for turn in range(3)]
    rows += [(people[0].id, key) for key in keys[30_000:]]
    with judgments.engine.begin() as connection:
        connection.execute(
            text("""INSERT INTO events (uid, at, annotator_id, pair, kind, verdict, comment, source, shown)
                    VALUES (:uid, '2026', :who, :pair, 'judge', :verdict, '', 'annotate', FALSE)"""),
            [
                {"uid": f"{n:036d}", "who": who, "pair": pair, "verdict": ("supports", "does not support")[draw]}
                for n, ((who, pair), draw) in enumerate(zip(rows, chance.integers(0, 2, len(rows)), strict=True))
            ],
        )
    assert judgments.version() == 100_000
    for order in ("batch", "disagreement"):
        create_batch(judgments, BatchPlan(order, per_pair=PER_PAIR, order=order), [Item(r) for r in records])  # type: ignore[arg-type]
    return judgments


@pytest.mark.benchmark
@pytest.mark.parametrize("order", ["batch", "disagreement"])
@pytest.mark.parametrize(("who", "name"), [("Person 0", "ahead"), ("Person 7", "in between")])
def test_next_and_give(full: Judgments, order: Order, who: str, name: str) -> None:
    from berdseye.annotation.batches.stored import load_batch

    queue, person = BatchQueue(full, load_batch(full, order)), full.annotator(who)
    asking, giving = [], []
    for _ in range(50):
        queue.leave(person)
        began = time.perf_counter()
        key = queue.next(person)
        asking.append(time.perf_counter() - began)
        if key is not None:
            began = time.perf_counter()
            queue.give(person, key, "supports")
            giving.append(time.perf_counter() - began)
    began = time.perf_counter()
    queue.done(person)
    done = time.perf_counter() - began
    began = time.perf_counter()
    batch_progress(full, queue.batch, time=time.time())
    batch_shares(full, queue.batch)
    shown = time.perf_counter() - began
    print(
        f"\n{order}, {name}: next p50 {1e3 * np.median(asking):.1f} ms, p95 {1e3 * np.percentile(asking, 95):.1f} ms; "
        f"give {1e3 * np.median(giving or [0]):.1f} ms; done {1e3 * done:.1f} ms; show {1e3 * shown:.0f} ms"
    )
    assert np.median(asking) < 0.05
    assert shown < 2
