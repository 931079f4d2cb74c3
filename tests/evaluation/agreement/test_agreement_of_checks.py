"""Checks in agreement: their own labels by batch, and nothing of them among the labels of pairs and their sources."""

from collections.abc import Iterator

import numpy as np
import pytest

from berdseye.annotation.batches.check_items import CheckItem, create_check_batch
from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import Batch
from berdseye.annotation.checks import check_form
from berdseye.annotation.judgments.adjudication import adjudicate
from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.data.errors import BadInputError
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.evaluation.agreement.alignment import Rule
from berdseye.evaluation.agreement.labels import adjudicated, check_labels, stored_labels
from berdseye.evaluation.agreement.report import Choices, check_choices, report
from berdseye.evaluation.agreement.report_input import report_input
from berdseye.evaluation.agreement.together import fleiss_of
from berdseye.evaluation.labels.sources import labels_of, parse_label_source

ITEMS = [CheckItem(f"v{n}", f"Passage {n}.", f"View {n}.", "Why?") for n in range(6)]


@pytest.fixture
def held(workspace: Workspace) -> Iterator[Judgments]:
    opened = Judgments.open(workspace.judgments_url)
    yield opened
    opened.engine.dispose()


def checked(held: Judgments, form: str, **verdicts: str) -> Batch:
    """A batch of six items, with each person's verdicts in their order, of which the letters are the first ones; s: skipped."""
    batch = create_check_batch(held, form, form, ITEMS, dataset="made", per_pair=len(verdicts))
    values = {value[0]: value for value in check_form(form).values}
    for name, letters in verdicts.items():
        queue, person = BatchQueue(held, batch), held.sign_in(name)
        for letter in letters:
            key = queue.next(person)
            assert key is not None
            queue.skip(person, key) if letter == "s" else queue.give(person, key, values[letter])
    return batch


def test_no_source_of_labels_sees_a_check(workspace: Workspace, held: Judgments) -> None:
    ana = held.sign_in("Ana")
    checked(held, "relevant", Ana="nnnnus", Bo="nnnnnn")
    keys = [item.key(check_form("relevant")) for item in ITEMS]
    adjudicate(held, ana, keys[0], "unsure")
    pairs = [Pair(item.read, item.statement) for item in ITEMS]
    assert stored_labels(held).empty
    assert adjudicated(held) == {}
    assert np.isnan(labels_of(workspace, held, parse_label_source("human"), pairs)).all()

    label = PairRecord("made", "q", "Why?", ITEMS[1].statement, None, "web", "", ITEMS[1].read)
    [labelled] = held.add_pairs([label])
    held.judge(ana, labelled, "supports", source="annotate")
    assert stored_labels(held)["label"].tolist() == ["supports"]
    for source in ("human", "gold>human"):
        values = labels_of(workspace, held, parse_label_source(source), pairs)
        np.testing.assert_equal(values, [np.nan, 1.0, *[np.nan] * 4])


def test_skipped_items_are_labels_that_are_left_out(held: Judgments) -> None:
    batch = checked(held, "duplicate", Ana="ynusyy", Bo="yuunyy")
    labels = check_labels(held, batch)
    assert labels["label"].value_counts().to_dict() == {"yes": 6, "unsure": 3, "no": 2, "skipped": 1}
    assert set(labels["question_id"]) == {item.id for item in ITEMS}
    form = check_form("duplicate")
    found = report(labels, check_choices(form, Choices()))
    assert (found.labels.values, found.unsure_left_out, found.skipped_left_out) == (("yes", "no"), 3, 1)
    third = report(labels, check_choices(form, Choices(Rule("a third label", "unsure"))))
    assert (third.labels.values, len(third.rows)) == (("yes", "no", "unsure"), 12)


def test_three_verdicts_are_three_labels_with_the_paper_beside(workspace: Workspace, held: Judgments) -> None:
    batch = checked(held, "addresses", Ana="yynnhh", Bo="ynnnhy", Cy="yynnhh")
    given = report_input(workspace, held, None, Choices(), batch=batch)
    found = report(*given)
    assert found.labels.values == ("yes", "no", "harmful")
    assert found.summary.endswith("Paper: Fleiss' kappa 0.60 (DebateQA, verification by three people).")
    counts = np.array([[3, 0, 0], [2, 1, 0], [0, 3, 0], [0, 3, 0], [0, 0, 3], [1, 0, 2]])
    assert found.agreement.fleiss_kappa == pytest.approx(fleiss_of(counts))
    assert len(found.parts["together"])
    assert found.parts["detection"].empty


def test_a_batch_of_one_verdict_or_none_is_reported(workspace: Workspace, held: Judgments) -> None:
    for form, verdicts in (
        ("grounded", {"Ana": "yy", "Bo": "yy"}),
        ("relevant", {"Ana": "uu"}),
        ("covered", {"Ana": ""}),
    ):
        found = report(*report_input(workspace, held, None, Choices(), batch=checked(held, form, **verdicts)))
        assert np.isnan(found.agreement.fleiss_kappa)
        assert len(found.parts["together"])
    with pytest.raises(BadInputError, match="'does not support' is not a verdict of the check 'grounded'"):
        check_choices(check_form("grounded"), Choices(Rule("does not support")))
