"""From queries to rankings."""

from collections.abc import Sequence

from berdseye.data.corpora import Corpus
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Ids, Ranking, Scores
from berdseye.retrieval.page_search import searchable
from berdseye.retrieval.pipeline import Pipeline
from berdseye.retrieval.protocol import Searchable
from berdseye.retrieval.queries import Query, as_queries
from berdseye.retrieval.ranking import checked_k, padded

_BATCH = 64


def search(
    corpus: Corpus,
    pipeline: Pipeline,
    queries: Sequence[Query | str],
    k: int,
    *,
    day: str | None = None,
    over: Searchable | None = None,
    progress: Progress = silent,
) -> tuple[Ids, Scores]:
    """Rankings of the queries: `ids` int64[n_queries, k], `scores` float32[n_queries, k], -1 pads.

    `day` (as 2025-06-01) has a corpus of the web answer from what it found then; without it, it looks today. `over` is the
    corpus in another form, as in shards over a cluster.
    Raises `BadInputError` for an empty query or a k out of range. Queries are one batch for stages that look at all of them.
    """
    return search_passages(over or searchable(corpus, day), pipeline.tuned(corpus), queries, k, progress=progress)


def search_passages(
    passages: Searchable,
    pipeline: Pipeline,
    queries: Sequence[Query | str],
    k: int,
    *,
    progress: Progress = silent,
) -> tuple[Ids, Scores]:
    """The same over passages that may be no corpus."""
    asked = as_queries(queries)
    for query in asked:
        if not query.text.strip():
            raise BadInputError("The question is empty.", hint="Type one, or pick one of a data set.")
    depth = max(checked_k(k), pipeline.depth) if pipeline.stages else checked_k(k)
    rankings: list[Ranking] = []
    for start in range(0, len(asked), _BATCH):
        rankings += passages.rank(pipeline.ranker, asked[start : start + _BATCH], depth)
        progress(len(rankings), "questions", len(asked))
    ids, scores = padded(rankings, depth)
    for stage in pipeline.stages:
        ids, scores = stage.apply(passages, asked, ids, scores)
    return ids[:, :k], scores[:, :k]
