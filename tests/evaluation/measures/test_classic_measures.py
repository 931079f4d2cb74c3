"""The classic measures: by hand, against pytrec_eval and ir_measures on random runs with ties, and what must hold of them."""

from random import Random

import ir_measures
import numpy as np
import numpy.typing as npt
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import text_lines
from berdseye.evaluation.interchange.ranking import labelled, passage_name, passage_numbers, ranked
from berdseye.evaluation.interchange.trec import diversity_qrels, parse_trec_qrels, parse_trec_run, trec_run
from berdseye.evaluation.labels.qrels import Qrels
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import parse_measures, values_of

# Five passages by two perspectives; three more that the run does not hold, of which one supports the second perspective.
RANKED = [[1, 0], [0, 0], [1, 1], [0, 0], [0, 0]]
BEYOND = [[0, 1], [0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("Recall@1", 1 / 3),  # ranks 1 and 3 and one beyond are relevant
        ("Recall@5", 2 / 3),
        ("AP@5", (1 / 1 + 2 / 3) / 3),
        ("AP@2", (1 / 1) / 3),
        ("AP", (1 / 1 + 2 / 3) / 3),
        ("Rprec", 2 / 3),  # R = 3, and two of the first three
        ("nDCG@3", (1 + 1 / 2) / (1 + 1 / np.log2(3) + 1 / 2)),  # 1/log2(1 + rank) at ranks 1 and 3
        ("StRecall@1", 1 / 2),
        ("StRecall@3", 1.0),
        # Gains with alpha 1/2: rank 1 gives 1, rank 3 gives 1/2 + 1. Best order: both (2), then 1/2, then 1/2.
        ("alpha_nDCG@3", (1 + 1.5 / 2) / (2 + 0.5 / np.log2(3) + 0.5 / 2)),
    ],
)
def test_by_hand(measure: str, expected: float) -> None:
    [parsed] = parse_measures(measure)
    assert parsed.values(Support.of([RANKED], [BEYOND])).tolist() == [pytest.approx(expected, abs=1e-6)]


def test_what_is_not_defined_is_no_number() -> None:
    """Nothing relevant in the pool, no perspectives: no value; nothing found of what is relevant: 0."""
    support = Support.of([[[0.0], [0.0]], np.zeros((2, 0)), [], [[0.0]]], [[], [], [[1.0]], [[1.0]]])
    assert support.counts.tolist() == [1, 0, 0, 1]
    for measure in parse_measures("Recall@5 nDCG@5 AP@5 Rprec alpha_nDCG@5 ERR_IA@5 StRecall@5"):
        np.testing.assert_equal(measure.values(support), [np.nan, np.nan, np.nan, 0.0])


def test_a_ranking_alone_is_not_enough() -> None:
    with pytest.raises(BadInputError, match="needs labels of passages that the run did not retrieve"):
        parse_measures("Recall@5")[0].values(Support.of([RANKED]))


