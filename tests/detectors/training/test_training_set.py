"""Which pairs are trained on, and which files are refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_training import made_pairs, made_set

from berdseye.data.datasets.labelled_pairs import LabelledPair
from berdseye.data.datasets.stored import same_question, split_of
from berdseye.data.errors import BadInputError
from berdseye.data.progress import silent
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.stance.detector import StanceDetector
from berdseye.detectors.training.training_set import FEWEST, distilled, training_set


def test_pairs_keep_the_splits_of_their_file() -> None:
    made = training_set(made_pairs(), "x.tsv", "0")
    assert {p.split for p in made.train} == {"train"}
    assert made.counts() == {
        "train": {"pairs": 32, "positives": 8, "questions": 4},
        "dev": {"pairs": 8, "positives": 2, "questions": 1},
        "test": {"pairs": 8, "positives": 2, "questions": 1},
    }


@settings(deadline=None, max_examples=40)
@given(st.integers(40, 120), st.integers(0, 10**6))
def test_without_splits_no_question_is_trained_on_and_tested_on(questions: int, start: int) -> None:
    pairs = [
        LabelledPair(Pair(f"passage {n} {side}", f"view {side}"), bool(side), f"Question {start + n}?")
        for n in range(questions)
        for side in (0, 1)
    ]
    expected = [split_of(p.question) for p in pairs]
    if min(expected.count("train") - FEWEST, expected.count("dev")) <= 0:
        return
    made = training_set(pairs, "x.tsv", "0")
    for name, held in (("train", made.train), ("dev", made.dev), ("test", made.test)):
        assert {split_of(p.question) for p in held} <= {name}
    assert len(made.train) + len(made.dev) + len(made.test) == len(pairs)


def test_a_question_in_two_splits_is_named_whatever_its_writing() -> None:
    pairs = made_pairs()
    pairs[0] = pairs[0]._replace(question="WHAT  of uniforms?")
    with pytest.raises(BadInputError, match=r"x\.tsv: The question 'WHAT  of uniforms\?' is in the splits dev and"):
        training_set(pairs, "x.tsv", "0")
    assert same_question("WHAT  of uniforms?") == same_question("What of uniforms?")


def test_without_questions_a_perspective_stays_in_one_split() -> None:
    pairs = [p._replace(question="") for p in made_pairs()]
    pairs[-1] = pairs[-1]._replace(split="dev")
    with pytest.raises(BadInputError, match="cities should be banned"):
        training_set(pairs, "x.tsv", "0")


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        (lambda p: p.split != "train" or p.supports, "train split has only pairs with label 1"),
        (lambda p: p.split != "dev" or not p.supports, "dev split has only pairs with label 0"),
        (lambda p: p.split != "dev", "dev split has no pairs"),
    ],
)
def test_a_split_with_one_label_is_refused(kept: object, message: str) -> None:
    assert callable(kept)
    with pytest.raises(BadInputError, match=message):
        training_set([p for p in made_pairs(40) if kept(p)], "x.tsv", "0")


def test_three_rows_are_refused() -> None:
    with pytest.raises(BadInputError, match="at least 8 pairs in the train split, got 3"):
        training_set(made_pairs()[:3], "x.tsv", "0")


def test_a_pair_with_both_labels_is_refused() -> None:
    pairs = made_pairs()
    with pytest.raises(BadInputError, match="both labels"):
        training_set([*pairs, pairs[0]._replace(supports=not pairs[0].supports)], "x.tsv", "0")


def test_without_a_teacher_pairs_without_a_label_have_the_probabilities_of_stance(workspace: Workspace) -> None:
    data = made_set()
    known, held_out = data.train[0], data.test[0]
    new = [known._replace(pair=Pair(known.pair.passage, view)) for view in ("zoos should be kept", "trams are quiet")]
    elsewhere = held_out._replace(pair=Pair("another", held_out.pair.perspective))
    written = known._replace(pair=Pair("written", known.pair.perspective), supports=True)
    further = replace(data, written=[written, elsewhere], unlabelled=[known, elsewhere, *new])
    taught = distilled(workspace, None, further, silent)
    labelled = [*data.train, written]
    assert taught.data.train[: len(labelled)] == labelled
    assert [p.pair for p in taught.data.train[len(labelled) :]] == [p.pair for p in new]
    assert taught.targets[: len(labelled)].tolist() == [float(p.supports) for p in labelled]
    stance = StanceDetector()
    np.testing.assert_array_equal(taught.targets[len(labelled) :], stance.predict([p.pair for p in new]))
    assert taught.card == {
        "written": 1, "unlabelled": 2, "unlabelled_left_out": 2,
        "unlabelled_by": "stance", "unlabelled_by_version": stance.version,
    }  # fmt: skip
    hashes = {data.further_hash, further.further_hash, replace(further, unlabelled=new).further_hash}
    assert len(hashes) == 3
    assert data.further_hash == ""
