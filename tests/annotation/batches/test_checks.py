"""Checks of constructed data: that they are judged like pairs, and never mix with labels."""

import json
from pathlib import Path

import pytest

from berdseye.annotation.batches.check_items import CheckItem, create_check_batch, numbered, read_check_items
from berdseye.annotation.batches.check_outcomes import check_outcomes, outcome_text
from berdseye.annotation.batches.progress import batch_frame, batch_progress
from berdseye.annotation.batches.qualification import qualification
from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import Batch, BatchPlan, Item, create_batch, judgment_counts
from berdseye.annotation.checks import FORMS, check_form, form_of
from berdseye.annotation.guidelines.versions import in_use, load, packaged
from berdseye.annotation.judgments.adjudication import adjudicate, adjudicated_labels, disputes
from berdseye.annotation.judgments.log import VERDICTS, Annotator, Judgments, PairRecord
from berdseye.annotation.judgments.recent import change_judgment, last_judgments
from berdseye.annotation.judgments.recorded import JudgmentDetails
from berdseye.annotation.judgments.verdict_counts import (
    count_judgments,
    passage_history,
    passage_statuses,
    verdict_counts,
)
from berdseye.annotation.training_sets.labelling import training_data
from berdseye.data.errors import BadInputError, UnknownNameError

GROUNDED = check_form("grounded")


def items(number: int = 3, expected: str = "") -> list[CheckItem]:
    return [
        CheckItem(f"row {n}", f"Document {n} says so.", f"View {n}.", "Should cities ban cars?", "", expected)
        for n in range(number)
    ]


def people(judgments: Judgments, *names: str) -> list[Annotator]:
    return [judgments.sign_in(name) for name in names]


def given(judgments: Judgments, batch: Batch, person: Annotator, *verdicts: str) -> None:
    """The verdicts of one person on the next pairs of the batch."""
    queue = BatchQueue(judgments, batch)
    for verdict in verdicts:
        key = queue.next(person)
        assert key is not None
        queue.skip(person, key) if verdict == "skip" else queue.give(person, key, verdict)


def test_each_form_has_two_or_three_verdicts_and_a_side_for_most() -> None:
    for form in FORMS.values():
        assert 2 <= len(form.verdicts) <= 3
        assert form.accepted
        assert form.rejected
        assert all(len(value) <= 16 for value in form.values), "the column of verdicts is that wide"
        assert form_of(form.corpus) is form
    assert check_form("addresses").rejected == ("no", "harmful")
    assert form_of("web") is None
    with pytest.raises(UnknownNameError, match="check 'grounds'"):
        check_form("grounds")


def test_a_check_never_mixes_with_a_label_of_the_same_texts(judgments: Judgments) -> None:
    [ana] = people(judgments, "Ana")
    [item] = items(1)
    label = PairRecord("made", "q", item.question, item.statement, None, "web", "", item.read)
    [pair] = judgments.add_pairs([label])
    judgments.judge(ana, pair, "supports", source="annotate")
    before = judgments.frame(), verdict_counts(judgments)
    forms = ("grounded", "relevant", "inspect")
    checked = {form: create_check_batch(judgments, form, form, [item], dataset="made", per_pair=1) for form in forms}
    given(judgments, checked["grounded"], ana, "no")
    given(judgments, checked["relevant"], ana, "unsure")
    given(judgments, checked["inspect"], ana, "skip")
    unsure = item.key(check_form("relevant"))
    adjudicate(judgments, ana, unsure, "unsure")

    assert len({pair, *(item.key(check_form(form)) for form in checked)}) == 4
    assert [(j.pair, j.verdict) for j in judgments.present()] == [(pair, "supports")]
    for now, earlier in zip((judgments.frame(), verdict_counts(judgments)), before, strict=True):
        assert now.to_dict("records") == earlier.to_dict("records")
    assert adjudicated_labels(judgments) == {}
    assert passage_statuses(judgments, [item.read]) == {item.read: frozenset({"supports"})}
    assert passage_history(judgments, item.read)["kind"].tolist() == ["judge"]
    assert len(training_data(judgments.frame(), include_demo=False, adjudicated={})) == 1
    assert judgments.judged_pairs(ana)[unsure] == "check"
    assert count_judgments(judgments) == (3, 1), "a label and two checks are work of one person"
    with pytest.raises(BadInputError, match="belong in a batch of the task `check`"):
        create_batch(judgments, BatchPlan("labels"), [Item(item.record(GROUNDED, "made"))])


