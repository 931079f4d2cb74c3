"""Passages like a passage: the nearest by the vectors of a dense index."""

from berdseye.data.corpora import Corpus
from berdseye.data.errors import BadInputError
from berdseye.data.records import Passage, Ranking
from berdseye.retrieval.dense.ranker import Dense
from berdseye.retrieval.indexes import index_folder
from berdseye.retrieval.passage_collections import Stored


def neighbours(
    corpus: Corpus, passage: Passage, k: int, *, dense: Dense | None = None, itself: bool = False
) -> Ranking:
    """The k passages of `corpus` whose vectors are most similar to that of `passage`, which may be another corpus's.

    `dense` says whose vectors (the static embedding's unless told); the index is made where there is none. Without `itself`
    the passage's own id is left out, which is meant for its own corpus. Raises `BadInputError` for a corpus of web pages.
    """
    if k < 1:
        raise BadInputError(f"k is {k}.", hint="Choose at least 1.")
    indexer = (dense or Dense()).indexer
    index = Stored(corpus).index(indexer)
    [found] = index.search(indexer.encode_passages([passage]), k + (not itself))
    kept = found.ids != passage.id if not itself else found.ids >= 0
    return Ranking(found.ids[kept][:k], found.scores[kept][:k])


def has_neighbours(corpus: Corpus, dense: Dense | None = None) -> bool:
    """Whether the index stands already, so that asking takes no long work."""
    return (
        corpus.manifest.kind == "passages"
        and (index_folder(corpus, (dense or Dense()).indexer) / "manifest.json").exists()
    )
