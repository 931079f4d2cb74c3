"""Which pairs a batch sends out: strata, near-duplicates, files, answers and the recipe of BERDS."""

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.annotation.batches.stored import BatchPlan, Item, batch_questions, create_batch, load_batch
from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.selection.batches import (
    STRATA,
    _bin,
    berds_test_set,
    check_random_questions,
    drawn_order,
    of_answers,
    of_file,
    of_runs,
    random_questions,
    stratified,
    without_near_duplicates,
)
from berdseye.evaluation.selection.request import BatchRequest, create_requested_batch
from tests.evaluation.selection.two_retriever_runs import RUNS


def item(number: int, probability: float | None = None, *, dataset: str = "made", passage: str = "") -> Item:
    stance = (None, "supporting", "opposing")[number % 3]
    text = passage or f"Passage {number}."
    record = PairRecord(dataset, "q", "Q?", f"View {number}.", stance, "web", "", text)  # type: ignore[arg-type]
    return Item(record, probability)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.integers(0, 3), st.randoms(use_true_random=False))
def test_a_sample_is_even_over_its_strata_and_deterministic(ps: list[float], seed: int, chance: Random) -> None:
    items = [item(n, p) for n, p in enumerate(ps)]
    size = chance.randint(1, len(items))
    drawn = stratified(items, size, ["probability"], seed)
    shuffled = chance.sample(items, len(items))
    assert {i.record.key for i in stratified(shuffled, size, ["probability"], seed)} == {i.record.key for i in drawn}
    assert len(drawn) == size
    there, got = (Counter(map(_bin, some)) for some in (items, drawn))
    for one in there:
        for other in there:  # nobody has two more than another that still had some
            assert got[one] <= got[other] + 1 or got[other] == there[other]


def test_a_sample_without_strata_is_of_all_and_strata_combine() -> None:
    items = [item(n, n / 40, dataset="ab"[n % 2]) for n in range(40)]
    assert len(stratified(items, 7, [])) == 7
    assert stratified(items, 40, list(STRATA)) == items
    assert Counter(i.record.dataset for i in stratified(items, 12, ["dataset", "stance"])) == {"a": 6, "b": 6}
    assert stratified(items, 12, [], 1) != stratified(items, 12, [], 2)
    with pytest.raises(BadInputError, match="sample of 41"):
        stratified(items, 41, [])
    with pytest.raises(BadInputError, match="need a detector"):
        stratified([item(1)], 1, ["probability"])


def test_passages_that_nearly_repeat_an_earlier_one_of_the_question_are_left_out() -> None:
    long = " ".join(f"word{n}" for n in range(100))
    near = f"{long} more"
    items = [item(0, passage=long), item(1, passage=near), item(2, passage=near, dataset="other"), item(3)]
    assert without_near_duplicates(items) == [items[0], items[2], items[3]]


def test_the_recipe_of_berds(two_retrievers: Workspace) -> None:
    items = berds_test_set(two_retrievers, RUNS, seed=3, questions=2, k=3)
    assert items == berds_test_set(two_retrievers, RUNS[::-1], seed=3, questions=2, k=3)
    questions = {(i.record.dataset, i.record.question_id) for i in items}
    assert Counter(dataset for dataset, _ in questions) == {"one": 2, "two": 2}
    assert "q4" not in {question for _, question in questions}, "it has three perspectives"
    # Of the five different passages of each question one nearly repeats another: four by two perspectives are left.
    assert len(items) == 4 * 4 * 2
    pool = of_runs(two_retrievers, RUNS[:2], 3)
    assert len([i for i in pool if i.record.question_id == "q0"]) == 5 * 2


@pytest.mark.parametrize(
    ("runs", "questions", "said"),
    [(RUNS[:3], 2, "has 1 of the named runs"), (RUNS, 5, "4 questions with two perspectives")],
)
def test_what_the_recipe_cannot_do_is_reported(
    two_retrievers: Workspace, runs: list[str], questions: int, said: str
) -> None:
    with pytest.raises(BadInputError, match=said):
        berds_test_set(two_retrievers, runs, questions=questions)


