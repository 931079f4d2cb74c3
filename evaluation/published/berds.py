"""Which systems, data sets and corpora of a workspace are those of BERDS: a published figure is shown next to a measured one only
if both are of the same checkpoints, split and size.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from berdseye.data.datasets.stored import split_version
from berdseye.data.errors import BadInputError
from berdseye.data.grammar import Call, parse
from berdseye.evaluation.published import published
from berdseye.retrieval.dense.layouts import DEFAULT_LAYOUT
from berdseye.retrieval.encoders.known_models import find_known

Split = Literal["dev", "test"]
AVERAGE = "average"
_DENSE = {
    "facebook/dpr-question_encoder-single-nq-base": "dpr",
    "facebook/contriever-msmarco": "contriever",
    "nvidia/NV-Embed-v2": "nv-embed-v2",
}
_TART = "facebook/tart-full-flan-t5-xl"
_RERANKED = 100
_SIZE_TOLERANCE = 0.1
"""The paper rounds the sizes of its corpora (22 M for the 21,015,324 passages of DPR's Wikipedia)."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of the data sets and corpora of a study: questions, and passages (None for a corpus of web pages), by name."""

    questions: Mapping[str, int] = field(default_factory=dict)
    passages: Mapping[str, int | None] = field(default_factory=dict)


def paper_retriever(pipeline: str) -> str | None:
    """Return the paper's name of a pipeline, None if the paper did not run it.

    BM25 has Pyserini's parameters, over any index; a dense retriever has the paper's checkpoint and searches exactly; TART is
    TART-full over the top 100 of Contriever.
    """
    try:
        calls = parse(pipeline)
    except BadInputError:
        return None
    retriever = _single(calls[0])
    if len(calls) == 1:
        return retriever
    reranks = len(calls) == 2 and _model(calls[1], "crossencoder", "cross") == _TART and not calls[1].kwargs
    return "tart" if reranks and retriever == "contriever" and calls[0].keep in (None, _RERANKED) else None


def _single(call: Call) -> str | None:
    if call.name == "bm25":
        return "bm25" if not call.args and call.kwargs in ({}, {"tokenizer": Call("porter")}) else None
    if call.name == "lucene":
        return "bm25" if len(call.args) == 1 and not call.kwargs else None
    exact = set(call.kwargs) <= {"index"} and str(call.kwargs.get("index", DEFAULT_LAYOUT)) == DEFAULT_LAYOUT
    return _DENSE.get(_model(call, "dense", "dense")) if exact else None


def _model(call: Call, name: str, kind: Literal["dense", "cross"]) -> str:
    """Return the name on the Hub of the only argument of a call, empty for another call and for a model that is not known."""
    known = find_known(kind, str(call.args[0])) if call.name == name and len(call.args) == 1 else None
    return known.name if known else ""


def paper_dataset(name: str, questions: int, split: Split = "test") -> str | None:
    """Return the paper's name of a data set, None if it is not the published split.

    The name is the paper's, with or without `berds-` before it and the split after it, and the number of questions is the
    paper's. Versions with edited perspectives do not count.
    """
    match = re.fullmatch(rf"(?:berds-)?(.+?)(?:-{split})?", name)
    paper = match[1] if match else name
    return paper if split_version(name)[0] == name and split_sizes(split).get(paper) == questions else None


def split_sizes(split: Split) -> dict[str, int]:
    """Return the number of questions of each data set in a split (BERDS, table 1)."""
    rows = published("berds_dataset").to_dict("records")
    return {str(row["dataset"]): int(row[split]) for row in rows if row["dataset"] != "all"}


def paper_datasets(questions: Mapping[str, int], split: Split = "test") -> dict[str, str]:
    """Return the paper's name of each data set that is a published split; with all three and no other, also the average."""
    known = {name: paper for name, count in questions.items() if (paper := paper_dataset(name, count, split))}
    if len(set(known.values())) == len(questions) == len(split_sizes(split)):
        known[AVERAGE] = AVERAGE
    return known


def paper_corpora(passages: Mapping[str, int | None]) -> dict[str, str]:
    """Return the paper's name of each corpus that has its name and its size, up to the paper's rounding (BERDS, table 2).

    The paper's `google` consists of the pages that a search engine finds, so that its size depends on the day.
    """
    sizes = {
        str(row["corpus"]): float(row["passages"]) if row["scope"] == "whole corpus" else None
        for row in published("berds_corpora").to_dict("records")
    }
    return {name: name for name, count in passages.items() if name in sizes and _alike(count, sizes[name])}


def _alike(count: int | None, published_count: float | None) -> bool:
    if count is None or published_count is None:
        return count is None and published_count is None
    return abs(count - published_count) <= _SIZE_TOLERANCE * published_count