def test_checks_are_counted_disputed_undone_and_adjudicated(judgments: Judgments) -> None:
    ana, bo, cy = people(judgments, "Ana", "Bo", "Cy")
    batch = create_check_batch(judgments, "checks", "addresses", items(), dataset="made")
    given(judgments, batch, ana, "yes", "no", "harmful")
    given(judgments, batch, bo, "yes", "no", "no")
    given(judgments, batch, cy, "no", "yes", "yes")
    keys = [item.key(check_form("addresses")) for item in items()]
    outcomes = check_outcomes(judgments, batch)
    assert list(outcomes) == keys
    assert [outcome.accepted for outcome in outcomes.values()] == [True, False, False], "two of three decide"
    assert dict(outcomes[keys[2]].counts) == {"yes": 1, "no": 1, "harmful": 1}
    assert batch_progress(judgments, batch, time=0).disputed == 3
    with judgments.reading() as connection:
        counts = judgment_counts(connection, batch.id)
        stored = connection.exec_driver_sql("SELECT batch_id, pair, judged, split FROM batch_items").all()
    assert {(row.batch_id, row.pair): (row.judged, row.split) for row in stored} == counts
    assert [counts[batch.id, key] for key in keys] == [(3, -1), (3, -1), (3, -2)]
    [first, *_] = found = disputes(judgments, batch)
    assert [dispute.task for dispute in found] == ["check"] * 3
    assert first.form == check_form("addresses")

    adjudicate(judgments, bo, keys[0], "harmful", task="check")
    assert check_outcomes(judgments, batch)[keys[0]].accepted is False
    with pytest.raises(UnknownNameError, match="harmful, no, yes"):
        adjudicate(judgments, bo, keys[0], "unsure", task="check")
    assert "0 accepted, 3 rejected" in outcome_text(check_form("addresses"), check_outcomes(judgments, batch))
    assert judgments.undo(cy) == keys[2]
    assert check_outcomes(judgments, batch)[keys[2]].accepted is False, "two of the three have rejected it"
    assert not check_outcomes(judgments, batch)[keys[2]].finished
    assert batch_frame(judgments, batch)["verdict"].tolist() == ["yes", "yes", "no", "no", "no", "yes", "harmful", "no"]


def test_a_tie_and_an_early_rejection_decide_nothing(judgments: Judgments) -> None:
    ana, bo, cy = people(judgments, "Ana", "Bo", "Cy")
    batch = create_check_batch(judgments, "checks", "duplicate", items(2), dataset="made")
    given(judgments, batch, ana, "no", "no")
    given(judgments, batch, bo, "yes")
    one, two = check_outcomes(judgments, batch).values()
    assert (one.accepted, two.accepted) == (None, None)
    given(judgments, batch, cy, "unsure")
    tied = next(iter(check_outcomes(judgments, batch).values()))
    assert (tied.accepted, tied.finished) == (None, True)
    assert "1 undecided, 1 not finished. Verdicts: 1 yes, 2 no, 1 unsure." in outcome_text(
        check_form("duplicate"), check_outcomes(judgments, batch)
    )


def test_a_verdict_of_another_task_is_refused(judgments: Judgments) -> None:
    [ana] = people(judgments, "Ana")
    batch = create_check_batch(judgments, "checks", "grounded", items(1), dataset="made", per_pair=1)
    queue = BatchQueue(judgments, batch)
    key = queue.next(ana)
    assert key is not None
    for verdict in (*VERDICTS, "harmful", "first"):
        with pytest.raises(UnknownNameError, match="Known: no, yes"):
            queue.give(ana, key, verdict)
    queue.give(ana, key, "no", JudgmentDetails("not in it", 2.0, [(0, 8)]))
    [own] = last_judgments(judgments, ana, 10)
    assert (own.task, own.verdict, own.comment, own.form) == ("check", "no", "not in it", GROUNDED)
    assert change_judgment(judgments, ana, own, "yes") is not None
    assert [outcome.accepted for outcome in check_outcomes(judgments, batch).values()] == [True]


def test_people_read_the_instructions_of_the_form_first(judgments: Judgments) -> None:
    batch = create_check_batch(judgments, "checks", "grounded", items(1), dataset="made")
    shown = in_use(judgments, "check", batch)
    assert shown.text.startswith(f"**{GROUNDED.question}**\n\n- **Yes**: ")
    assert shown.text.endswith(packaged("check").text)
    assert load(judgments, shown.version) == shown


