"""Pipelines, which consist of a retriever and the stages after it, and searching with them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from berdseye.data.corpora import Corpus
from berdseye.data.corpora.tuned_weights import read_tuned
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Ids, Ranking, Scores
from berdseye.retrieval.passage_collections import searchable
from berdseye.retrieval.protocol import Query, Ranker, Searchable, Stage, as_queries
from berdseye.retrieval.ranking import checked_k, padded
from berdseye.retrieval.rerank.mmr import MMR

DEFAULT_DEPTH = 100
_BATCH = 64


@dataclass(frozen=True)
class Pipeline:
    """A retriever and the stages after it; `depth` is the number of passages that the retriever passes to the stages."""

    ranker: Ranker
    stages: tuple[Stage, ...] = ()
    depth: int = DEFAULT_DEPTH

    def __str__(self) -> str:
        shown = f"%{self.depth}" if self.stages and self.depth != DEFAULT_DEPTH else ""
        return " >> ".join([self.ranker.name + shown, *(s.name for s in self.stages)])

    @property
    def versions(self) -> dict[str, str]:
        """The versions of everything that the rankings depend on and the name does not contain."""
        return {name: version for part in (self.ranker, *self.stages) for name, version in part.versions.items()}

    def tuned(self, corpus: Corpus) -> "Pipeline":
        """This pipeline with the weight tuned for the corpus in place of each `mmr(tuned)`.

        Raises `BadInputError` if no weight was tuned, or if it was tuned for scores that were divided in another way.
        """
        stages: list[Stage] = []
        for stage in self.stages:
            if isinstance(stage, MMR) and stage.weight is None:
                weights = read_tuned(corpus.folder)
                name = str(replace(self, stages=(*stages, stage)))
                if name not in weights:
                    raise BadInputError(
                        f"No weight was tuned for '{name}' on corpus '{corpus.name}'.",
                        hint="Run `berdseye tune`, or give a weight like mmr(0.95).",
                    )
                stored = weights[name]
                if not stage.divisor.items() <= stored.versions.items():
                    raise BadInputError(
                        f"The weight for '{name}' on corpus '{corpus.name}' was tuned by an older version, which divided the "
                        "scores of MMR by the largest of all questions.",
                        hint="Run `berdseye tune` again, or use mmr(WEIGHT,variant=paper).",
                    )
                stage = replace(stage, weight=stored.weight)
            stages.append(stage)
        return replace(self, stages=tuple(stages))


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
    """Rankings of the queries: `ids` int64[n_queries, k], padded with -1, and `scores` float32[n_queries, k].

    `day` (like 2025-06-01) makes a corpus of the web use the pages stored on that day; without it, the web is searched today.
    `over` is the corpus in another searchable form, such as shards on a cluster. Stages that look at all queries get them in
    one batch. Raises `BadInputError` for an empty query or a k out of range.
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
    """Rankings of the queries over any searchable passages.

    Returns `ids` int64[n_queries, k], padded with -1, and `scores` float32[n_queries, k]. Raises `BadInputError` for an empty
    query or a k out of range.
    """
    all_queries = as_queries(queries)
    for query in all_queries:
        if not query.text.strip():
            raise BadInputError("The question is empty.", hint="Enter a question, or choose one from a data set.")
    depth = max(checked_k(k), pipeline.depth) if pipeline.stages else checked_k(k)
    rankings: list[Ranking] = []
    for start in range(0, len(all_queries), _BATCH):
        rankings += passages.rank(pipeline.ranker, all_queries[start : start + _BATCH], depth)
        progress(len(rankings), "questions", len(all_queries))
    ids, scores = padded(rankings, depth)
    for stage in pipeline.stages:
        ids, scores = stage.apply(passages, all_queries, ids, scores)
    return ids[:, :k], scores[:, :k]
