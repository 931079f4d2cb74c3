"""Adjudication: what is disputed, what a decision changes, and that the trail stays."""

import pytest

from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.judgments.adjudication import (
    adjudicate,
    adjudicated_labels,
    decisions,
    disputes,
    majority_labels,
    take_back,
    trail,
)
from berdseye.annotation.judgments.log import VERDICTS, Judgments
from berdseye.annotation.judgments.recorded import JudgmentDetails
from berdseye.data.errors import BadInputError, UnknownNameError
from tests.annotation.made_pairs import record

YES, NO, UNSURE = VERDICTS


@pytest.fixture
def keys(judgments: Judgments) -> list[str]:
    """Four pairs: disputed, agreed, one unsure against one sure, and disputed by a made-up person alone."""
    found = judgments.add_pairs(record(n) for n in range(4))
    ana, bo = judgments.sign_in("Ana"), judgments.sign_in("Bo")
    noor = judgments.sign_in("Noor", demo=True)
    for key, one, other in zip(found, (YES, YES, YES, YES), (NO, YES, UNSURE, YES), strict=True):
        judgments.judge(ana, key, one, source="annotate", comment="because")
        judgments.judge(bo, key, other, source="annotate")
    judgments.judge(noor, found[3], NO, source="demo")
    return found


def test_disputed_is_where_two_who_are_sure_differ(judgments: Judgments, keys: list[str]) -> None:
    [found] = disputes(judgments)
    assert found.key == keys[0]
    assert found.record == record(0)
    assert [(v.annotator.name, v.verdict, v.comment) for v in found.votes] == [("Ana", YES, "because"), ("Bo", NO, "")]
    assert [d.key for d in disputes(judgments, unsure=True)] == [keys[0], keys[2]]


def test_a_decision_is_gold_and_the_votes_stay(judgments: Judgments, keys: list[str]) -> None:
    ana, judge = judgments.sign_in("Ana"), judgments.sign_in("Judge")
    before = judgments.present()
    assert keys[0] not in majority_labels(before)
    adjudicate(judgments, judge, keys[0], NO, comment="see the last line")
    assert disputes(judgments) == []
    [decided] = disputes(judgments, decided=True)
    assert decided.decision is not None
    assert decided.decision[2:] == ("Judge", NO, "see the last line")
    assert judgments.present() == before
    said = majority_labels(before, first=ana.id, gold=adjudicated_labels(judgments))
    assert said[keys[0]] is False, "the decision comes before one's own word"
    assert [e["kind"] for e in judgments.history(keys[0])] == ["judge", "judge", "adjudicate"]


def test_an_adjudicator_keeps_their_own_vote(judgments: Judgments, keys: list[str]) -> None:
    ana = judgments.sign_in("Ana")
    adjudicate(judgments, ana, keys[0], NO)
    assert [v.verdict for v in judgments.present([keys[0]])] == [YES, NO]
    judgments.judge(ana, keys[0], UNSURE, source="annotate")
    assert adjudicated_labels(judgments) == {keys[0]: NO}
    assert judgments.undo(ana) == keys[0]
    assert [v.verdict for v in judgments.present([keys[0]])] == [YES, NO]


def test_an_adjudicator_who_is_unsure_says_that_nobody_can_tell(judgments: Judgments, keys: list[str]) -> None:
    judge = judgments.sign_in("Judge")
    adjudicate(judgments, judge, keys[1], UNSURE)
    assert keys[1] in majority_labels(judgments.present())
    assert keys[1] not in majority_labels(judgments.present(), gold=adjudicated_labels(judgments))


def test_decisions_are_taken_back_one_by_one(judgments: Judgments, keys: list[str]) -> None:
    one, other = judgments.sign_in("One"), judgments.sign_in("Other")
    adjudicate(judgments, one, keys[0], YES)
    adjudicate(judgments, other, keys[0], NO)
    assert adjudicated_labels(judgments, keys) == {keys[0]: NO}
    assert take_back(judgments, one, keys[0])
    assert decisions(judgments)[keys[0]].by == "One"
    assert take_back(judgments, one, keys[0])
    assert not take_back(judgments, one, keys[0])
    assert [d.key for d in disputes(judgments)] == [keys[0]]
    kinds = [e["kind"] for e in judgments.history(keys[0])]
    assert kinds == ["judge", "judge", "adjudicate", "adjudicate", "undo", "undo"]


