"""Fine-tuning data: majority labels, no ties, and no question in two splits."""

import unicodedata
from collections import Counter

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.annotation.judgments.log import VERDICTS, Annotator, Judgments, Verdict
from berdseye.annotation.training_sets.labelling import COLUMNS, split_of, training_data
from tests.annotation.made_pairs import record

YES, NO, UNSURE = VERDICTS


@pytest.fixture
def people(judgments: Judgments) -> list[Annotator]:
    return [judgments.sign_in("Cy"), judgments.sign_in("Bo"), judgments.sign_in("Ana", demo=True)]


def said(judgments: Judgments, people: list[Annotator], *verdicts: tuple[Verdict | None, ...]) -> pd.DataFrame:
    """The frame after each pair was judged by the first, second, … of the people (None: not judged)."""
    keys = judgments.add_pairs(record(n) for n in range(len(verdicts)))
    for key, words in zip(keys, verdicts, strict=True):
        for person, verdict in zip(people, words, strict=False):
            if verdict is not None:
                judgments.judge(person, key, verdict, source="annotate")
    return judgments.frame()


def test_the_majority_of_the_sure_is_the_label(judgments: Judgments, people: list[Annotator]) -> None:
    table = training_data(said(judgments, people, (YES, YES, NO), (UNSURE, NO), (YES, UNSURE, UNSURE)))
    assert tuple(table.columns) == COLUMNS
    assert table["label"].tolist() == [1, 0, 1]
    assert table[["supports", "does_not_support", "unsure"]].to_numpy().tolist() == [[2, 1, 0], [0, 1, 1], [1, 0, 2]]
    assert table["annotators"].tolist() == [["Ana", "Bo", "Cy"], ["Bo", "Cy"], ["Ana", "Bo", "Cy"]]
    first = record(0)
    columns = ["pair", "passage", "title", "perspective", "question", "dataset"]
    assert table[columns].to_numpy()[0].tolist() == [
        first.key, first.passage, first.title, first.perspective, first.question, first.dataset,
    ]  # fmt: skip


def test_ties_and_pairs_nobody_is_sure_of_are_left_out(judgments: Judgments, people: list[Annotator]) -> None:
    table = training_data(said(judgments, people, (YES, NO), (UNSURE, UNSURE), (NO, NO), (YES, NO, UNSURE)))
    assert table["perspective"].tolist() == [record(2).perspective]


def test_demo_annotators_can_be_left_out(judgments: Judgments, people: list[Annotator]) -> None:
    frame = said(judgments, people, (YES, None, NO), (None, None, YES), (YES, NO, NO))
    assert training_data(frame)["perspective"].tolist() == [record(1).perspective, record(2).perspective]
    table = training_data(frame, include_demo=False)
    assert table["perspective"].tolist() == [record(0).perspective]
    assert table["annotators"].tolist() == [["Cy"]]
    assert table["does_not_support"].tolist() == [0]


def test_no_judgments_give_no_rows(judgments: Judgments) -> None:
    for include_demo in (True, False):
        table = training_data(judgments.frame(), include_demo=include_demo)
        assert table.empty
        assert tuple(table.columns) == COLUMNS


def frame_of(questions: list[str]) -> pd.DataFrame:
    columns = dict.fromkeys(("passage", "title", "perspective", "dataset", "annotator"), "x")
    return pd.DataFrame(
        [{**columns, "pair": str(n), "question": q, "verdict": YES, "demo": False} for n, q in enumerate(questions)]
    )


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from(["Why?", "Who?", "When?", "Où ça ?", "هل؟"]) | st.text(min_size=1), min_size=1))
def test_no_question_is_in_two_splits(questions: list[str]) -> None:
    variants = [v for q in questions for v in (q, f" {q} ", unicodedata.normalize("NFD", q))]
    table = training_data(frame_of(variants))
    assert len(table) == len(variants)
    assert set(table["split"]) <= {"train", "dev", "test"}
    splits = table.groupby(table["question"].map(lambda q: unicodedata.normalize("NFC", q).strip()))["split"]
    assert (splits.nunique() == 1).all()
    later = training_data(frame_of([*reversed(variants), "another question"]))
    assert (
        dict(zip(table["question"], table["split"], strict=True)).items()
        <= dict(zip(later["question"], later["split"], strict=True)).items()
    )


def test_the_same_question_in_another_case_or_spacing_is_in_the_same_split() -> None:
    assert {split_of(q) for q in ("Should we tax meat?", "should  WE tax\nmeat? ")} == {split_of("SHOULD WE TAX MEAT?")}


def test_splits_are_about_eighty_ten_ten() -> None:
    # 5,000 draws: three standard deviations are 5000^-.5 * 3 * (.8 * .2)^.5 = 0.017 and 0.013.
    drawn = Counter(split_of(f"Question {n}?") for n in range(5000))
    assert drawn["train"] / 5000 == pytest.approx(0.8, abs=0.017)
    assert drawn["dev"] / 5000 == pytest.approx(0.1, abs=0.013)
    assert drawn["test"] / 5000 == pytest.approx(0.1, abs=0.013)


@pytest.mark.parametrize(
    ("question", "split"), [("Question 1?", "train"), ("Question 54?", "dev"), ("Question 0?", "test")]
)
def test_splits_stay_what_they_were(question: str, split: str) -> None:
    # Files that people have exported were split by these draws; another hash would mix their splits. By coreutils:
    # printf 'question 1?' | b2sum -l 64: 7fc0…/2^64 = 0.499 < .8; 'question 54?': cde1… = 0.804 < .9; 'question 0?':
    # ff7f… = 0.998.
    assert split_of(question) == split
