"""Near-duplicates: no false group, next to none missed."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.corpora import add_corpus, open_corpus
from berdseye.data.errors import BadInputError
from berdseye.data.texts.near_duplicates import NearDuplicates, near_duplicates
from berdseye.data.workspace import Workspace

CHOSEN = random.Random(5)
VOCABULARY = [f"w{n}" for n in range(2000)]


def text(words: int = 100) -> str:
    return " ".join(CHOSEN.choices(VOCABULARY, k=words))


def edited(original: str, changes: int) -> str:
    words = original.split()
    for place in CHOSEN.sample(range(len(words)), changes):
        words[place] = CHOSEN.choice(VOCABULARY)
    return " ".join(words)


def similarity(a: str, b: str) -> float:
    """Jaccard similarity of word 5-grams, by the definition."""
    shingles = [
        {tuple(w[n : n + 5]) for n in range(max(1, len(w) - 4))} for w in (a.lower().split(), b.lower().split())
    ]
    return len(shingles[0] & shingles[1]) / len(shingles[0] | shingles[1])


def test_groups_begin_with_their_earliest_and_hold_no_stranger() -> None:
    first, second = text(), text()
    texts = [text(), first, second, edited(first, 1), text(), edited(second, 1), edited(first, 1), first.upper() + "!"]
    assert near_duplicates(texts) == [[1, 3, 6, 7], [2, 5]]


def test_every_member_resembles_the_first_and_few_pairs_are_missed() -> None:
    originals = [text() for _ in range(60)]
    texts = originals + [edited(o, changes) for o in originals for changes in (1, 2, 3, 5)]
    CHOSEN.shuffle(texts)
    for threshold in (0.5, 0.8):
        groups = near_duplicates(texts, threshold)
        assert all(similarity(texts[g[0]], texts[other]) >= threshold for g in groups for other in g[1:])
        assert [g[0] for g in groups] == sorted(g[0] for g in groups)
        assert all(g == sorted(g) for g in groups)
        dropped = {other for g in groups for other in g[1:]}
        left = [t for n, t in enumerate(texts) if n not in dropped]
        pairs = [(a, b) for n, a in enumerate(left) for b in left[n + 1 :] if set(a.split()) & set(b.split())]
        missed = sum(similarity(a, b) >= threshold + 0.05 for a, b in pairs)
        assert missed <= 0.02 * len(dropped)


def test_unlike_texts_make_no_group() -> None:
    assert near_duplicates([text() for _ in range(500)]) == []
    assert near_duplicates([]) == []


def test_short_and_empty_texts() -> None:
    assert near_duplicates(["Yes.", "yes", "No.", "", "", "!", "?"]) == [[0, 1], [3, 4]]


@given(st.lists(st.text("ab ", max_size=12), max_size=20), st.sampled_from([0.3, 0.8, 1.0]))
@settings(max_examples=40, deadline=None)
def test_groups_are_disjoint_and_of_two_at_least(texts: list[str], threshold: float) -> None:
    groups = near_duplicates(texts, threshold)
    members = [m for g in groups for m in g]
    assert len(members) == len(set(members))
    assert all(len(g) > 1 for g in groups)
    repeated = {n for n, t in enumerate(texts) if t in texts[:n]}
    assert repeated <= {m for g in groups for m in g[1:]}


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.5])
def test_an_invalid_threshold_is_reported(threshold: float) -> None:
    with pytest.raises(BadInputError, match="above 0 and at most 1"):
        NearDuplicates(threshold)


def test_too_many_texts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("berdseye.data.texts.near_duplicates.MOST_TEXTS", 3)
    with pytest.raises(BadInputError, match="among at most 3 texts"):
        near_duplicates(["a", "b", "c", "d"])


def test_a_corpus_without_them_keeps_the_first_of_each(workspace: Workspace) -> None:
    first, other = text(), text()
    texts = [first, other, edited(first, 1), first, text(), edited(other, 1)]
    path = workspace.folder / "c.tsv"
    path.write_text("id\ttext\ttitle\n" + "".join(f"d{n}\t{t}\tT\n" for n, t in enumerate(texts)))
    kept = add_corpus(workspace, "kept", path)
    assert (kept.count, kept.duplicates_merged, kept.near_duplicates) == (5, 1, 0)
    dropped = add_corpus(workspace, "dropped", path, near_duplicates="drop")
    assert (dropped.count, dropped.duplicates_merged, dropped.near_duplicates) == (3, 1, 2)
    held = [(p.id, p.source_id) for batch in open_corpus(workspace, "dropped").batches() for p in batch]
    assert held == [(0, "d0"), (1, "d1"), (2, "d4")]
    assert add_corpus(workspace, "loose", path, near_duplicates="drop", threshold=0.99).count == 5