def test_a_decision_given_twice_with_one_uid_is_one(judgments: Judgments, keys: list[str]) -> None:
    judge = judgments.sign_in("Judge")
    uid = "0d3a6d5e-58f3-4d0c-9a1e-6f4f2a1b7c11"
    assert adjudicate(judgments, judge, keys[0], YES, uid=uid) == adjudicate(judgments, judge, keys[0], YES, uid=uid)


def test_what_cannot_be_decided_is_refused(judgments: Judgments, keys: list[str]) -> None:
    with pytest.raises(UnknownNameError, match=r"'maybe'.*supports"):
        adjudicate(judgments, judgments.sign_in("Judge"), keys[0], "maybe")
    with pytest.raises(BadInputError, match="simulated annotator"):
        adjudicate(judgments, judgments.sign_in("Noor"), keys[0], YES)
    with pytest.raises(BadInputError, match="not in this judgments database"):
        adjudicate(judgments, judgments.sign_in("Judge"), "0" * 32, YES)


def test_a_batch_shows_its_own_disputes(judgments: Judgments) -> None:
    batch = create_batch(judgments, BatchPlan("b", per_pair=2, people=("Ana", "Bo")), [Item(record(n)) for n in (2, 1)])
    cy = judgments.sign_in("Cy")
    queue = BatchQueue(judgments, batch)
    for person, said in zip(batch.people, ((YES, YES), (NO, YES)), strict=True):
        for verdict in said:
            key = queue.next(person)
            assert key is not None
            queue.give(person, key, verdict)
    judgments.judge(cy, record(1).key, NO, source="explore")
    assert [d.key for d in disputes(judgments, batch)] == [record(2).key]
    assert [v.annotator.name for v in disputes(judgments, batch)[0].votes] == ["Ana", "Bo"]
    assert {d.key for d in disputes(judgments)} == {record(1).key, record(2).key}


def test_preferences_are_adjudicated_and_are_no_gold_words(judgments: Judgments) -> None:
    batch = create_batch(judgments, BatchPlan("b", task="prefer", per_pair=2), [Item(record(n)) for n in range(2)])
    queue = BatchQueue(judgments, batch)
    for name, said in (("Ana", ("first", "first")), ("Bo", ("second", "neither"))):
        for number, verdict in enumerate(said):
            queue.give(judgments.sign_in(name), record(number).key, verdict, JudgmentDetails("so", evidence=[(0, 7)]))
    [found] = disputes(judgments, batch)
    assert (found.key, found.task) == (record(0).key, "prefer")
    assert [(v.annotator.name, v.verdict, v.evidence) for v in found.votes] == [
        ("Ana", "first", ((0, 7),)), ("Bo", "second", ((0, 7),)),
    ]  # fmt: skip
    assert [d.key for d in disputes(judgments, unsure=True)] == [record(0).key, record(1).key]
    judge = judgments.sign_in("Judge")
    with pytest.raises(UnknownNameError, match=f"'{YES}'.*second"):
        adjudicate(judgments, judge, found.key, YES, task="prefer")
    adjudicate(judgments, judge, found.key, "second", task="prefer")
    assert disputes(judgments, batch) == []
    assert decisions(judgments)[found.key].verdict == "second"
    assert adjudicated_labels(judgments) == {}


def test_the_trail_has_every_step_and_what_was_taken_back(judgments: Judgments, keys: list[str]) -> None:
    ana, judge = judgments.sign_in("Ana"), judgments.sign_in("Judge")
    adjudicate(judgments, judge, keys[0], NO)
    take_back(judgments, judge, keys[0])
    judgments.flag(ana, keys[0], source="annotate", comment="two in one")
    adjudicate(judgments, judge, keys[0], YES, comment="read again")
    steps = [(s.annotator.name, s.kind, s.verdict, s.comment, s.undone) for s in trail(judgments, keys[0])]
    assert steps == [
        ("Ana", "judge", YES, "because", False),
        ("Bo", "judge", NO, "", False),
        ("Judge", "adjudicate", NO, "", True),
        ("Ana", "flag", "", "two in one", False),
        ("Judge", "adjudicate", YES, "read again", False),
    ]
