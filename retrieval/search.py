"""From questions to rankings, over a corpus of passages or of web pages."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from data.corpora import Corpus, cut_page
from data.errors import BadInputError, StaleError
from data.progress import Progress, silent
from data.records import Ids, Passage, Ranking, Scores
from retrieval.bm25 import BM25, BM25Index
from retrieval.indexes import ensure_index, index_text
from retrieval.protocol import Index, Retriever
from retrieval.ranking import checked_k, padded
from retrieval.registry import Pipeline

PAGES_A_QUESTION = 10
_BATCH = 64


def search(
    corpus: Corpus,
    pipeline: Pipeline,
    queries: Sequence[str],
    k: int,
    *,
    progress: Progress = silent,
) -> tuple[Ids, Scores]:
    """Rankings of the queries: `ids` int64[n_queries, k], `scores` float32[n_queries, k], -1 pads.

    Raises `BadInputError` for an empty query or a k out of range. Queries are one batch for stages that look at all of them.
    """
    for query in queries:
        if not query.strip():
            raise BadInputError("The question is empty.", hint="Type one, or pick one of a data set.")
    depth = max(checked_k(k), pipeline.depth) if pipeline.stages else checked_k(k)
    retrieve = _over_pages if corpus.manifest.kind == "pages" else _over_passages
    rankings: list[Ranking] = []
    for start in range(0, len(queries), _BATCH):
        rankings += retrieve(corpus, pipeline.retriever, queries[start : start + _BATCH], depth)
        progress(len(rankings), "questions")
    ids, scores = padded(rankings, depth)
    for stage in pipeline.stages:
        ids, scores = stage.apply(corpus, queries, ids, scores)
    return ids[:, :k], scores[:, :k]


def _over_passages(corpus: Corpus, retriever: Retriever, queries: Sequence[str], k: int) -> list[Ranking]:
    return _opened(corpus.folder, corpus.manifest.hash, retriever).search(queries, k)


def _over_pages(corpus: Corpus, retriever: Retriever, queries: Sequence[str], k: int) -> list[Ranking]:
    """The pages that BM25 finds for a question stand in for a web search; they are cut and ranked on the fly."""
    pages, index = _page_index(corpus.folder, corpus.manifest.hash)
    found: list[Ranking] = []
    for query, chosen in zip(queries, index.search(queries, PAGES_A_QUESTION), strict=True):
        # In order of id, so that the index's numbers break ties as the ids do.
        passages = sorted(p for i in chosen.ids.tolist() for p in cut_page(pages[i]))
        local = retriever.build([[index_text(p) for p in passages]]).search([query], k)[0] if passages else chosen
        ids = np.array([passages[i].id for i in local.ids.tolist()], dtype=np.int64)
        found.append(Ranking(ids, local.scores))
    return found


@lru_cache(maxsize=32)
def _opened(folder: Path, corpus_hash: str, retriever: Retriever) -> Index:
    return ensure_index(_unchanged(folder, corpus_hash), retriever)


@lru_cache(maxsize=8)
def _page_index(folder: Path, corpus_hash: str) -> tuple[list[Passage], BM25Index]:
    pages = [p for batch in _unchanged(folder, corpus_hash).batches() for p in batch]
    return pages, BM25().build([[index_text(p) for p in pages]])


def _unchanged(folder: Path, corpus_hash: str) -> Corpus:
    corpus = Corpus(folder)
    if corpus.manifest.hash != corpus_hash:
        raise StaleError(f"Corpus '{corpus.name}' was made anew meanwhile.", hint="Ask again.")
    return corpus
