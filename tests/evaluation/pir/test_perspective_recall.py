"""p-Recall@k, by hand and over the released tasks."""

import json
from collections.abc import Callable
from math import isnan
from pathlib import Path
from random import Random
from typing import Any

import bm25s
import numpy as np
import numpy.typing as npt
import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from berdseye.data.datasets.pir_tasks import PirTask, pir_task, read_pir_task
from berdseye.evaluation.pir.measures import (
    PerspectiveRecall,
    p_recall,
    perspective_recalls,
    relevant_passages,
    root_values,
    successes,
)
from berdseye.retrieval.pipeline_registry import parse_pipeline


@pytest.mark.parametrize(
    ("roots", "hits", "mean", "zero"),
    [
        # Root a: 1 of 2; root b: 1 of 1, or 0 where roots with one query are; root c: 0 of 3.
        ("aabccc", [1, 0, 1, 0, 0, 0], (1 / 2 + 1 + 0) / 3, (1 / 2 + 0 + 0) / 3),
        ("abab", [1, 1, 1, 0], (1 + 1 / 2) / 2, (1 + 1 / 2) / 2),
        ("a", [1], 1.0, 0.0),
        ("a", [0], 0.0, 0.0),
        ("aaaab", [0, 0, 0, 0, 1], 1 / 2, 0.0),
    ],
)
def test_p_recall_by_hand(roots: str, hits: list[int], mean: float, zero: float) -> None:
    found = np.array(hits, dtype=bool)
    assert p_recall(list(roots), found) == p_recall(list(roots), found, singleton="mean") == pytest.approx(mean)
    assert p_recall(list(roots), found, singleton="zero") == pytest.approx(zero)


def test_without_queries_there_is_no_value() -> None:
    assert isnan(p_recall([], np.array([], dtype=bool)))


def tiny() -> PirTask:
    """Each word stands in one passage, so that a query finds just the passages of its words, the last first."""
    task = {
        "corpus": ["alpha", "beta", "gamma", "delta"],
        "source_queries": ["alpha", "alpha", "beta"],
        "queries": ["alpha delta", "alpha gamma", "beta"],
        "perspectives": ["delta", "gamma", "beta"],
        "query_labels": ["x", "y", "z"],
        "key_ref": {"0": [3], "1": [1], "2": [1, 0]},
    }
    return pir_task(task, Path("tiny.json"))


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        # Queries: alpha delta finds 3 and 0 (hit), alpha gamma 2 and 0 (miss), beta 1 (hit, its root's only query).
        # Root queries: alpha finds 0, which neither of its queries wants; beta finds 1 (hit).
        # Roots: (1/2 + 1) / 2 = 3/4, or with the root of one query at zero (1/2 + 0) / 2 = 1/4.
        (2, PerspectiveRecall(3 / 4, 1 / 4, 2 / 3, 1 / 3, 2, 3)),
        (1, PerspectiveRecall(3 / 4, 1 / 4, 2 / 3, 1 / 3, 2, 3)),
    ],
)
def test_a_task_by_hand(k: int, expected: PerspectiveRecall) -> None:
    (found,) = perspective_recalls(tiny(), [parse_pipeline("bm25")], k)
    assert tuple(found) == pytest.approx(tuple(expected))


def test_the_released_notebook_answers_the_first_query_of_a_root_by_any_passage_of_it() -> None:
    """Of root alpha, whose queries want passages 3 and 1, both find passage 1; the notebook has 1 in the first list, too."""
    ids = np.array([[1, 0], [1, 0], [2, 3]])
    assert successes(tiny(), ids).tolist() == [False, True, False]
    assert successes(tiny(), ids, "released").tolist() == [True, True, False]
    assert relevant_passages(tiny(), "released") == [{1, 3}, {1}, {0, 1}]
    assert relevant_passages(tiny()) == [{3}, {1}, {0, 1}]
    (found,) = perspective_recalls(tiny(), [parse_pipeline("bm25")], 2, "released")
    assert (found.p_recall, found.recall) == (1 / 4, pytest.approx(2 / 3)), "roots of one query are at 0, too"


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_with_one_query_a_root_p_recall_is_recall(hits: list[bool]) -> None:
    found = np.array(hits)
    roots = [str(n) for n in range(len(hits))]
    assert p_recall(roots, found) == pytest.approx(float(found.mean()))
    assert p_recall(roots, found, singleton="zero") == 0.0


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), min_size=1, max_size=40), st.randoms())
def test_p_recall_does_not_depend_on_the_order_of_queries(rows: list[tuple[str, bool]], random: Random) -> None:
    shuffled = random.sample(rows, len(rows))
    one, other = (p_recall([r for r, _ in x], np.array([h for _, h in x])) for x in (rows, shuffled))
    assert one == pytest.approx(other)
    assert 0 <= one <= 1
    assert p_recall([r for r, _ in rows], np.array([h for _, h in rows]), singleton="zero") <= one


