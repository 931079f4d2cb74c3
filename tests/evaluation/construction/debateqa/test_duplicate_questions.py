"""Duplicates of questions: every cover is complete and independent of the order; thresholds follow people's judgments."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError
from berdseye.evaluation.construction.debateqa import similarity
from berdseye.evaluation.construction.debateqa.calibration import JudgedPair, drawn_pairs, suggested_threshold
from berdseye.evaluation.construction.debateqa.duplicates import Dropped, cover, duplicates, edge_counts
from berdseye.evaluation.construction.debateqa.similarity import blocks, rounded

WORDS = ("should", "we", "ban", "keep", "zoos", "cars", "schools", "guns", "meat", "taxes", "voting", "prisons")
questions = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), min_size=1, max_size=25, unique=False
)
thresholds = st.sampled_from([0.3, 0.5, 0.7, 0.78, 0.9, 1.0])


def named(texts: Sequence[str]) -> dict[str, str]:
    return {f"q{n:02}": text for n, text in enumerate(texts)}


def cosines(texts: Sequence[str]) -> np.ndarray:
    vectors = similarity.unit_vectors(list(texts), "static")
    return vectors @ vectors.T


@settings(deadline=None)
@given(questions, thresholds)
def test_no_two_kept_questions_are_alike_and_each_dropped_one_has_a_kept_neighbour(
    texts: list[str], threshold: float
) -> None:
    asked = named(texts)
    dropped = duplicates(list(asked), texts, threshold=threshold)
    kept = [name for name in asked if name not in {d.id for d in dropped}]
    between = cosines([asked[name] for name in kept])
    np.fill_diagonal(between, -1)
    assert not (between >= threshold).any()
    assert len({asked[name] for name in kept}) == len(kept)
    for one in dropped:
        assert one.kept in kept
        same = asked[one.id] == asked[one.kept]
        nearest = max(float(cosines([asked[one.id], asked[name]])[0, 1]) for name in kept)
        assert one.cosine == 1.0 if same else one.cosine == pytest.approx(nearest, abs=1e-6)
        assert one.cosine >= threshold


@settings(deadline=None)
@given(questions, thresholds, st.randoms(use_true_random=False))
def test_the_order_of_the_questions_makes_no_difference(texts: list[str], threshold: float, random: Random) -> None:
    asked = list(named(texts).items())
    before = duplicates(*map(list, zip(*asked, strict=True)), threshold=threshold)
    random.shuffle(asked)
    assert duplicates(*map(list, zip(*asked, strict=True)), threshold=threshold) == before


def graph_vectors(vertices: int, edges: Sequence[tuple[int, int]]) -> np.ndarray:
    """Vectors whose cosine is above 0.1 exactly for the edges: one own axis per vertex, and one per edge that both share."""
    vectors = np.zeros((vertices, vertices + len(edges)))
    for vertex in range(vertices):
        vectors[vertex, vertex] = 1.0
    for axis, ends in enumerate(edges):
        vectors[list(ends), vertices + axis] = 1.0
    return rounded(vectors)


def test_the_question_with_most_duplicates_is_dropped_first_and_of_equals_the_smallest() -> None:
    path = graph_vectors(5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    assert [(place, kept) for place, kept, _ in cover(path, 0.1)] == [(1, 0), (3, 4)]


def test_a_question_whose_duplicates_are_all_dropped_later_is_taken_back() -> None:
    """0 has four neighbours and goes first; each of them then has two leaves of its own and goes as well."""
    spider = [(0, n) for n in (1, 2, 3, 4)] + [(n, 3 + 2 * n + leaf) for n in (1, 2, 3, 4) for leaf in (0, 1)]
    vectors = graph_vectors(13, spider)
    assert edge_counts(vectors, 0.1).tolist() == [4, 3, 3, 3, 3] + [1] * 8
    assert [place for place, _, _ in cover(vectors, 0.1)] == [1, 2, 3, 4]


def test_blocks_give_each_pair_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "_LONGEST_BLOCK", 4)
    monkeypatch.setattr(similarity, "_CELLS", 12)
    vectors = rounded(np.random.default_rng(0).normal(size=(11, 5)))
    seen = np.zeros((11, 11))
    for row, column, values in blocks(vectors):
        for a, b in zip(*np.nonzero(values > -np.inf), strict=True):
            seen[row + a, column + b] += 1
            assert values[a, b] == vectors[row + a] @ vectors[column + b]  # exact, whatever the block
    assert (seen == np.triu(np.ones((11, 11)), 1)).all()


def test_cosines_do_not_depend_on_the_order_of_the_coordinates() -> None:
    rng = np.random.default_rng(1)
    vectors = rounded(rng.normal(size=(40, 1024)).astype(np.float32))
    shuffled = vectors[:, rng.permutation(1024)]
    assert (vectors @ vectors.T == shuffled @ shuffled.T).all()


def test_pairs_are_drawn_evenly_over_the_similarities() -> None:
    rng = Random(3)
    texts = sorted({" ".join(rng.choices(WORDS, k=rng.randint(2, 6))) for _ in range(150)})
    asked = named(texts)
    drawn = drawn_pairs(list(asked), texts, pairs=100, lowest=0.4, seed=7)
    assert len(drawn) == len({pair[:2] for pair in drawn}) == 100
    assert all(pair.first < pair.second for pair in drawn)
    for pair in drawn:
        assert pair.cosine == pytest.approx(float(cosines([asked[pair.first], asked[pair.second]])[0, 1]), abs=1e-6)
    of_stratum = np.histogram([pair.cosine for pair in drawn], bins=np.linspace(0.4, 1.0, 21))[0]
    every = cosines(texts)[np.triu_indices(len(texts), 1)]
    held = np.histogram(every[every >= 0.4], bins=np.linspace(0.4, 1.0, 21))[0]
    assert (of_stratum >= np.minimum(held, 5)).all()
    assert drawn_pairs(list(asked)[::-1], texts[::-1], pairs=100, lowest=0.4, seed=7) == drawn
    assert drawn_pairs(list(asked), texts, pairs=100, lowest=0.4, seed=8) != drawn


def test_fewer_pairs_are_drawn_if_there_are_no_more() -> None:
    assert len(drawn_pairs(["a", "b", "c"], ["ban zoos", "ban the zoos", "lower taxes"], lowest=-1.0)) == 3
    assert drawn_pairs(["a"], ["ban zoos"]) == []


def test_the_threshold_is_the_highest_without_a_duplicate_below_it() -> None:
    judged = [
        JudgedPair(0.95, 3, 0), JudgedPair(0.81, 2, 1), JudgedPair(0.79, 1, 2), JudgedPair(0.78, 2, 1),
        JudgedPair(0.77, 1, 1), JudgedPair(0.6, 0, 3),
    ]  # fmt: skip
    found = suggested_threshold(judged)
    assert found.threshold == 0.78
    assert (found.duplicates, found.different, found.undecided, found.joined) == (3, 2, 1, 1)
    assert suggested_threshold([JudgedPair(0.9, 0, 2)]).threshold is None


def test_repeats_lead_to_a_question_that_is_kept() -> None:
    asked = {"a": "Should zoos be banned?", "b": "should  zoos be BANNED?", "c": "Is meat murder?"}
    assert duplicates(list(asked), list(asked.values())) == [Dropped("b", "a", 1.0)]


@pytest.mark.parametrize("threshold", [0.0, -0.1, 1.5])
def test_thresholds_out_of_range_are_refused(threshold: float) -> None:
    with pytest.raises(BadInputError, match="threshold"):
        duplicates(["a"], ["b"], threshold=threshold)


def test_repeated_ids_are_refused() -> None:
    with pytest.raises(BadInputError, match="id 'a'"):
        duplicates(["a", "a"], ["one", "two"])


def test_no_questions_have_no_duplicates() -> None:
    assert duplicates([], []) == []
