"""The queue of a batch: who gets what next, and that no pair is out to more people than were asked for."""

import pytest

from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import Batch, BatchPlan, Item, close_batch, create_batch
from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.judgments.recorded import JudgmentDetails
from berdseye.data.errors import BadInputError, UnknownNameError
from tests.annotation.made_pairs import record


class Clock:
    """A time that only moves when told."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def made(judgments: Judgments, number: int = 3, **plan: object) -> Batch:
    items = [Item(record(n), probability=n / max(1, number - 1)) for n in range(number)]
    return create_batch(judgments, BatchPlan("b", **plan), items)  # type: ignore[arg-type]


def people(judgments: Judgments, *names: str) -> list[Annotator]:
    return [judgments.sign_in(name) for name in names]


def keys(number: int) -> list[str]:
    return [record(n).key for n in range(number)]


def test_each_person_goes_through_the_pairs_in_order(judgments: Judgments) -> None:
    queue = BatchQueue(judgments, made(judgments))
    [ana] = people(judgments, "Ana")
    seen = []
    while (key := queue.next(ana)) is not None:
        assert queue.next(ana) == key, "asking again gives the same pair"
        queue.give(ana, key, "supports", JudgmentDetails("why", 1.5))
        seen.append(key)
    assert seen == keys(3)
    assert queue.done(ana) == (3, 3)
    held = judgments.history(seen[0])
    assert [(e["kind"], e["verdict"], e["comment"], e["seconds"], e["shown"], e["batch"]) for e in held] == [
        ("judge", "supports", "why", 1.5, False, queue.batch.id)
    ]


def test_the_pair_after_is_foreseen_without_being_reserved(judgments: Judgments) -> None:
    queue = BatchQueue(judgments, made(judgments, 4))
    ana, bo = people(judgments, "Ana", "Bo")
    first, second, third, fourth = keys(4)
    assert queue.next(ana) == first
    assert queue.after(ana, first) == second
    assert queue.next(bo) == second
    assert queue.after(ana, first) == third, "the second is out to Bo"
    queue.give(ana, first, "supports")
    assert queue.next(ana) == third
    queue.skip(ana, third)
    assert queue.next(ana) == fourth
    assert queue.after(ana, fourth) is None


def test_a_pair_is_out_to_as_many_people_as_asked_for(judgments: Judgments) -> None:
    queue = BatchQueue(judgments, made(judgments, 2, per_pair=2))
    ana, bo, cy, di, ed = people(judgments, "Ana", "Bo", "Cy", "Di", "Ed")
    first, second = keys(2)
    assert [queue.next(p) for p in (ana, bo, cy, di, ed)] == [first, first, second, second, None]
    queue.give(ana, first, "supports")
    assert queue.next(ana) is None, "the second pair is out to two people"
    assert queue.next(ed) is None
    queue.skip(cy, second)
    assert queue.next(ed) == second
    queue.give(bo, first, "unsure")
    queue.undo(bo)
    assert queue.next(bo) == first


def test_who_leaves_frees_the_pair_at_once_or_when_the_time_is_up(judgments: Judgments, clock: Clock) -> None:
    queue = BatchQueue(judgments, made(judgments, 1, hold=60), clock)
    ana, bo = people(judgments, "Ana", "Bo")
    [key] = keys(1)
    assert queue.next(ana) == key
    assert queue.next(bo) is None
    queue.leave(ana)
    assert queue.next(bo) == key
    clock.seconds += 59
    assert queue.next(ana) is None
    clock.seconds += 1
    assert queue.next(ana) == key
    # Bo comes back too late: the word is kept, and said to be one too many once Ana has judged.
    assert queue.give(ana, key, "supports").late is False
    late = queue.give(bo, key, "does not support")
    assert late.late
    assert [j.verdict for j in judgments.present()] == ["supports", "does not support"]


def test_the_same_uid_is_recorded_once_and_a_change_is_not_late(judgments: Judgments) -> None:
    queue = BatchQueue(judgments, made(judgments, 1))
    [ana] = people(judgments, "Ana")
    key = queue.next(ana)
    assert key is not None
    uid = "6f1f2a52-9b0e-4a52-8f2d-1d2f4c1c3a10"
    once = queue.give(ana, key, "supports", uid=uid)
    assert queue.give(ana, key, "unsure", uid=uid) == once
    assert not queue.give(ana, key, "unsure").late
    assert [j.verdict for j in judgments.present()] == ["unsure"]


def test_calibration_pairs_come_first_and_go_to_everyone(judgments: Judgments) -> None:
    batch = made(judgments, 6, people=("Ana", "Bo", "Cy"), calibration=2, seed=4)
    queue = BatchQueue(judgments, batch)
    seen: dict[str, list[str]] = {}
    for person in batch.people:
        while (key := queue.next(person)) is not None:
            queue.give(person, key, "supports")
            seen.setdefault(person.name, []).append(key)
    shared = set(seen["Ana"][:2])
    assert set(seen["Bo"]) == set(seen["Cy"]) == shared
    assert set(seen["Ana"]) == set(keys(6))
    with pytest.raises(BadInputError, match="Di is not among"):
        queue.next(judgments.sign_in("Di"))


def test_pairs_that_people_disagree_on_come_first(judgments: Judgments) -> None:
    queue = BatchQueue(judgments, made(judgments, 4, order="disagreement", per_pair=3))
    ana, bo, cy = people(judgments, "Ana", "Bo", "Cy")
    for person, said in ((ana, "ssss"), (bo, "ssns")):
        for letter in said:
            key = queue.next(person)
            assert key is not None
            queue.give(person, key, "supports" if letter == "s" else "does not support")
    assert queue.next(cy) == keys(4)[2]
    # Bo thinks again, on another page: the order follows.
    judgments.judge(bo, keys(4)[2], "supports", source="import")
    judgments.judge(bo, keys(4)[1], "does not support", source="import")
    queue.leave(cy)
    assert queue.next(cy) == keys(4)[1]


def test_words_given_elsewhere_count_unless_they_were_not_blind(judgments: Judgments) -> None:
    ana, bo, cy = people(judgments, "Ana", "Bo", "Cy")
    one, two, three = judgments.add_pairs(record(n) for n in range(3))
    judgments.judge(ana, one, "supports", source="import")
    judgments.judge(ana, two, "supports", source="explore", shown=True)
    demo = judgments.sign_in("Noor", demo=True)
    judgments.judge(demo, three, "supports", source="demo")
    queue = BatchQueue(judgments, made(judgments))
    assert queue.next(bo) == two, "the first pair has its word"
    assert queue.next(ana) == three
    judgments.judge(cy, three, "unsure", source="label-studio")
    assert queue.next(ana) is None, "another page was faster"
    queue.leave(bo)
    assert queue.next(ana) == two, "what was said with the label in view is asked again"


def test_undo_goes_back_any_number_of_steps(judgments: Judgments) -> None:
    queue = BatchQueue(judgments, made(judgments))
    ana, bo = people(judgments, "Ana", "Bo")
    for _ in range(3):
        key = queue.next(ana)
        assert key is not None
        queue.give(ana, key, "supports")
    assert queue.next(bo) is None
    for key in reversed(keys(3)):
        assert queue.undo(ana) == key
        assert queue.next(ana) == key
    assert queue.undo(ana) is None
    assert queue.next(bo) == keys(3)[1], "the first is Ana's again, the others are free"


def test_a_closed_batch_hands_out_nothing_and_keeps_late_words(judgments: Judgments) -> None:
    batch = made(judgments)
    queue = BatchQueue(judgments, batch)
    [ana] = people(judgments, "Ana")
    key = queue.next(ana)
    assert key is not None
    assert not close_batch(judgments, batch).is_open
    assert queue.next(ana) is None
    queue.give(ana, key, "supports")
    assert len(judgments.present()) == 1
    close_batch(judgments, batch, reopen=True)
    assert queue.next(ana) == keys(3)[1]


def test_preferences_are_words_of_their_own(judgments: Judgments) -> None:
    queue = BatchQueue(judgments, made(judgments, 1, task="prefer"))
    [ana] = people(judgments, "Ana")
    key = queue.next(ana)
    assert key is not None
    with pytest.raises(UnknownNameError, match="first"):
        queue.give(ana, key, "supports")
    queue.give(ana, key, "first")
    assert queue.next(ana) is None
    assert judgments.present() == [], "no detector is measured or trained by what people like"


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"per_pair": 0}, "between 1 and 1000, got 0"),
        ({"per_pair": 3, "people": ("Ana", "ana", "Bo")}, "names only 2"),
        ({"calibration": 4, "people": ("Ana",)}, "between 0 and"),
        ({"calibration": 1}, "Name the people"),
        ({"task": "verify"}, "decisions to show"),
        ({"hold": 0}, "at least 1 second"),
        ({"order": "alphabetical"}, "Unknown order"),
        ({"order": "random", "drawn_by": "word"}, "Unknown unit"),
    ],
)
def test_plans_that_cannot_be_met_are_refused(judgments: Judgments, plan: dict[str, object], said: str) -> None:
    with pytest.raises((BadInputError, UnknownNameError), match=said):
        made(judgments, **plan)  # type: ignore[arg-type]


def test_a_name_belongs_to_one_batch(judgments: Judgments) -> None:
    made(judgments)
    with pytest.raises(BadInputError, match="already"):
        made(judgments)
