"""Milliseconds of a judgment while eight people write, of reading 100,000 of them, and seconds of their export."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from sqlalchemy import insert

from berdseye.annotation.judgments.log import VERDICTS, Annotator, Judgments, PairRecord
from berdseye.annotation.judgments.recorded import last_undone
from berdseye.annotation.judgments.schema import events
from berdseye.annotation.training_sets.labelling import training_data
from berdseye.data.files.tables import write_table
from berdseye.evaluation.agreement.labels import stored_labels

_WRITERS, _EACH = 8, 250
_WRITE_BAR, _READ_BAR, _EXPORT_BAR, _UNDO_BAR = 250.0, 2000.0, 5000.0, 50.0


def records(count: int) -> list[PairRecord]:
    text = "Some twelve words of text that stand for a real passage here. " * 8
    return [
        PairRecord("bench", f"q{n % 50}", "A question?", f"Perspective {n}.", None, "bench", f"Title {n}", text)
        for n in range(count)
    ]


def milliseconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return 1000 * (time.perf_counter() - began)


def told(what: str, taken: list[float]) -> tuple[float, float]:
    median, p95 = np.percentile(taken, (50, 95)).tolist()
    print(f"{what}: median {median:.1f} ms, 95% within {p95:.1f}, longest {max(taken):.1f} ({len(taken)} times)")
    return median, p95


@pytest.mark.benchmark
def test_judging_while_eight_people_write(tmp_path: Path) -> None:
    judgments = Judgments.open(f"sqlite:///{tmp_path / 'judgments.db'}")
    keys = judgments.add_pairs(records(_EACH))

    def write(person: Annotator) -> list[float]:
        judge = partial(judgments.judge, person, verdict="supports", source="annotate")
        return [milliseconds(partial(judge, key)) for key in keys]

    people = [judgments.sign_in(f"Person {n}") for n in range(_WRITERS)]
    began = time.perf_counter()
    with ThreadPoolExecutor(_WRITERS) as threads:
        taken = [t for times in threads.map(write, people) for t in times]
    print(f"\n{len(taken)} judgments by {_WRITERS} writers: {len(taken) / (time.perf_counter() - began):.0f} a second")
    assert judgments.version() == _WRITERS * _EACH
    assert told("judge()", taken)[1] < _WRITE_BAR
    judgments.engine.dispose()


@pytest.fixture(scope="module", params=[(50, 2000), (2, 50_000)], ids=["50 a pair", "2 a pair"])
def many(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judgments]:
    """100,000 judgments: each of the people on each of the pairs."""
    count, pairs = request.param
    judgments = Judgments.open(f"sqlite:///{tmp_path_factory.mktemp('many') / 'judgments.db'}")
    people = [judgments.sign_in(f"Person {n}") for n in range(count)]
    rows = [
        {"uid": str(uuid4()), "at": "2026-01-01T00:00:00.000000+00:00", "annotator_id": person.id, "pair": key,
         "kind": "judge", "verdict": VERDICTS[(n + person.id) % 3], "comment": "", "source": "annotate"}
        for n, key in enumerate(judgments.add_pairs(records(pairs))) for person in people
    ]  # fmt: skip
    with judgments.engine.begin() as connection:
        connection.execute(insert(events), rows)
    print(f"\n{judgments.version():,} judgments of {pairs:,} pairs by {count} people")
    yield judgments
    judgments.engine.dispose()


@pytest.mark.benchmark
def test_reading_a_hundred_thousand_judgments(many: Judgments) -> None:
    person, keys = many.annotator("Person 0"), list(many.pair_records())
    assert len(many.present()) == len(many.frame()) == 100_000
    for what, act, times in (
        ("present(), all", lambda: many.present(), 5),
        ("present() of 15 pairs", lambda: many.present(keys[:15]), 50),
        ("frame()", lambda: many.frame(), 5),
        ("labels for agreement", lambda: stored_labels(many), 5),
        ("touched()", lambda: many.judged_pairs(person), 20),
        ("version()", lambda: many.version(), 50),
        ("judge()", lambda: many.judge(person, keys[0], "unsure", source="annotate"), 50),
    ):
        assert told(what, [milliseconds(act) for _ in range(times)])[0] < _READ_BAR


@pytest.mark.benchmark
def test_undoing_among_a_hundred_thousand_judgments(many: Judgments) -> None:
    """The person has 2,000 judgments, or 50,000."""
    person = many.annotator("Person 0")
    for what, act in (("undo()", lambda: many.undo(person)), ("last_undone()", lambda: last_undone(many, person))):
        assert told(what, [milliseconds(act) for _ in range(50)])[0] < _UNDO_BAR


@pytest.mark.benchmark
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
@pytest.mark.parametrize("what", ["judgments", "training"])
def test_exporting_a_hundred_thousand_judgments(many: Judgments, tmp_path: Path, what: str, ending: str) -> None:
    path = tmp_path / f"{what}{ending}"

    def export() -> None:
        frame = many.frame()
        write_table(frame if what == "judgments" else training_data(frame), path)

    taken = [milliseconds(export) for _ in range(3)]
    assert told(f"export of {what} as {ending}, {path.stat().st_size / 1e6:.0f} MB", taken)[0] < _EXPORT_BAR