def test_names() -> None:
    asked = "MAP@100 AP R@5 Recall@5 Rprec nDCG@20 nDCG alpha_nDCG@20 MRecall@5"
    assert [str(m) for m in parse_measures(asked)] == [
        "AP@100", "AP", "Recall@5", "Rprec", "nDCG@20", "nDCG", "alpha_nDCG@20", "MRecall@5"
    ]  # fmt: skip
    for measure in parse_measures(asked):
        assert parse_measures(str(measure)) == [measure]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Recall", "needs a cutoff"),
        ("Rprec@5", "takes no cutoff"),
        ("alpha_nDCG@21", "at most 20"),
        ("nDCG@0", "at least 1"),
        ("nDCG(2)@5", "only a cutoff"),
    ],
)
def test_bad_names(name: str, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        parse_measures(name)


def random_files(seed: int, questions: int = 40) -> tuple[bytes, bytes]:
    """A run with many ties, and labels of half its passages and of some that it does not hold."""
    rng = np.random.default_rng(seed)
    names = [f"q{n}" for n in range(questions)]
    ids = np.stack([rng.permutation(200)[:30] for _ in names]).astype(np.int64)
    scores = rng.integers(0, 8, size=ids.shape).astype(np.float32)
    order = np.stack([np.lexsort((-i, -s)) for i, s in zip(ids, scores, strict=True)])
    ids, scores = np.take_along_axis(ids, order, axis=1), np.take_along_axis(scores, order, axis=1)
    passages = [np.sort(rng.permutation(200)[:80]).astype(np.int64) for _ in names]
    labels: list[npt.NDArray[np.float64]] = []
    for _ in names:
        block = (rng.random((80, 3)) < 0.2).astype(float)
        block[rng.random(block.shape) < 0.1] = np.nan
        labels.append(block)
    return trec_run(names, ids, scores, "random"), diversity_qrels(names, passages, labels)


def read(run: bytes, qrels: bytes) -> tuple[list[str], Support]:
    """As `berdseye evaluate --run FILE --qrels FILE` reads them."""
    rows, held = parse_trec_run(text_lines(run.decode()), "run"), parse_trec_qrels(text_lines(qrels.decode()), "qrels")
    numbers, asked = passage_numbers(rows, held), sorted(set(held.questions))
    return asked, labelled(held, asked, numbers).support(ranked(rows, asked, numbers).ids)


@pytest.mark.parametrize("seed", range(3))
def test_equal_to_pytrec_eval_with_ties(seed: int) -> None:
    run, qrels = random_files(seed)
    asked, support = read(run, qrels)
    judged: dict[str, dict[str, int]] = {}
    for question, _, passage, relevance in (line.split() for line in qrels.decode().splitlines()):
        held = judged.setdefault(question, {})
        held[passage] = max(held.get(passage, 0), int(relevance))
    given: dict[str, dict[str, float]] = {}
    for question, _, passage, _, score, _ in (line.split() for line in run.decode().splitlines()):
        given.setdefault(question, {})[passage] = float(score)
    names = {"recall.5", "recall.20", "ndcg_cut.5", "ndcg_cut.20", "map_cut.20", "map", "Rprec", "ndcg"}
    peer = pytrec_eval.RelevanceEvaluator(judged, names).evaluate(given)
    pairs = {
        "Recall@5": "recall_5", "Recall@20": "recall_20", "nDCG@5": "ndcg_cut_5", "nDCG@20": "ndcg_cut_20",
        "AP@20": "map_cut_20", "AP": "map", "Rprec": "Rprec", "nDCG": "ndcg",
    }  # fmt: skip
    found = values_of(parse_measures(" ".join(pairs)), support)
    for values, theirs in zip(found, pairs.values(), strict=True):
        np.testing.assert_allclose(values, [peer[q][theirs] for q in asked], atol=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_diversity_equals_ir_measures_on_the_files_themselves(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run, qrels = random_files(seed)
    asked, support = read(run, qrels)
    folder = tmp_path_factory.mktemp("files")
    (folder / "qrels").write_bytes(qrels)
    # ir_measures hands ndeval ties in an order of its own: it is given our order, with scores that say it.
    rows = [line.split() for line in run.decode().splitlines()]
    (folder / "run").write_text("".join(f"{q} Q0 {p} {rank} {-int(rank)} x\n" for q, _, p, rank, _, _ in rows))
    names = ["alpha_nDCG@5", "alpha_nDCG@20", "ERR_IA@10", "StRecall@5"]
    theirs = [ir_measures.parse_measure(n) for n in names]
    held = list(ir_measures.read_trec_qrels(str(folder / "qrels")))
    peer = {
        (str(m.measure), m.query_id): m.value
        for m in ir_measures.iter_calc(theirs, held, list(ir_measures.read_trec_run(str(folder / "run"))))
    }
    for name, values in zip(names, values_of(parse_measures(" ".join(names)), support), strict=True):
        np.testing.assert_allclose(values, [peer[name, q] for q in asked], atol=1e-6)


def greedy_gain(order: list[int], subtopics: dict[int, list[int]], k: int) -> float:
    """The discounted gain of the first k passages, alpha 1/2 (Clarke et al., 2008, equations 3 and 4)."""
    seen: dict[int, int] = {}
    total = 0.0
    for rank, passage in enumerate(order[:k], start=1):
        for subtopic in subtopics.get(passage, ()):
            total += 0.5 ** seen.get(subtopic, 0) / np.log2(1 + rank)
            seen[subtopic] = seen.get(subtopic, 0) + 1
    return total


def greedy_ideal(subtopics: dict[int, list[int]], k: int) -> float:
    """The gain of ndeval's ideal ranking: always the passage that adds most, of equal ones that with the highest id."""
    left, seen, order = sorted(subtopics, reverse=True), dict[int, int](), list[int]()
    while left and len(order) < k:
        best = max(left, key=lambda p: sum(0.5 ** seen.get(s, 0) for s in subtopics[p]))
        left.remove(best)
        order.append(best)
        for subtopic in subtopics[best]:
            seen[subtopic] = seen.get(subtopic, 0) + 1
    return greedy_gain(order, subtopics, k)


def test_systems_on_one_pool_are_divided_by_one_ideal() -> None:
    """alpha_nDCG of five systems on the same pools equals an oracle in plain Python, whose divisor no system changes."""
    rng = np.random.default_rng(17)
    pools = [(rng.random((9, 4)) < 0.4).astype(float) for _ in range(60)]
    numbers = np.sort(rng.permutation(10_000)[:9]).astype(np.int64)
    qrels = Qrels([str(n) for n in range(60)], [numbers] * 60, pools)
    subtopics = [
        {int(p): np.flatnonzero(row).tolist() for p, row in zip(numbers, block, strict=True) if row.any()}
        for block in pools
    ]
    k, [measure] = 5, parse_measures("alpha_nDCG@5")
    for _ in range(5):
        ids = np.stack([rng.permutation([*numbers, 20_000, 20_001])[:7] for _ in pools]).astype(np.int64)
        expected = [
            greedy_gain(row, by_passage, k) / greedy_ideal(by_passage, k)
            for row, by_passage in zip(ids.tolist(), subtopics, strict=True)
        ]
        np.testing.assert_allclose(measure.values(qrels.support(ids)), expected, atol=1e-6)


def test_together_is_as_alone() -> None:
    _, support = read(*random_files(7))
    measures = parse_measures("Recall@5 MRecall@5 alpha_nDCG@5 nDCG@5 ERR_IA@3 Precision@5")
    for measure, values in zip(measures, values_of(measures, support), strict=True):
        np.testing.assert_equal(values, measure.values(support))


BLOCKS = st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=2), min_size=1, max_size=6)
EVERY = "Recall@3 nDCG@3 AP@3 Rprec alpha_nDCG@3 ERR_IA@3 StRecall@3"


@settings(max_examples=40)
@given(st.lists(st.tuples(BLOCKS, BLOCKS), min_size=2, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_questions_is_irrelevant(
    questions: list[tuple[list[list[float]], list[list[float]]]], random: Random
) -> None:
    order = random.sample(range(len(questions)), len(questions))
    straight, mixed = (
        np.array(values_of(parse_measures(EVERY), Support.of(*zip(*(questions[i] for i in way), strict=True))))
        for way in (range(len(questions)), order)
    )
    np.testing.assert_equal(mixed, straight[:, order])


@settings(max_examples=40)
@given(BLOCKS, BLOCKS, st.data())
def test_one_more_relevant_passage_in_the_top_never_lowers_recall(
    top: list[list[float]], beyond: list[list[float]], data: st.DataObject
) -> None:
    """And one more beyond the run never raises it."""
    row = data.draw(st.integers(0, min(2, len(top) - 1)))
    more = [held if n != row else [1.0, held[1]] for n, held in enumerate(top)]
    further = [*beyond, [1.0, 0.0]]
    [recall] = parse_measures("Recall@3")
    before, after, less = (
        float(np.nan_to_num(recall.values(Support.of([a], [b]))[0]))
        for a, b in ((top, beyond), (more, beyond), (top, further))
    )
    assert less <= before <= after


def test_the_pool_beyond_the_cut_ranking_counts() -> None:
    """Passages of the run below the cut are in the pool like those it does not hold."""
    held = Qrels(["q"], [np.array([2, 5, 9])], [np.array([[1.0], [0.0], [1.0]])])
    whole, cut = held.support(np.array([[5, 9, 2, 7, -1]])), held.support(np.array([[5, 9]]))
    np.testing.assert_equal(whole.supports[0, :, 0], [False, True, True, False])
    np.testing.assert_equal(whole.judged[0, :, 0], [True, True, True, False])
    assert whole.rest is not None
    assert cut.rest is not None
    assert (whole.rest.sum(), cut.rest.sum()) == (0, 1)
    [recall] = parse_measures("Recall@2")
    assert recall.values(whole).tolist() == recall.values(cut).tolist() == [0.5]


def test_passage_names_sort_as_their_numbers() -> None:
    assert passage_name(9) < passage_name(10) < passage_name(906_000_000)
