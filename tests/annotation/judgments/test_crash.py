"""No acknowledged judgment is ever lost: a process that writes is killed at a random moment, five times over (`slow`: twenty)."""

import random
import signal
import sqlite3
import time
from pathlib import Path

import pytest
from crash_writer import write

from berdseye.annotation.judgments.log import Judgments
from tests.annotation.made_pairs import record
from tests.killable import fork_server, started, told

ROUNDS, QUICK = 20, 5
WRITERS_A_PROCESS = 4
JUDGMENTS_A_WRITER = 125


@pytest.mark.parametrize("number", [n if n < QUICK else pytest.param(n, marks=pytest.mark.slow) for n in range(ROUNDS)])
def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path: Path, database_url: str, number: int) -> None:
    judgments = Judgments.open(database_url)
    people = [judgments.sign_in(f"Writer {n}") for n in range(2 * WRITERS_A_PROCESS)]
    keys = judgments.add_pairs(record(n) for n in range(JUDGMENTS_A_WRITER))
    judgments.engine.dispose()

    processes = fork_server()
    survivor, survivor_tells = started(processes, write, database_url, people[:WRITERS_A_PROCESS], keys)
    victim, victim_tells = started(processes, write, database_url, people[WRITERS_A_PROCESS:], keys)
    chance = random.Random(number)
    before = told(victim_tells, until=chance.randrange(1, WRITERS_A_PROCESS * JUDGMENTS_A_WRITER // 2))
    time.sleep(chance.uniform(0, 0.005))
    victim.kill()
    from_survivor, from_victim = (b.decode().split() for b in (told(survivor_tells), before + told(victim_tells)))
    victim.join(60)
    survivor.join(60)

    assert victim.exitcode == -signal.SIGKILL
    assert survivor.exitcode == 0
    assert len(from_survivor) == WRITERS_A_PROCESS * JUDGMENTS_A_WRITER
    with sqlite3.connect(tmp_path / "judgments.db") as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
    reopened = Judgments.open(database_url)
    kept = reopened.present()
    uids = [j.uid for j in kept]
    assert len(set(uids)) == len(uids) == reopened.version()
    assert len({(j.annotator.id, j.pair) for j in kept}) == len(uids)
    assert set(from_survivor) | set(from_victim) <= set(uids)
    # What stands there beyond that, each writer had recorded and died before it could tell: at most one judgment.
    assert len(uids) - len(from_survivor) - len(from_victim) <= WRITERS_A_PROCESS
    reopened.judge(people[-1], keys[0], "unsure", source="annotate")
    assert reopened.version() == len(uids) + 1
    reopened.engine.dispose()