def test_items_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    rows = [
        {"id": "a", "read": [{"title": "Trams", "text": "Trams are cheap."}, "Roads are not."], "statement": "So."},
        {"document": "One document.", "statement": "This.", "question": "Why?", "expected": "no"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    one, two = read_check_items(path, GROUNDED)
    assert one == CheckItem("a", "[1] Trams\nTrams are cheap.\n\n[2] Roads are not.", "So.")
    assert two == CheckItem("2", "One document.", "This.", "Why?", "", "no")
    assert numbered(["x", "y"]) == "[1] x\n\n[2] y"
    [alone] = read_check_items(_file(tmp_path, {"statement": "Should cities ban cars?"}), check_form("debatable"))
    assert alone.record(check_form("debatable"), "made").passage.startswith("1. The meaning")
    for row, message in (
        ({"read": "x"}, "no statement"),
        ({"statement": "x"}, r"nothing to check against \(documents\)"),
        ({"read": "x", "statement": "y", "expected": "maybe"}, "'maybe' is not a verdict"),
        ({"read": [{"title": "x"}], "statement": "y"}, "must be a text, or a list"),
        ({"read": 3, "statement": "y"}, "must be a text, or a list"),
    ):
        with pytest.raises(BadInputError, match=message):
            read_check_items(_file(tmp_path, row), GROUNDED)


def _file(folder: Path, row: dict[str, object]) -> Path:
    path = folder / "one.jsonl"
    path.write_text(json.dumps(row))
    return path


def test_an_exam_is_passed_with_every_answer_right(judgments: Judgments) -> None:
    ana, bo = people(judgments, "Ana", "Bo")
    exam = create_check_batch(
        judgments, "exam", "grounded", items(4, "no"), dataset="made", people=("Ana", "Bo", "Cy"), purpose="exam"
    )
    given(judgments, exam, ana, "no", "yes", "no", "no")
    assert judgments.undo(ana) is not None
    given(judgments, exam, bo, "no", "no", "no", "yes")
    found = qualification(judgments, exam)
    assert [(q.name, q.answered, q.right, q.passed) for q in found] == [
        ("Ana", 3, 2, False), ("Bo", 4, 3, False), ("Cy", 0, 0, False)
    ]  # fmt: skip
    assert found[0].share == pytest.approx(2 / 3)
    assert found[2].share is None
    bos = last_judgments(judgments, bo, 1)[0]
    change_judgment(judgments, bo, bos, "no")
    assert qualification(judgments, exam)[1].passed, "nobody has seen an answer: the present verdict counts"


@pytest.mark.parametrize(("wrong", "passed"), [(0, True), (1, False)])
def test_the_first_verdict_counts_in_training(judgments: Judgments, wrong: int, passed: bool) -> None:
    """One wrong answer of twenty is exactly 95%, and more than that is asked for."""
    [ana] = people(judgments, "Ana")
    batch = create_check_batch(
        judgments, "training", "grounded", items(20, "no"), dataset="made", people=("Ana",), purpose="training"
    )
    given(judgments, batch, ana, *["no"] * (20 - wrong), *["yes"] * wrong)
    if wrong:
        judgments.undo(ana)
        given(judgments, batch, ana, "no")
    [found] = qualification(judgments, batch)
    assert (found.right, found.passed) == (20 - wrong, passed)


def test_known_answers_that_cannot_be_used_are_refused(judgments: Judgments) -> None:
    def create(*made: CheckItem, **options: object) -> None:
        create_check_batch(judgments, "b", "grounded", made, dataset="made", people=("Ana",), **options)  # type: ignore[arg-type]

    one, two = items(2, "no")
    with pytest.raises(BadInputError, match="'row 1'"):
        create(one, two._replace(expected=""), purpose="exam")
    with pytest.raises(BadInputError, match="another expected verdict"):
        create(one, one._replace(id="again", expected="yes"))
    with pytest.raises(BadInputError, match="at most 100 known answers, got 101"):
        create(*items(101, "no"))
    with pytest.raises(BadInputError, match="names nobody"):
        create_check_batch(judgments, "b", "grounded", [one], dataset="made", purpose="exam")
    batch = create_check_batch(judgments, "b", "grounded", items(1), dataset="made")
    with pytest.raises(BadInputError, match="no known answers"):
        qualification(judgments, batch)
