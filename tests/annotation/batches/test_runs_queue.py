"""The queue outside batches, and the pace of a day."""

import pytest

from berdseye.annotation.batches.runs_queue import RunsQueue
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.pace import Pace, first_event_since, midnight, pace
from berdseye.annotation.judgments.recorded import JudgmentDetails
from berdseye.data.errors import BadInputError, UnknownNameError
from tests.annotation.made_pairs import record

PAIRS = {record(n).key: record(n) for n in range(4)}
KEYS = list(PAIRS)


def test_pairs_come_in_order_and_what_is_undone_comes_back_any_number_of_steps(judgments: Judgments) -> None:
    queue, ana, bo = RunsQueue(judgments, PAIRS), judgments.sign_in("Ana"), judgments.sign_in("Bo")
    for number, verdict in enumerate(("supports", "unsure")):
        assert queue.next(ana) == KEYS[number]
        queue.give(ana, KEYS[number], verdict, JudgmentDetails("why", 2.0, [(0, 7)]))
    queue.skip(ana, KEYS[2], JudgmentDetails("no idea"))
    assert queue.done(ana) == (3, 4)
    assert (queue.next(ana), queue.next(bo)) == (KEYS[3], KEYS[0])
    queue.give(ana, KEYS[3], "supports")
    assert queue.next(ana) is None
    for number in (3, 2, 1, 0):
        assert queue.undo(ana) == queue.next(ana) == KEYS[number]
    assert queue.undo(ana) is None
    assert judgments.present() == []
    queue.leave(ana)
    assert queue.next(ana) == KEYS[0]


def test_a_key_hit_twice_counts_once_and_nonsense_is_refused(judgments: Judgments) -> None:
    queue, ana = RunsQueue(judgments, PAIRS), judgments.sign_in("Ana")
    uid = "0" * 36
    assert queue.give(ana, KEYS[0], "supports", uid=uid) == queue.give(ana, KEYS[0], "unsure", uid=uid)
    with pytest.raises(UnknownNameError, match=r"'first'.*supports"):
        queue.give(ana, KEYS[0], "first")
    with pytest.raises(BadInputError, match="not within"):
        queue.give(ana, KEYS[0], "unsure", JudgmentDetails(evidence=[(0, 999)]))
    assert [j.verdict for j in judgments.present()] == ["supports"]


def test_the_pace_of_a_day_is_of_what_stands(judgments: Judgments) -> None:
    queue, ana, bo = RunsQueue(judgments, PAIRS), judgments.sign_in("Ana"), judgments.sign_in("Bo")
    day = midnight()
    assert pace(judgments, ana, day) == Pace(0, None, None)
    assert first_event_since(judgments, day) == 0
    judgments.add_pairs(PAIRS.values())
    judgments.judge(ana, KEYS[3], "supports", source="annotate", seconds=99.0, at="2020-01-01T00:00:00.000000+00:00")
    start = first_event_since(judgments, day)
    for key, seconds in zip(KEYS, (2.0, 4.0, 12.0), strict=False):
        queue.give(ana, key, "supports", JudgmentDetails(seconds=seconds))
    queue.give(bo, KEYS[0], "supports", JudgmentDetails(seconds=50.0))
    assert pace(judgments, ana, day, start) == pace(judgments, ana, day) == Pace(3, 4.0, 600.0)
    queue.undo(ana)
    assert pace(judgments, ana, day, start) == Pace(2, 3.0, 1200.0)
    queue.skip(ana, KEYS[2])
    assert pace(judgments, ana, day, start).pairs == 3
    assert first_event_since(judgments, day) == 2


def test_every_page_counts_in_the_day_and_a_pair_judged_twice_is_one(judgments: Judgments) -> None:
    ana, day = judgments.sign_in("Ana"), midnight()
    judgments.add_pairs(PAIRS.values())
    for source in ("explore", "compare", "search", "passage", "failures", "lab", "recent"):
        judgments.judge(ana, KEYS[0], "supports", source=source, shown=True)
    judgments.judge(ana, KEYS[1], "supports", source="compare", shown=True)
    judgments.judge(ana, KEYS[2], "supports", source="import")
    assert pace(judgments, ana, day) == Pace(2, None, None)
