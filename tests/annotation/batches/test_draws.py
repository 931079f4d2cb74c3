"""Orders that are samplings: each draw has the probability that is stored with it, whatever people do between two draws."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from berdseye.annotation.batches.draws import FLOOR, Unit, places, unit_weights
from berdseye.annotation.batches.progress import batch_frame
from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import Batch, BatchPlan, Item, create_batch, reorder_batch
from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import Annotator, Judgments, now
from berdseye.annotation.judgments.recent import change_judgment, own_judgments
from berdseye.annotation.label_studio.exchange_state import append_events
from tests.annotation.made_pairs import record

CHANCES = (0.02, 0.3, 0.5, 0.98)


def made(judgments: Judgments, number: int = 4, **plan: Any) -> Batch:
    items = [Item(record(n), probability=CHANCES[n % 4], value=float(n)) for n in range(number)]
    return create_batch(judgments, BatchPlan(**{"name": "b", "order": "uncertainty"} | plan), items)


def judged_by(judgments: Judgments, batch: Batch, person: Annotator, most: int = 100) -> list[str]:
    """The pairs that a person judges in turn."""
    queue, seen = BatchQueue(judgments, batch), []
    while len(seen) < most and (key := queue.next(person)) is not None:
        queue.give(person, key, "supports")
        seen.append(key)
    return seen


def propensities(judgments: Judgments, batch: Batch) -> dict[str, float | None]:
    with judgments.reading() as connection:
        rows = connection.execute(text("SELECT pair, propensity FROM batch_items WHERE batch_id = :b"), {"b": batch.id})
        return {row.pair: row.propensity for row in rows}


def test_weights_keep_a_floor_and_follow_the_root_of_the_value() -> None:
    weights = unit_weights(["a", "b", "b", "c"], [0.0, 0.25, 0.25, 1.0])
    assert weights == pytest.approx({"a": FLOOR, "b": FLOOR + (1 - FLOOR) * 0.5, "c": 1.0})
    assert set(unit_weights(["a", "b"], [0.0, 0.0]).values()) == {1.0}


def test_units_are_drawn_as_often_as_their_weights_say() -> None:
    """20,000 seeds: the first draw by weight, and the second by weight among the others."""
    records, values = [record(n) for n in range(4)], [0.0, 0.25, 0.5, 1.0]
    weights = [FLOOR + (1 - FLOOR) * value**0.5 for value in values]
    first: Counter[int] = Counter()
    second: Counter[tuple[int, int]] = Counter()
    for seed in range(20_000):
        arrivals = [place.priority for place in places(records, values, "pair", seed)]
        order = sorted(range(4), key=arrivals.__getitem__)
        first[order[0]] += 1
        second[order[0], order[1]] += 1
    for one in range(4):
        chance = weights[one] / sum(weights)
        assert first[one] / 20_000 == pytest.approx(chance, abs=4 * (chance * (1 - chance) / 20_000) ** 0.5)
        for other in set(range(4)) - {one}:
            both = chance * weights[other] / (sum(weights) - weights[one])
            assert second[one, other] / 20_000 == pytest.approx(both, abs=4 * (both / 20_000) ** 0.5)


def test_each_judgment_keeps_the_probability_of_its_draw(judgments: Judgments) -> None:
    batch, ana = made(judgments), judgments.sign_in("Ana")
    weights = unit_weights(range(4), [0.04, 0.6, 1.0, 0.04])  # twice the chance of an error
    left = {record(n).key: weights[n] for n in range(4)}
    for key in judged_by(judgments, batch, ana):
        [event] = judgments.history(key)
        assert event["propensity"] == pytest.approx(left[key] / sum(left.values()))
        del left[key]
    assert left == {}
    exported = batch_frame(judgments, batch)
    assert exported["propensity"].tolist() == [propensities(judgments, batch)[key] for key in exported["pair"]]
    assert judgments.frame()["propensity"].notna().all()


@pytest.mark.parametrize("order", ["batch", "disagreement"])
def test_other_orders_have_no_known_probability(judgments: Judgments, order: str) -> None:
    batch, ana = made(judgments, order=order), judgments.sign_in("Ana")
    assert batch.drawn_by is None
    assert judged_by(judgments, batch, ana) == [record(n).key for n in range(4)]
    assert set(propensities(judgments, batch).values()) == {None}
    assert judgments.frame()["propensity"].isna().all()


@pytest.mark.parametrize(("unit", "groups"), [("question", 2), ("passage", 4), ("pair", 8)])
def test_what_is_drawn_as_a_whole_comes_together(judgments: Judgments, unit: Unit, groups: int) -> None:
    records = [
        replace(record(number % 4, perspective=f"View {number // 4}."), question_id=f"q{number % 2}", question=f"Q{number % 2}?")
        for number in range(8)
    ]  # fmt: skip
    batch = create_batch(judgments, BatchPlan("b", order="random", drawn_by=unit, seed=3), [Item(r) for r in records])
    by_key = {one.key: one for one in records}
    names = {"question": lambda r: r.question_id, "passage": lambda r: r.passage, "pair": lambda r: r.key}
    served = [names[unit](by_key[key]) for key in judged_by(judgments, batch, judgments.sign_in("Ana"))]
    runs = [served[place] for place in range(8) if place == 0 or served[place] != served[place - 1]]
    assert len(runs) == len(set(runs)) == groups
    chances = sorted({float(chance or 0) for chance in propensities(judgments, batch).values()})
    assert chances == pytest.approx([1 / left for left in range(groups, 0, -1)])


def test_two_people_draw_from_one_urn(judgments: Judgments) -> None:
    """Nobody's draw depends on who judges; a pair that its person cannot judge waits for the others, drawn."""
    ana, bo = judgments.sign_in("Ana"), judgments.sign_in("Bo")
    alone = [place.priority for place in places([record(n) for n in range(4)], [1.0] * 4, "pair", 0, "b")]
    first, second, *_ = (record(n).key for n in sorted(range(4), key=alone.__getitem__))
    batch = made(judgments, order="random")
    judgments.skip(ana, first, source="search")
    queue = BatchQueue(judgments, batch)
    assert queue.next(ana) == second
    assert propensities(judgments, batch)[first] == 0.25
    assert propensities(judgments, batch)[second] == pytest.approx(1 / 3)
    assert queue.next(bo) == first
    assert queue.next(ana) == second, "asking again draws nothing"
    assert sum(chance is not None for chance in propensities(judgments, batch).values()) == 2


