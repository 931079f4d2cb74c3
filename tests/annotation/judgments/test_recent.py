"""A person's own latest judgments, and a change of one of them."""

import pytest

from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.recent import change_judgment, last_judgments, own_judgments
from berdseye.annotation.judgments.recorded import JudgmentDetails
from berdseye.data.errors import UnknownNameError
from tests.annotation.made_pairs import record


def test_the_latest_in_force_come_first_and_only_one_s_own(judgments: Judgments) -> None:
    ana, bo = judgments.sign_in("Ana"), judgments.sign_in("Bo")
    keys = judgments.add_pairs(record(n) for n in range(5))
    for key in keys[:3]:
        judgments.judge(ana, key, "supports", source="explore", shown=True)
    judgments.judge(ana, keys[0], "unsure", source="compare", shown=True)
    judgments.judge(bo, keys[3], "supports", source="annotate")
    judgments.skip(ana, keys[2], source="annotate")
    judgments.judge(ana, keys[4], "supports", source="annotate")
    judgments.undo(ana)
    found = last_judgments(judgments, ana, 10)
    assert [(own.pair, own.verdict, own.source) for own in found] == [
        (keys[0], "unsure", "compare"),
        (keys[1], "supports", "explore"),
    ]
    assert found[0].record == record(0)
    assert [own.pair for own in last_judgments(judgments, ana, 1)] == [keys[0]]
    assert set(own_judgments(judgments, ana, keys)) == {keys[0], keys[1]}


def test_a_change_is_a_new_event_that_counts_where_the_former_did(judgments: Judgments) -> None:
    batch = create_batch(judgments, BatchPlan("b"), [Item(record(n)) for n in range(2)])
    queue, ana = BatchQueue(judgments, batch), judgments.sign_in("Ana")
    first = queue.next(ana)
    assert first is not None
    queue.give(ana, first, "supports", JudgmentDetails("why", 1.5, [(0, 3)]))
    [own] = last_judgments(judgments, ana, 10)
    assert change_judgment(judgments, ana, own, "supports") is None
    event = change_judgment(judgments, ana, own, "unsure")
    *_, last = judgments.history(first)
    assert (last["id"], last["verdict"], last["source"], last["comment"]) == (event, "unsure", "recent", "why")
    assert (last["shown"], last["batch"], last["evidence"]) == (False, batch.id, None)
    assert queue.done(ana) == (1, 2), "a change of a blind judgment is blind, so that its pair is not asked again"
    assert queue.next(ana) != first
    judgments.undo(ana)
    assert own_judgments(judgments, ana, [first])[first].verdict == "supports"
    with pytest.raises(UnknownNameError, match=r"'first'.*supports"):
        change_judgment(judgments, ana, own, "first")


def test_a_preference_stays_one(judgments: Judgments) -> None:
    ana = judgments.sign_in("Ana")
    [key] = judgments.add_pairs([record(0)])
    judgments.append(ana, key, kind="prefer", verdict="first", source="annotate")
    [own] = last_judgments(judgments, ana, 10)
    change_judgment(judgments, ana, own, "neither")
    assert [(e["kind"], e["verdict"]) for e in judgments.history(key)] == [("prefer", "first"), ("prefer", "neither")]
