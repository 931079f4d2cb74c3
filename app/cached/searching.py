"""What the Search page finds: rankings, which are kept, and the passages of several corpora as one list with their facets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.annotation.judgments.verdict_counts import PAIR_STATUSES, passage_statuses
from berdseye.app.access.session import judgments, workspace
from berdseye.app.cached.cached_on import cached_on, judgments_version
from berdseye.data.corpora import open_corpus
from berdseye.data.records import Pair, Passage, Question, Ranking
from berdseye.data.web.addresses import registered_domain
from berdseye.evaluation.exploration.facets import Values
from berdseye.evaluation.exploration.passage_map import sides
from berdseye.evaluation.labels.sources import detector_labels, labels_of, parse_label_source
from berdseye.evaluation.pipelines import pipeline_of
from berdseye.retrieval.dense.ranker import neighbours
from berdseye.retrieval.fusion import fused_over_corpora
from berdseye.retrieval.pipeline import search
from berdseye.retrieval.protocol import Query, query_of

MOST = 100
NO_ADDRESS = "no address"
PERSPECTIVE = "perspective"
Lists = dict[tuple[str, str], tuple[Ranking, list[Passage]]]
"""Rankings with their passages, by corpus and pipeline."""


class Labels(NamedTuple):
    """What a source says of n passages and m perspectives: `values`, float64[n, m] (1, 0, NaN: nobody said), and whether they are
    a detector's that is `unsure`, bool[n, m]."""

    values: npt.NDArray[np.float64]
    unsure: npt.NDArray[np.bool_]

    @property
    def supporting(self) -> npt.NDArray[np.bool_]:
        """Where a passage supports a perspective, bool[n, m]; a label that is unsure does not count."""
        found: npt.NDArray[np.bool_] = (self.values == 1) & ~self.unsure
        return found

    def written(self, passage: int) -> list[str]:
        """Return what is said of a passage and each perspective, as files have it: "1", "0", "unsure", or nothing."""
        return [
            "unsure" if unsure else "" if np.isnan(value) else str(int(value))
            for value, unsure in zip(self.values[passage].tolist(), self.unsure[passage].tolist(), strict=True)
        ]


@cached_on(
    lambda corpus, *_: open_corpus(workspace(), corpus).manifest.hash, max_entries=2000, show_spinner="Searching…"
)
def hits(corpus: str, pipeline: str, query: Query, k: int) -> tuple[Ranking, list[Passage]]:
    """The ranking of one query, with its passages."""
    opened = open_corpus(workspace(), corpus)
    ids, scores = search(opened, pipeline_of(workspace(), pipeline), [query], k)
    found = ids[0] >= 0
    return Ranking(ids[0][found], scores[0][found]), opened.passages(ids[0][found].tolist())


@dataclass(frozen=True)
class Item:
    """A passage that was found; `ranks` (from 1) by the pipelines that did."""

    corpus: str
    passage: Passage
    score: float
    ranks: dict[str, int]


def lists_of(text: str, question: Question | None, corpora: Sequence[str], pipelines: Sequence[str]) -> Lists:
    """The first hundred passages of each corpus and pipeline for a text; the question brings its perspectives along."""
    query = query_of(question) if question is not None and question.text == text else Query(text)
    return {(corpus, pipeline): hits(corpus, pipeline, query, MOST) for pipeline in pipelines for corpus in corpora}


def together(lists: Lists) -> list[Item]:
    """The first hundred of all lists, fused by their ranks."""
    passages = {(corpus, p.id): p for (corpus, _), (_, found) in lists.items() for p in found}
    fused = fused_over_corpora({place: ranking for place, (ranking, _) in lists.items()}, MOST)
    return [Item(f.corpus, passages[f.corpus, f.id], f.score, f.ranks) for f in fused]


def like(corpus: str, number: int, corpora: Sequence[str]) -> tuple[Passage, list[Item]]:
    """A passage, and the hundred most like it in the corpora of passages, by the cosine of their vectors; itself left out."""
    passage = open_corpus(workspace(), corpus).passages([number])[0]
    found = []
    for name in corpora:
        other = open_corpus(workspace(), name)
        if other.manifest.kind == "passages":
            near = neighbours(other, passage, MOST, itself=name != corpus)
            held = other.passages(near.ids.tolist())
            found += [Item(name, p, float(s), {}) for s, p in zip(near.scores.tolist(), held, strict=True)]
    found.sort(key=lambda item: -item.score)
    return passage, found[:MOST]


def labels_of_items(question: Question, items: Sequence[Item], source: str) -> Labels:
    """What a source says of each item and perspective of the question."""
    pairs = [Pair(i.passage.text, p.text, i.passage.title) for i in items for p in question.perspectives]
    shape, parsed = (len(items), len(question.perspectives)), parse_label_source(source)
    values = labels_of(workspace(), judgments(), parsed, pairs)
    unsure = detector_labels(workspace(), judgments(), parsed, pairs).unsure
    doubtful = np.array([pair.key in unsure for pair in pairs], dtype=np.bool_)
    return Labels(values.reshape(shape), doubtful.reshape(shape))


@cached_on(judgments_version, max_entries=500)
def _verdicts(texts: tuple[str, ...]) -> dict[str, list[str]]:
    by_text = passage_statuses(judgments(), texts)
    return {text: [s for s in PAIR_STATUSES if s in words] for text, words in by_text.items()}


def facets_of(items: Sequence[Item], labels: Labels | None) -> Values:
    """The facets of what was found; `labels` bring the perspective that each passage supports."""
    by_text = _verdicts(tuple(item.passage.text for item in items))
    verdicts = [by_text.get(item.passage.text, []) for item in items]
    found = {
        "corpus": [[item.corpus] for item in items],
        "domain": [[registered_domain(item.passage.url) or NO_ADDRESS] for item in items],
        "judged": [["judged" if words else "not judged"] for words in verdicts],
        "verdict": verdicts,
    }
    return found if labels is None else {**found, PERSPECTIVE: [[side] for side in sides(labels.values, labels.unsure)]}