def test_roots_come_in_the_order_of_their_first_query() -> None:
    # Root b: (1 + 0) / 2; root a: 1 / 1, or 0 as the only query of its root.
    hits = np.array([True, True, False])
    assert root_values(["b", "a", "b"], hits).tolist() == [0.5, 1.0]
    assert root_values(["b", "a", "b"], hits, singleton="zero").tolist() == [0.5, 0.0]


def test_pipelines_come_in_their_order() -> None:
    names = ["bm25", "dense(static)", "dense(static) >> pap", "bm25 >> mmr(0.5)"]
    found = list(perspective_recalls(tiny(), [parse_pipeline(n) for n in names], 4))
    alone = [next(perspective_recalls(tiny(), [parse_pipeline(n)], 4)) for n in names]
    assert found == alone
    assert found[1].recall == 1.0


Scorer = Callable[[list[str], list[str]], npt.NDArray[np.floating[Any]]]


def by_rank_bm25(corpus: list[str], queries: list[str]) -> npt.NDArray[np.floating[Any]]:
    """As the released notebook does it."""
    peer = BM25Okapi([text.split(" ") for text in corpus])
    return np.stack([peer.get_scores(query.split(" ")) for query in queries])


def by_bm25s(corpus: list[str], queries: list[str]) -> npt.NDArray[np.floating[Any]]:
    """With its own tokenizer, English stop words and Snowball's stemmer."""
    stemmer = Stemmer.Stemmer("english")
    peer = bm25s.BM25(k1=0.9, b=0.4)
    peer.index(bm25s.tokenize(corpus, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
    asked = bm25s.tokenize(queries, stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False)
    return np.stack([peer.get_scores([t for t in tokens if t in peer.vocab_dict]) for tokens in asked])


def by_static_vectors(corpus: list[str], queries: list[str]) -> npt.NDArray[np.floating[Any]]:
    """From the files of the weights, a text at a time."""
    wordllama = pytest.importorskip("wordllama")
    folder = Path(wordllama.__file__).parent
    (table,) = load_file(folder / "weights" / "l2_supercat_256.safetensors").values()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))

    def vector(text: str) -> npt.NDArray[np.float64]:
        mean = table[tokenizer.encode(text, add_special_tokens=False).ids].astype(np.float64).mean(axis=0)
        return np.asarray(mean / np.linalg.norm(mean))

    return np.stack([vector(q) for q in queries]) @ np.stack([vector(t) for t in corpus]).T


@pytest.mark.parametrize("task", ["perspectrum", "ambigqa", "exfever"])
@pytest.mark.parametrize(
    ("pipeline", "scorer"),
    [("bm25(okapi-notebook)", by_rank_bm25), ("bm25", by_bm25s), ("dense(static)", by_static_vectors)],
)
def test_the_released_tasks_score_as_an_independent_program_has_it(
    shared_data: Path, task: str, pipeline: str, scorer: Scorer
) -> None:
    """p-Recall@5 with roots of one query at zero, to 1.5 points, because the peers break ties and round in their own ways.

    Others got 45, 54 and 78 for BM25 with stems, and 53, 52 and 69 for the static vectors.
    """
    path = shared_data / "pir" / f"{task}.json"
    raw = json.loads(path.read_text(encoding="utf-8"))
    by_root: dict[str, list[bool]] = {}
    for number, scores in enumerate(scorer(raw["corpus"], raw["queries"])):
        best = sorted(range(len(scores)), key=lambda n, s=scores: (s[n], n), reverse=True)[:5]
        by_root.setdefault(raw["source_queries"][number], []).append(bool({*raw["key_ref"][str(number)]} & {*best}))
    expected = np.mean([np.mean(hits) if len(hits) > 1 else 0.0 for hits in by_root.values()])
    (found,) = perspective_recalls(read_pir_task(path), [parse_pipeline(pipeline)], 5)
    assert 100 * found.p_recall_singleton_zero == pytest.approx(100 * float(expected), abs=1.5)
    assert found.n_roots == len(by_root)


@pytest.mark.parametrize(
    ("task", "k", "expected"), [("exfever", 5, 0.8235), ("ambigqa", 10, 0.3132), ("perspectrum", 5, 0.3784)]
)
def test_the_notebooks_bm25_is_exact(shared_data: Path, task: str, k: int, expected: float) -> None:
    """p-Recall@k by rank-bm25 over the released texts as they are: without the spaces at their ends, ExFEVER has .8137 and
    AmbigQA .3068."""
    path = shared_data / "pir" / f"{task}.json"
    raw = json.loads(path.read_text(encoding="utf-8"))
    by_root: dict[str, list[bool]] = {}
    for number, scores in enumerate(by_rank_bm25(raw["corpus"], raw["queries"])):
        best = sorted(range(len(scores)), key=lambda n, s=scores: (s[n], n), reverse=True)[:k]
        by_root.setdefault(raw["source_queries"][number], []).append(bool({*raw["key_ref"][str(number)]} & {*best}))
    assert np.mean([np.mean(hits) for hits in by_root.values()]) == pytest.approx(expected, abs=5e-5)
    (found,) = perspective_recalls(read_pir_task(path), [parse_pipeline("bm25(okapi-notebook)")], k)
    assert found.p_recall == pytest.approx(expected, abs=5e-5)