def test_batches_share_no_question_with_those_that_are_left_out(two_retrievers: Workspace, tmp_path: Path) -> None:
    """Both data sets have questions of the same texts; case and spacing make no difference."""
    judgments = Judgments.open(two_retrievers.judgments_url)
    first = berds_test_set(two_retrievers, RUNS, questions=1, k=3)
    create_batch(judgments, BatchPlan("test"), first)
    taken = {item.record.question for item in first}
    assert batch_questions(judgments, ["test"]) == {text.casefold() for text in taken}
    rows = [*(f"P {n}.,V.,question  {n}?" for n in range(5)), "P.,V.,", 'P.,"Question 1?",']
    (tmp_path / "pairs.csv").write_text("\n".join(["passage,perspective,question", *rows]), encoding="utf-8")
    answers = [{"question": f"Question {n}?", "first": "A", "second": "B"} for n in range(5)]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)), encoding="utf-8")
    requests: dict[str, dict[str, Any]] = {
        "run": {"runs": tuple(RUNS), "k": 3},
        "preset": {"runs": tuple(RUNS), "k": 3, "preset": "berds", "questions": 1, "sample": 4},
        "file": {"file": tmp_path / "pairs.csv"},
        "answers": {"answers": tmp_path / "answers.jsonl", "task": "prefer"},
        "decide": {"decide": (RUNS[0], RUNS[1]), "measure": "Precision@3", "detector": "embedded"},
    }
    for name, given_options in requests.items():
        request = BatchRequest(name, without=("test",), **given_options)
        batch, n = create_requested_batch(two_retrievers, judgments, request, made_by="Ana")
        assert batch.recipe["without"] == ["test"]
        assert n > 0
        found = batch_questions(judgments, [name])
        assert found, name
        assert not found & batch_questions(judgments, ["test"]), name
    assert len(batch_questions(judgments, ["run"])) == 5 - len(taken)
    assert load_batch(judgments, "preset").recipe["sample"] == 4
    with pytest.raises(UnknownNameError, match="Did you mean test"):
        create_requested_batch(
            two_retrievers, judgments, BatchRequest("more", runs=tuple(RUNS), without=("tests",)), made_by="Ana"
        )
    with pytest.raises(BadInputError, match="outside of the named batches"):
        berds_test_set(two_retrievers, RUNS, questions=4, without=batch_questions(judgments, ["test"]))


def test_questions_are_drawn_at_random_and_go_out_whole(two_retrievers: Workspace) -> None:
    items, draw = random_questions(two_retrievers, RUNS, 3, questions=2, k=2)
    assert (items, draw) == random_questions(two_retrievers, RUNS[::-1], 3, questions=2, k=2)
    assert draw["population"] == {"one": 5, "two": 5}
    turns = [list(dict.fromkeys((i.record.dataset, i.record.question_id) for i in items))]
    assert turns == [[(d, draw["drawn"][d][turn]) for turn in (0, 1) for d in ("one", "two")]], "question by question"
    pool = of_runs(two_retrievers, RUNS, 2)
    wanted = {(d, q) for d, ids in draw["drawn"].items() for q in ids}
    assert {i.record.key for i in items} == {
        i.record.key for i in pool if (i.record.dataset, i.record.question_id) in wanted
    }
    with pytest.raises(BadInputError, match="5 questions with perspectives"):
        random_questions(two_retrievers, RUNS, questions=6, k=2)
    orders = Counter(tuple(drawn_order(["a", "b", "c"], 2, f"{seed} one")) for seed in range(1200))
    assert len(orders) == 6
    assert max(orders.values()) < 260, "each of the six orders about 200 times"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"order": "uncertainty"}, "--order"),
        ({"calibration": 2}, "--calibration"),
        ({"sample": 5}, "--sample"),
        ({"without": ("test",)}, "--without-batch"),
    ],
)
def test_options_that_would_break_the_draw_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInputError, match=f"Omit {said}"):
        check_random_questions(**({"order": "batch", "calibration": 0, "sample": None} | given))


def test_pairs_and_answers_of_files(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("passage,perspective,question,stance\nP.,V.,Q?,opposing\n", encoding="utf-8")
    [found] = of_file(pairs)
    assert (found.record.passage, found.record.perspective, found.record.stance) == ("P.", "V.", "opposing")
    answers = tmp_path / "answers.jsonl"
    rows = [{"id": str(n), "question": f"Q{n}?", "first": f"A{n}", "second": f"B{n}"} for n in range(40)]
    answers.write_text("".join(f"{json.dumps(r)}\n" for r in rows), encoding="utf-8")
    sides = [i.record.passage[0] for i in of_answers(answers)]
    assert 8 < sides.count("A") < 32, "neither side is always the first"
    swapped = [{**r, "first": r["second"], "second": r["first"]} for r in rows]
    answers.write_text("".join(f"{json.dumps(r)}\n" for r in swapped), encoding="utf-8")
    assert [i.record.passage[0] for i in of_answers(answers)] == sides, "the file's own order does not matter"
    answers.write_text('{"question": "Q?", "first": "A"}\n', encoding="utf-8")
    with pytest.raises(BadInputError, match=r":1: The row has no second"):
        of_answers(answers)
