"""The made-up passages are as their description says."""

from collections import Counter

import numpy as np
import pytest

from berdseye.data.corpora import open_corpus
from berdseye.data.workspace import Workspace
from tests.data.synthetic_passages import synthetic_passages, synthetic_queries, write_synthetic_corpus


@pytest.fixture(scope="module")
def texts() -> list[str]:
    (table,) = synthetic_passages(20_000)
    found: list[str] = table.column("text").to_pylist()
    return found


def test_a_corpus_is_as_if_it_had_been_added(workspace: Workspace) -> None:
    manifest = write_synthetic_corpus(workspace, "made", 60_000, seed=4)
    corpus = open_corpus(workspace, "made")
    assert (manifest, workspace.corpora()) == (corpus.manifest, ["made"])
    assert [i for b in corpus.columns() for i in b.column("id").to_pylist()] == list(range(60_000))
    assert manifest.documents == len({p.source_id.partition("#")[0] for b in corpus.batches() for p in b})
    asked = corpus.passages([59_999, 0, 50_000])
    assert [p.id for p in asked] == [59_999, 0, 50_000]
    assert all(1 <= len(p.title.split()) <= 4 for p in asked)
    again = write_synthetic_corpus(workspace, "again", 60_000, seed=4)
    other = write_synthetic_corpus(workspace, "other", 60_000, seed=5)
    assert again.hash == manifest.hash != other.hash


def test_lengths_and_frequencies_are_realistic(texts: list[str]) -> None:
    lengths = np.array([len(t.split()) for t in texts])
    assert 90 < lengths.mean() < 100
    assert 20 <= lengths.min() < 40
    assert lengths.max() <= 110
    counts = Counter(word for t in texts for word in t.lower().replace(".", "").split())
    assert [word for word, _ in counts.most_common(5)] == ["the", "a", "and", "to", "of"]
    total = sum(counts.values())
    assert 0.02 < counts["the"] / total < 0.07
    assert 0.2 < sum(n == 1 for n in counts.values()) / len(counts) < 0.6


def test_distinct_words_grow_as_heaps_law_says(texts: list[str]) -> None:
    """V = K N^b with b near a half."""
    held = [len({w for t in texts[:n] for w in t.lower().split()}) for n in (1250, 5000, 20_000)]
    slopes = np.diff(np.log(held)) / np.log(4)
    assert ((slopes > 0.3) & (slopes < 0.75)).all()


def test_words_come_in_clumps(texts: list[str]) -> None:
    """A word in one of a hundred passages or fewer stands in those more than once, more often than by chance."""
    inside = [Counter(t.lower().split()) for t in texts]
    passages = Counter(word for counts in inside for word in counts)
    rare = {w for w, n in passages.items() if 20 < n < 200}
    again = [counts[w] > 1 for counts in inside for w in counts.keys() & rare]
    assert np.mean(again) > 0.05


def test_queries_mix_frequent_and_rare_words(texts: list[str]) -> None:
    queries = synthetic_queries(300, seed=1)
    assert queries == synthetic_queries(300, seed=1) != synthetic_queries(300, seed=2)
    lengths = [len(q.split()) for q in queries]
    assert (min(lengths), max(lengths)) == (5, 10)
    frequent = {w for w, _ in Counter(word for t in texts for word in t.lower().split()).most_common(150)}
    shares = [np.mean([w in frequent for w in q.lower().rstrip("?").split()]) for q in queries]
    assert 0.2 < np.mean(shares) < 0.5
    held = {w for t in texts for w in t.lower().replace(".", "").split()}
    assert all(set(q.lower().rstrip("?").split()) & held for q in queries)
