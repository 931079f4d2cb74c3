"""Versions of the guidelines: which one stands beside a pair, and when a person has another to read."""

import pytest

from berdseye.annotation.batches.progress import batch_frame
from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.runs_queue import RunsQueue
from berdseye.annotation.batches.stored import TASKS, BatchPlan, Item, create_batch
from berdseye.annotation.guidelines.versions import (
    in_use,
    judged_by_before,
    keep,
    list_guidelines,
    load,
    packaged,
    use,
    uses,
)
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.recorded import JudgmentDetails
from berdseye.data.errors import BadInputError, UnknownNameError
from tests.annotation.made_pairs import record


def test_every_task_has_a_packaged_text_with_an_example() -> None:
    assert len({packaged(task).version for task in TASKS}) == len(TASKS)
    assert all("*Example.*" in packaged(task).text for task in TASKS)


def test_what_is_in_use_changes_and_comes_back_and_each_text_is_kept_once(judgments: Judgments) -> None:
    first = in_use(judgments)
    assert load(judgments, first.version) == first == packaged("judge")
    ours = use(judgments, "Ours.", made_by="Lead")
    assert in_use(judgments) == ours
    assert in_use(judgments, "verify") == packaged("verify")
    assert use(judgments, None) == in_use(judgments) == first
    assert use(judgments, " Ours.\n").version == ours.version
    kept = list_guidelines(judgments)
    assert sorted(one.version for one in kept) == sorted({ours.version, *(packaged(t).version for t in TASKS)})
    assert {one.version: one.used_for for one in kept}[ours.version] == ("judge",)


def test_a_batch_keeps_its_own(judgments: Judgments) -> None:
    own = keep(judgments, "Of this batch.")
    batch = create_batch(judgments, BatchPlan("b", guidelines=own.version), [Item(record(0))])
    use(judgments, "Of everyone.")
    assert in_use(judgments, batch.task, batch) == own
    assert in_use(judgments).text == "Of everyone."


def test_a_word_carries_the_version_and_the_next_reader_of_another_is_known(judgments: Judgments) -> None:
    ana, bo = judgments.sign_in("Ana"), judgments.sign_in("Bo")
    batch = create_batch(judgments, BatchPlan("b", per_pair=2), [Item(record(0))])
    old = in_use(judgments)
    assert judged_by_before(judgments, ana, "judge", batch) is None
    beside = JudgmentDetails(guidelines=old.version, evidence=[(0, 7)])
    BatchQueue(judgments, batch).give(ana, record(0).key, "supports", beside)
    [word] = batch_frame(judgments, batch).to_dict(orient="records")
    assert (word["guidelines"], word["evidence"]) == (old.version, "[[0, 7]]")
    assert judgments.frame()[["guidelines", "evidence"]].to_numpy().tolist() == [[old.version, "[[0, 7]]"]]
    new = use(judgments, "New.")
    assert judged_by_before(judgments, ana, "judge", batch) == old.version
    assert judged_by_before(judgments, bo, "judge", batch) is None
    assert judged_by_before(judgments, ana, "prefer") is None
    RunsQueue(judgments, {record(1).key: record(1)}).give(
        ana, record(1).key, "unsure", JudgmentDetails(guidelines=new.version)
    )
    assert judged_by_before(judgments, ana, "judge") == new.version
    assert judged_by_before(judgments, ana, "judge", batch) == old.version


@pytest.mark.parametrize("text", ["", "  \n ", "x" * 20_001])
def test_an_empty_or_endless_text_is_refused(judgments: Judgments, text: str) -> None:
    with pytest.raises(BadInputError, match="Guidelines must have"):
        use(judgments, text)
    with pytest.raises(UnknownNameError, match="'0123'"):
        load(judgments, "0123")


def test_uses_are_kept_for_each_task_the_present_one_first(judgments: Judgments) -> None:
    assert uses(judgments, "judge") == []
    ours = use(judgments, "Ours.", made_by="Lead")
    use(judgments, "Of another task.", task="prefer", made_by="Lead")
    use(judgments, None, made_by="Ana")
    assert [(one.version, one.made_by) for one in uses(judgments, "judge")] == [
        (packaged("judge").version, "Ana"),
        (ours.version, "Lead"),
    ]
    assert len(uses(judgments, "prefer")) == 1
