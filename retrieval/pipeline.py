"""A pipeline: a ranker and the stages that follow it.

From queries to rankings.
"""

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


@dataclass(frozen=True)
class Pipeline:
    """A ranker and what follows it; `depth` is how many of its passages go on to the stages."""

    ranker: Ranker
    stages: tuple[Stage, ...] = ()
    depth: int = DEFAULT_DEPTH

    def __str__(self) -> str:
        shown = f"%{self.depth}" if self.stages and self.depth != DEFAULT_DEPTH else ""
        return " >> ".join([self.ranker.name + shown, *(s.name for s in self.stages)])

    @property
    def versions(self) -> dict[str, str]:
        """Versions of all that the rankings depend on and the name does not say."""
        return {name: version for part in (self.ranker, *self.stages) for name, version in part.versions.items()}

    def tuned(self, corpus: Corpus) -> "Pipeline":
        """The same with the weight that was chosen for this corpus wherever it says `mmr(tuned)`."""
        stages: list[Stage] = []
        for stage in self.stages:
            if isinstance(stage, MMR) and stage.weight is None:
                weights = read_tuned(corpus.folder)
                asked = str(replace(self, stages=(*stages, stage)))
                if asked not in weights:
                    raise BadInputError(
                        f"No weight was tuned for '{asked}' over '{corpus.name}'.",
                        hint="Run `berdseye tune`, or give one: mmr(0.95).",
                    )
                stage = replace(stage, weight=weights[asked].weight)
            stages.append(stage)
        return replace(self, stages=tuple(stages))


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
