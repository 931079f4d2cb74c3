"""Counts with their nouns in the right number."""

from berdseye.data.texts.counts import counted, plural


def test_the_noun_has_the_number_of_its_count() -> None:
    assert [counted(n, "pair") for n in (0, 1, 2, 1200)] == ["0 pairs", "1 pair", "2 pairs", "1,200 pairs"]
    assert [counted(n, "corpus", "corpora") for n in (1, 2)] == ["1 corpus", "2 corpora"]
    assert [plural(n, "is", "are") for n in (1, 2)] == ["is", "are"]
