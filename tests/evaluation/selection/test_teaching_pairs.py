"""Which pairs a teacher labels: drawn questions, retrievers, near-duplicates and samples of each corpus and retriever."""

from collections import Counter

import pytest

from berdseye.data.datasets.stored import save_dataset
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Perspective, Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.selection.teaching import TeachingPairs, drawn_questions, teaching_pairs
from tests.evaluation.selection.two_retriever_runs import RUNS


def questions_of(selected: TeachingPairs) -> set[tuple[str, str]]:
    return {(found.record.dataset, found.record.question_id) for found in selected.pairs}


def test_all_pairs_of_the_drawn_questions_are_selected_once(two_retrievers: Workspace) -> None:
    selected = teaching_pairs(two_retrievers, RUNS, questions=10, k=3)
    assert selected == teaching_pairs(two_retrievers, RUNS[::-1], questions=10, k=3)
    # Per data set 4 questions with two perspectives and one with three: 11 perspectives by five passages, one of which repeats.
    assert len(selected.pairs) == 2 * 11 * 4
    assert (selected.questions, selected.near_duplicates) == (10, 2 * 11)
    assert len({found.record.key for found in selected.pairs}) == len(selected.pairs)
    # Of four different passages one is found by both, one by dense alone; the dropped one is the dense one.
    assert Counter(found.retriever for found in selected.pairs) == {"bm25": 44, "bm25 + dense": 22, "dense": 22}


def test_samples_of_each_retriever_are_of_its_own_pairs(two_retrievers: Workspace) -> None:
    selected = teaching_pairs(two_retrievers, RUNS, questions=10, k=3, of_each=40)
    assert Counter(found.retriever for found in selected.pairs) == {"bm25": 40, "dense": 40}
    assert selected.near_duplicates == 0, "no retriever finds both of the passages that repeat each other"
    both = Counter(found.record.key for found in selected.pairs)
    assert max(both.values()) == 2
    assert selected.pairs != teaching_pairs(two_retrievers, RUNS, questions=10, k=3, of_each=40, seed=1).pairs
    with pytest.raises(BadInputError, match="web bm25 has 66 pairs for the drawn questions, but 67"):
        teaching_pairs(two_retrievers, RUNS, questions=10, k=3, of_each=67)


def test_questions_are_drawn_evenly_and_never_those_left_out(two_retrievers: Workspace) -> None:
    for seed in range(5):
        drawn = drawn_questions(two_retrievers, ["one", "two"], 5, seed, frozenset({"question 1?"}))
        assert {dataset: len(ids) for dataset, ids in drawn.items()} == {"one": 3, "two": 2}
        assert not any("q1" in ids for ids in drawn.values())
    many = {dataset: drawn_questions(two_retrievers, [dataset], 3, 0)[dataset] for dataset in ("one", "two")}
    assert many["one"] != many["two"], "each data set has a draw of its own"
    few = [Question("a", "few", "A?", (Perspective("Yes."),)), Question("b", "few", "B?", ())]
    save_dataset(two_retrievers, "few", few)
    drawn = drawn_questions(two_retrievers, ["one", "few"], 4, 0)
    assert {dataset: len(ids) for dataset, ids in drawn.items()} == {"few": 1, "one": 3}, "a data set that has fewer"
    with pytest.raises(BadInputError, match="6 questions with perspectives, but 7"):
        drawn_questions(two_retrievers, ["one", "few"], 7, 0)
    with pytest.raises(BadInputError, match="5 questions with perspectives outside of the named batches"):
        drawn_questions(two_retrievers, ["one", "few"], 6, 0, frozenset({"a?"}))
    with pytest.raises(BadInputError, match="several versions of 'one'"):
        drawn_questions(two_retrievers, ["one", "one@2"], 1, 0)


def test_a_run_that_is_not_there_is_reported_with_the_nearest(two_retrievers: Workspace) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean one--web--bm25"):
        teaching_pairs(two_retrievers, ["one--web--bm26"], questions=1)


def test_the_draw_decides_the_questions_of_all_runs(two_retrievers: Workspace) -> None:
    drawn = drawn_questions(two_retrievers, ["one", "two"], 4, 7)
    selected = teaching_pairs(two_retrievers, RUNS, questions=4, k=1, seed=7)
    assert questions_of(selected) == {(dataset, question) for dataset, ids in drawn.items() for question in ids}