def test_what_is_judged_elsewhere_leaves_without_a_probability(judgments: Judgments) -> None:
    ana = judgments.sign_in("Ana")
    batch = made(judgments, order="random")
    judgments.judge(ana, record(2).key, "supports", source="import")
    served = judged_by(judgments, batch, ana)
    assert len(served) == 3
    chances = propensities(judgments, batch)
    assert chances[record(2).key] is None
    assert [chances[key] for key in served] == pytest.approx([1 / 3, 1 / 2, 1])


def test_calibration_pairs_are_drawn_by_nobody(judgments: Judgments) -> None:
    batch = made(judgments, people=("Ana", "Bo"), calibration=1)
    ana = batch.people[0]
    served = judged_by(judgments, batch, ana)
    assert len(served) == 4
    chances = [propensities(judgments, batch)[key] for key in served]
    assert chances[0] is None
    assert None not in chances[1:]


def test_new_weights_change_only_the_draws_to_come() -> None:
    """100 batches: after the first draw, the weights change; the second draw has the probability that is stored."""
    judgments = Judgments.open("sqlite://")
    ana = judgments.sign_in("Ana")
    others: Counter[str] = Counter()
    expected: Counter[str] = Counter()
    for seed in range(100):
        batch = made(judgments, name=f"b{seed}", order="decision", seed=seed, task="prefer")
        queue = BatchQueue(judgments, batch)
        first = queue.next(ana)
        assert first is not None
        judgments.skip(ana, first, source="search")  # the next one must be drawn
        rest = [key for key in propensities(judgments, batch) if key != first]
        values = {key: float(place**2) for place, key in enumerate(sorted(rest))}
        reorder_batch(judgments, batch, values)
        second = queue.next(ana)
        assert second is not None
        weights = unit_weights(list(values), list(values.values()))
        assert propensities(judgments, batch)[second] == pytest.approx(weights[second] / sum(weights.values()))
        others[second] += 1
        expected.update({key: weight / sum(weights.values()) for key, weight in weights.items()})  # type: ignore[arg-type]
        judgments.undo(ana)
        queue.leave(ana)
    for key, count in expected.items():
        assert others[key] == pytest.approx(count, abs=4 * count**0.5)


def test_a_changed_verdict_keeps_its_propensity(judgments: Judgments) -> None:
    batch, ana = made(judgments), judgments.sign_in("Ana")
    [key] = judged_by(judgments, batch, ana, 1)
    change_judgment(judgments, ana, own_judgments(judgments, ana, [key])[key], "does not support")
    before, after = judgments.history(key)
    assert before["propensity"] == after["propensity"] is not None


def test_events_from_label_studio_have_the_propensity_of_what_the_batch_drew(judgments: Judgments) -> None:
    batch, ana = made(judgments, order="random"), judgments.sign_in("Ana")
    [drawn] = judged_by(judgments, batch, ana, 1)
    other = next(key for key, chance in propensities(judgments, batch).items() if chance is None)
    bo = judgments.sign_in("Bo")
    rows = [
        {"uid": f"u{place}", "at": now(), "annotator_id": bo.id, "pair": key, "kind": "judge", "verdict": "supports",
         "comment": "", "source": "label-studio", "batch": of}
        for place, (key, of) in enumerate([(drawn, batch.id), (other, batch.id), (other, None)])
    ]  # fmt: skip
    with writing(judgments.engine) as connection:
        append_events(connection, rows)
    assert [event["propensity"] for event in judgments.history(drawn)] == [0.25, 0.25]
    assert [event["propensity"] for event in judgments.history(other)] == [None, None]


@pytest.mark.postgres
def test_draws_and_new_weights_on_postgresql(postgres_url: str) -> None:
    judgments = Judgments.open(postgres_url)
    batch, ana = made(judgments, order="decision"), judgments.sign_in("Ana")
    [first] = judged_by(judgments, batch, ana, 1)
    reorder_batch(judgments, batch, {record(n).key: 1.0 for n in range(4)})
    rest = judged_by(judgments, batch, ana)
    chances = propensities(judgments, batch)
    assert chances[first] is not None
    assert [chances[key] for key in rest] == pytest.approx([1 / 3, 1 / 2, 1])
    judgments.engine.dispose()
