"""People check what a construction has made: items are drawn, judged in a batch, and what most reject is rejected."""

from pathlib import Path

import pytest

from berdseye.annotation.batches.check_items import CheckItem
from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import Batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.berds.statements import questions_of
from berdseye.evaluation.construction.checking import apply_outcome, begin_check, checked
from berdseye.evaluation.construction.reporting import rejections
from berdseye.evaluation.construction.running import run_construction
from berdseye.evaluation.construction.sources import read_sources, source_text
from berdseye.evaluation.construction.steps import Built, Check, Kind, Step
from berdseye.evaluation.construction.stored import Construction
from tests.evaluation.construction.constructed import begun, lines


def items(built: Built, size: int, seed: int) -> list[CheckItem]:
    del seed
    return [CheckItem(row.id, "The question", str(row.fields["question"])) for row in built.kept("asked")[:size]]


KIND = Kind(
    "asked",
    "Questions",
    "JSON Lines",
    (Step("asked", "questions", run=lambda _, rows: list(rows)), Step("last", "questions", run=lambda _, rows: rows)),
    lambda working: read_sources(working, lambda found: {"question": source_text(found, "question")}),
    questions_of,
    checks=(
        Check("measures", "inspect", "Is it right?", items, people=1),
        Check("decides", "debatable", "Is it debatable?", items, outcome="asked", people=3),
    ),
)


@pytest.fixture
def construction(workspace: Workspace, tmp_path: Path) -> Construction:
    source = lines(tmp_path / "q.jsonl", *({"id": letter, "question": f"Is {letter} good?"} for letter in "abcd"))
    made = begun(workspace, KIND, source)
    run_construction(made)
    return made


def judge(judgments: Judgments, batch: Batch, verdicts: dict[str, str], *, person: str) -> None:
    queue, annotator = BatchQueue(judgments, batch), judgments.sign_in(person)
    while key := queue.next(annotator):
        queue.give(annotator, key, verdicts[queue.record(key).question_id])


def test_what_two_of_three_people_reject_is_rejected(workspace: Workspace, construction: Construction) -> None:
    judgments = Judgments.open(workspace.judgments_url)
    batch = begin_check(construction, judgments, "decides", made_by="ada")
    assert (batch.name, batch.per_pair, batch.task) == ("made-decides", 3, "check")
    every = dict.fromkeys("abcd", "yes")
    judge(judgments, batch, every | {"b": "no", "c": "no"}, person="Ada")
    judge(judgments, batch, every | {"b": "no", "d": "unsure"}, person="Bo")
    judge(judgments, batch, every, person="Cy")
    [done] = checked(construction, judgments)
    assert {row: one.accepted for row, one in done.outcomes.items()} == {"a": True, "b": False, "c": True, "d": True}
    assert "3 accepted, 1 rejected" in done.text
    assert apply_outcome(construction, done, made_by="ada") == ["b"]
    assert [(r.row, r.reason) for r in rejections(construction, "asked")] == [
        ("b", "rejected by people: decides, batch made-decides")
    ]
    assert run_construction(construction) == ["last"]
    assert [row.id for row in construction.kept("last")] == ["a", "c", "d"]
    [again] = checked(construction, judgments)
    assert apply_outcome(construction, again, made_by="ada") == [], "rejected once"


def test_an_outcome_of_texts_that_have_changed_rejects_nothing(
    workspace: Workspace, construction: Construction
) -> None:
    judgments = Judgments.open(workspace.judgments_url)
    batch = begin_check(construction, judgments, "decides", per_item=1)
    judge(judgments, batch, dict.fromkeys("abcd", "no"), person="Ada")
    construction.overrule("asked", {"a": ""}, keep=True, made_by="ada", fields={"question": "Is a better?"})
    [done] = checked(construction, judgments)
    assert sorted(done.outcomes) == ["b", "c", "d"]


def test_a_check_that_measures_draws_few_items_and_rejects_nothing(
    workspace: Workspace, construction: Construction
) -> None:
    judgments = Judgments.open(workspace.judgments_url)
    batch = begin_check(construction, judgments, "measures", size=2, people=("Ada",), batch="mine")
    assert [person.name for person in batch.people] == ["Ada"]
    judge(judgments, batch, {"a": "ok", "b": "error"}, person="Ada")
    [done] = checked(construction, judgments)
    assert {row: one.accepted for row, one in done.outcomes.items()} == {"a": True, "b": False}
    with pytest.raises(BadInputError, match="only measures"):
        apply_outcome(construction, done, made_by="ada")
    with pytest.raises(UnknownNameError, match="Did you mean measures"):
        begin_check(construction, judgments, "measure")


def test_a_check_without_items_is_refused(workspace: Workspace, construction: Construction) -> None:
    construction.overrule("asked", dict.fromkeys("abcd", "no"), keep=False, made_by="ada")
    with pytest.raises(BadInputError, match="has no items"):
        begin_check(construction, Judgments.open(workspace.judgments_url), "decides")
