"""The queue against a simple model of it, whatever people do and in whichever order."""

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sqlalchemy import text

from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import BatchPlan, Item, close_batch, create_batch
from berdseye.annotation.judgments.log import VERDICTS, Judgments, Verdict
from tests.annotation.made_pairs import record

PAIRS, HOLD = 4, 10
who = st.integers(0, 3)
which = st.integers(0, PAIRS - 1)
verdicts = st.sampled_from(VERDICTS)


@cache
def new_database() -> bytes:
    """An empty database of the newest schema, migrated once for all examples."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "j.db"
        Judgments.open(f"sqlite:///{path}").engine.dispose()
        return path.read_bytes()


@dataclass
class Act:
    """An event of the model's log."""

    person: int
    pair: int
    kind: str
    verdict: str = ""
    undoable: bool = True
    undone: bool = False


class QueueMachine(RuleBasedStateMachine):
    """A log as a list, reservations as a list of (person, pair, until) in the order they were made."""

    @initialize(per_pair=st.integers(1, 3), disagreement=st.booleans())
    def begin(self, per_pair: int, disagreement: bool) -> None:
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "j.db"
        path.write_bytes(new_database())
        self.judgments = Judgments.open(f"sqlite:///{path}")
        self.people = [self.judgments.sign_in(f"Person {n}") for n in range(4)]
        self.keys = [record(n).key for n in range(PAIRS)]
        order = "disagreement" if disagreement else "batch"
        plan = BatchPlan("b", per_pair=per_pair, hold=HOLD, order=order)  # type: ignore[arg-type]
        self.batch = create_batch(self.judgments, plan, [Item(record(n)) for n in range(PAIRS)])
        self.time, self.closed = 0.0, False
        self.queue = BatchQueue(self.judgments, self.batch, lambda: self.time)
        self.log: list[Act] = []
        self.held: list[tuple[int, int, float]] = []
        self.extra = [0] * PAIRS

    def teardown(self) -> None:
        if hasattr(self, "judgments"):
            self.judgments.engine.dispose()
            self.folder.cleanup()

    # What should be ------------------------------------------------------------------------------------------------

    def standing(self, person: int, pair: int) -> Act | None:
        acts = [a for a in self.log if (a.person, a.pair) == (person, pair) and not a.undone]
        return acts[-1] if acts else None

    def words(self, pair: int) -> list[str]:
        found = [self.standing(person, pair) for person in range(4)]
        return [a.verdict for a in found if a is not None and a.kind == "judge"]

    def touched(self, person: int, pair: int) -> bool:
        return self.standing(person, pair) is not None

    def others(self, person: int, pair: int) -> int:
        return sum(p != person and q == pair and until > self.time for p, q, until in self.held)

    def seats(self, person: int, pair: int) -> int:
        return self.batch.per_pair - len(self.words(pair)) - self.others(person, pair)

    def needs(self, person: int, pair: int) -> bool:
        return not self.touched(person, pair) and len(self.words(pair)) < self.batch.per_pair

    def expected(self, person: int) -> int | None:
        if self.closed:
            return None
        mine = [q for p, q, until in self.held if p == person and until > self.time and self.needs(person, q)]
        if mine:
            return mine[-1]
        free = [q for q in range(PAIRS) if self.needs(person, q) and self.seats(person, q) > 0]
        if self.batch.order == "disagreement":
            free.sort(key=lambda q: -min(self.words(q).count("supports"), self.words(q).count("does not support")))
        return free[0] if free else None

    def drop(self, person: int, pair: int | None = None) -> None:
        self.held = [
            h for h in self.held if h[2] > self.time and not (h[0] == person and (pair is None or h[1] == pair))
        ]

    # What people do ------------------------------------------------------------------------------------------------

    @rule(person=who)
    def next(self, person: int) -> None:
        expected = self.expected(person)
        found = self.queue.next(self.people[person])
        assert found == (None if expected is None else self.keys[expected])
        if expected is not None:
            self.drop(person, expected)
            self.held.append((person, expected, self.time + HOLD))

    @rule(person=who, pair=which, verdict=verdicts, asked=st.booleans())
    def give(self, person: int, pair: int, verdict: Verdict, asked: bool) -> None:
        expected = self.expected(person) if asked else None
        if expected is not None:
            self.next(person)
            pair = expected
        late = self.seats(person, pair) < 1 and not self.touched(person, pair)
        assert self.queue.give(self.people[person], self.keys[pair], verdict).late == late
        self.log.append(Act(person, pair, "judge", verdict))
        self.drop(person, pair)
        assert expected is None or not late

    @rule(person=who)
    def skip(self, person: int) -> None:
        pair = self.expected(person)
        if pair is not None:
            self.next(person)
            self.queue.skip(self.people[person], self.keys[pair])
            self.log.append(Act(person, pair, "skip"))
            self.drop(person, pair)

    @rule(person=who)
    def undo(self, person: int) -> None:
        mine = [a for a in self.log if a.person == person and a.undoable and not a.undone]
        found = self.queue.undo(self.people[person])
        assert found == (self.keys[mine[-1].pair] if mine else None)
        if mine:
            mine[-1].undone = True
            if self.seats(person, mine[-1].pair) > 0 and not self.closed:
                self.drop(person)
                self.held.append((person, mine[-1].pair, self.time + HOLD))

    @rule(person=who)
    def leave(self, person: int) -> None:
        self.queue.leave(self.people[person])
        self.drop(person)

    @rule(seconds=st.sampled_from([1.0, HOLD - 1.0, float(HOLD)]))
    def wait(self, seconds: float) -> None:
        self.time += seconds

    @rule(person=who, pair=which, verdict=verdicts)
    def judge_elsewhere(self, person: int, pair: int, verdict: Verdict) -> None:
        self.judgments.judge(self.people[person], self.keys[pair], verdict, source="import")
        self.log.append(Act(person, pair, "judge", verdict, undoable=False))

    @precondition(lambda self: hasattr(self, "batch"))
    @rule()
    def close_or_open(self) -> None:
        close_batch(self.judgments, self.batch, reopen=self.closed)
        self.closed = not self.closed

    @invariant()
    def counts_follow_the_log(self) -> None:
        if not hasattr(self, "batch"):
            return
        with self.judgments.reading() as connection:
            rows = connection.execute(text("SELECT judged, split FROM batch_items ORDER BY place")).all()
        for pair, (judged, split) in enumerate(rows):
            words = self.words(pair)
            assert judged == len(words)
            assert -split == min(words.count("supports"), words.count("does not support"))


TestQueueMachine = QueueMachine.TestCase
TestQueueMachine.settings = settings(
    max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)
