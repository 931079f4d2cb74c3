"""Servers of many annotators are killed at random moments, over and over: no word is lost or doubled, no pair goes to one
person too many, and what the dead held comes free."""

import random
import signal
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import pytest
from queue_server import Act, serve
from sqlalchemy import func, select, text

from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.judgments.schema import batch_items, events, reservations
from tests.annotation.made_pairs import record
from tests.killable import fork_server, started, told

PER_PAIR, HOLD = 3, 1800
OVER = text("""
    SELECT COUNT(*) FROM batch_items i WHERE i.judged + (
        SELECT COUNT(*) FROM reservations r WHERE r.batch_id = i.batch_id AND r.pair = i.pair AND r.until > :now
    ) > i.wanted
""")
LOGGED = ("judge", "skip", "undo")


@dataclass
class Served:
    """The people of one process, what each is known to have done, and the judgments of which nobody knows."""

    people: Sequence[Annotator]
    done: dict[int, list[Act]] = field(default_factory=dict)
    again: dict[int, Act] = field(default_factory=dict)
    process: BaseProcess | None = None
    pipe: Connection | None = None


def crash(url: str, *, servers: int, people: int, pairs: int, kills: int, lines: int, seed: int) -> dict[str, int]:
    """Kill servers in turn, each once it has told up to so many lines (three an act); returns what was counted."""
    judgments = Judgments.open(url)
    batch = create_batch(
        judgments, BatchPlan("b", per_pair=PER_PAIR, hold=HOLD), [Item(record(n)) for n in range(pairs)]
    )
    processes, chance = fork_server(), random.Random(seed)
    shifts = [Served([judgments.sign_in(f"Person {s}.{n}") for n in range(people)]) for s in range(servers)]
    counted = {"killed at work": 0, "in doubt": 0, "of them on disk": 0}
    for shift in shifts:
        shift.process, shift.pipe = started(processes, serve, url, shift.people, {}, seed)
    for number in range(kills):
        shift = shifts[number % servers]
        assert shift.pipe is not None
        begun = told(shift.pipe, until=chance.randrange(1, lines))
        time.sleep(chance.uniform(0, 0.005))
        end(shift, begun, judgments, counted)
        assert over(judgments) == 0
        shift.process, shift.pipe = started(processes, serve, url, shift.people, shift.again, seed + number + 1)
    for shift in shifts:
        end(shift, b"", judgments, counted)
    assert over(judgments) == 0
    check_counts(judgments)
    held_lapse(judgments, BatchQueue(judgments, batch, clock=lambda: time.time() + HOLD + 1))
    counted["words"] = sum(act.kind == "judge" for shift in shifts for acts in shift.done.values() for act in acts)
    judgments.engine.dispose()
    return counted


def end(shift: Served, begun: bytes, judgments: Judgments, counted: dict[str, int]) -> None:
    """Kill the process, and hold what its people were told against the log: the same acts, and at most the one in doubt more."""
    assert shift.process is not None
    assert shift.pipe is not None
    shift.process.kill()
    lines = (begun + told(shift.pipe)).decode().splitlines()
    shift.process.join(60)
    assert shift.process.exitcode in (0, -signal.SIGKILL)
    counted["killed at work"] += shift.process.exitcode != 0
    doubtful: dict[int, Act] = dict(shift.again)
    for line in lines:
        who, when, *rest = line.split(" ")
        act = Act(*rest)
        if when == "will":
            doubtful[int(who)] = act
            continue
        doubtful.pop(int(who), None)
        if act.kind in LOGGED and act.pair != "-":
            already = shift.done.setdefault(int(who), [])
            if act.kind != "judge" or act.uid not in {one.uid for one in already}:
                already.append(act)
    for person in shift.people:
        log, known = logged(judgments, person), shift.done.setdefault(person.id, [])
        assert [said(act) for act in log[: len(known)]] == [said(act) for act in known]
        more, act = log[len(known) :], doubtful.get(person.id)
        assert len(more) <= (act is not None)
        counted["in doubt"] += act is not None and act.kind in LOGGED
        counted["of them on disk"] += len(more)
        if more:
            assert act is not None
            assert more[0].kind == act.kind
            assert act.kind != "judge" or said(more[0]) == said(act)
        known.extend(more)
    shift.again = {who: act for who, act in doubtful.items() if act.kind == "judge"}


def said(act: Act) -> tuple[str, str, str]:
    return act.kind, act.pair, act.uid if act.kind == "judge" else ""


def logged(judgments: Judgments, person: Annotator) -> list[Act]:
    """What the log says this person did, in order."""
    query = select(events.c.kind, events.c.pair, events.c.uid).where(events.c.annotator_id == person.id)
    with judgments.reading() as connection:
        return [Act(*row) for row in connection.execute(query.order_by(events.c.id))]


def over(judgments: Judgments) -> int:
    """How many pairs have, with those who hold them, more people than were asked for."""
    with judgments.reading() as connection:
        return int(connection.execute(OVER, {"now": time.time()}).scalar_one())


def check_counts(judgments: Judgments) -> None:
    """The counts of the queue are those of the log: a word a person and pair."""
    standing = [(j.annotator.id, j.pair) for j in judgments.present()]
    assert len(set(standing)) == len(standing)
    with judgments.reading() as connection:
        rows = connection.execute(select(batch_items.c.pair, batch_items.c.judged)).all()
    assert {pair: judged for pair, judged in rows if judged} == Counter(pair for _, pair in standing)


def held_lapse(judgments: Judgments, later: BatchQueue) -> None:
    """Once the time is up someone new gets every pair that needs a person, those that the dead held among them, and no other."""
    wanting = select(batch_items.c.pair).where(batch_items.c.judged < batch_items.c.wanted)
    with judgments.reading() as connection:
        assert connection.execute(select(func.count()).select_from(reservations)).scalar_one() > 0
        open_pairs = set(connection.execute(wanting).scalars())
    fresh, got = judgments.sign_in("Someone new"), set()
    while (key := later.next(fresh)) is not None:
        later.give(fresh, key, "supports")
        got.add(key)
    assert got == open_pairs
    with judgments.reading() as connection:
        assert connection.execute(select(func.count()).select_from(reservations)).scalar_one() == 0


def test_killed_servers_lose_no_word(database_url: str) -> None:
    counted = crash(database_url, servers=2, people=6, pairs=150, kills=8, lines=60, seed=0)
    assert counted["killed at work"] >= 8
    assert counted["words"] > 30


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_servers_killed_two_hundred_times_lose_no_word(database_url: str, seed: int) -> None:
    counted = crash(database_url, servers=4, people=12, pairs=6000, kills=200, lines=200, seed=seed)
    print(f"\n200 kills, 48 people in 4 processes: {counted}; 0 words lost, 0 doubled, 0 pairs over-assigned")
    assert counted["killed at work"] > 190


@pytest.mark.slow
@pytest.mark.postgres
def test_servers_killed_on_postgresql_lose_no_word(postgres_url: str) -> None:
    counted = crash(postgres_url, servers=4, people=12, pairs=3000, kills=100, lines=200, seed=3)
    print(f"\n100 kills on PostgreSQL: {counted}; 0 words lost, 0 doubled, 0 pairs over-assigned")
    assert counted["killed at work"] > 90
