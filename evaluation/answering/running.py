"""Answering a data set, and storing the answers together with the searches and chunks from which each was written, so that a
reader can see what the model read.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from berdseye.data.answers import Answer, AnswerManifest, AnswerSet, save_answers
from berdseye.data.corpora import Corpus, open_corpus
from berdseye.data.corpora.manifest import berdseye_version
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.datasets.subsets import Subset
from berdseye.data.errors import BadInputError, StaleError, UnknownNameError
from berdseye.data.files.atomic import write_parquet
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.model_registry import open_language_model
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.progress import Progress, silent
from berdseye.data.web.days import begin_day
from berdseye.data.workspace import Workspace, checked_name
from berdseye.evaluation.answering.asking import Asker, Sampling, Spending, Written
from berdseye.evaluation.answering.chunks import CHARACTERS, Chunk, ChunkSource
from berdseye.evaluation.answering.strategies import (
    CHUNKS,
    CHUNKS_A_RETRIEVAL,
    RETRIEVALS,
    STRATEGIES,
    plain,
    react,
    vanilla,
)
from berdseye.evaluation.answering.styles import NEXT_SEARCH, STYLES, Style
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import LabelFunction, PipelineContext

_CHUNKS = pa.list_(
    pa.struct(
        [
            *((name, pa.string()) for name in ("text", "title", "url", "source_id")),
            ("passages", pa.list_(pa.int64())),
            ("left_out", pa.bool_()),
        ]
    )
)
_SCHEMA = pa.schema([("question", pa.string()), ("searches", pa.list_(pa.string())), ("chunks", _CHUNKS)])
_LONGEST_NAME, _LONGEST_MODEL = 64, 20


class Read(NamedTuple):
    """The searches for an answer, the chunks that the model read, and those that did not fit into its window, best first."""

    searches: tuple[str, ...]
    chunks: tuple[Chunk, ...]
    left_out: tuple[Chunk, ...]


def save_read(workspace: Workspace, name: str, written: Mapping[str, Written]) -> None:
    """Store the searches and chunks of the answers of a set, by question id."""
    rows = [
        {
            "question": question,
            "searches": list(answer.searches),
            "chunks": [
                {**chunk._asdict(), "passages": list(chunk.passages), "left_out": left_out}
                for left_out, chunks in ((False, answer.read), (True, answer.left_out))
                for chunk in chunks
            ],
        }
        for question, answer in written.items()
    ]
    write_parquet(_path(workspace, name), pa.Table.from_pylist(rows, schema=_SCHEMA))


def load_read(workspace: Workspace, name: str) -> dict[str, Read]:
    """Load the searches and chunks of the answers of a set, by question id; empty for sets that Berdseye did not write.

    Raises `StaleError` if the file cannot be read.
    """
    path = _path(workspace, name)
    if not path.exists():
        return {}
    try:
        rows = pq.read_table(path).select(_SCHEMA.names).to_pylist()
    except (OSError, ValueError, KeyError) as error:
        raise StaleError(
            f"The passages that the model read cannot be loaded: {error}.",
            where=path,
            hint="Run `berdseye answer` again.",
        ) from error
    by_question: dict[str, Read] = {}
    for row in rows:
        sides: dict[bool, list[Chunk]] = {False: [], True: []}
        for chunk in row["chunks"]:
            left_out = chunk.pop("left_out")
            sides[left_out].append(Chunk(**{**chunk, "passages": tuple(chunk["passages"])}))
        by_question[row["question"]] = Read(tuple(row["searches"]), tuple(sides[False]), tuple(sides[True]))
    return by_question


def _path(workspace: Workspace, name: str) -> Path:
    return workspace.folder / "answers" / "read" / f"{checked_name('set of answers', name)}.parquet"


@dataclass(frozen=True)
class AnsweringPlan:
    """How to answer questions; `chunks` is the number of chunks of each retrieval, by default 10 for vanilla and 3 for ReAct.

    `words` is the length that the prompt asks for, and `next_search` the prompt between two retrievals of ReAct.

    Raises `UnknownNameError` for an unknown strategy, and `BadInputError` for retrieval without a corpus, for plain answers with
    one, and for invalid sampling.
    """

    strategy: str = "plain"
    style: Style = STYLES["basic"]
    sampling: Sampling = field(default_factory=Sampling)
    corpus: str | None = None
    pipeline: str = "bm25"
    chunks: int | None = None
    characters: int = CHARACTERS
    retrievals: int = RETRIEVALS
    trusted_only: bool = False
    day: str | None = None
    window: int | None = None
    trusted_list: str = "debateqa"
    words: int | None = None
    next_search: PromptTemplate = NEXT_SEARCH

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise UnknownNameError("strategy", self.strategy, STRATEGIES)
        if self.strategy == "plain" and (self.corpus is not None or self.trusted_only or self.day is not None):
            raise BadInputError(
                "The strategy plain uses no corpus.",
                hint="Choose vanilla or react, or omit the corpus and its options.",
            )
        if self.strategy != "plain" and self.corpus is None:
            raise BadInputError(f"The strategy {self.strategy} needs a corpus.", hint="Name one with --corpus.")
        if self.sampling.max_tokens < 1 or not 0 <= self.sampling.temperature <= 2:
            raise BadInputError(
                f"{self.sampling.max_tokens} tokens at temperature {self.sampling.temperature:g} are not possible.",
                hint="Give at least 1 token, and a temperature between 0 and 2.",
            )
        if self.words is not None and self.words < 1:
            raise BadInputError(f"An answer of {self.words} words is not possible.", hint="Give at least 1 word.")
        if not 0 < self.sampling.top_p <= 1:
            raise BadInputError(
                f"Nothing can be drawn from the share {self.sampling.top_p:g} of the probability.",
                hint="Give a top-p above 0, and at most 1.",
            )

    @property
    def asked_style(self) -> Style:
        """The style, with the wanted length if there is one."""
        return self.style if self.words is None else self.style.of_length(self.words)


def answer_dataset(
    workspace: Workspace,
    dataset: str,
    model: str,
    plan: AnsweringPlan,
    *,
    name: str | None = None,
    limit: int | None = None,
    sample: int | None = None,
    sample_seed: int = 0,
    label_function: LabelFunction | None = None,
    progress: Progress = silent,
) -> AnswerManifest:
    """Answer the questions of a data set, and store the answers with all settings and versions.

    With `limit`, only the first `limit` questions are answered; with `sample`, that many questions drawn with `sample_seed`.

    Without a `name`, the set is named after the data set, the model, the style and the strategy, with a hash of everything that
    determines the answers; equal settings write the same set again, from the stored completions. `label_function` is for
    pipelines that use a detector.
    """
    subset = Subset(limit, sample, sample_seed)
    questions = subset.of(load_dataset(workspace, dataset))
    if not questions:
        raise BadInputError(f"The data set '{dataset}' has no questions to answer.", hint="Choose another data set.")
    opened = open_language_model(model, workspace)
    asker = Asker(opened, CompletionCache(workspace), plan.asked_style, plan.sampling, plan.window, plan.next_search)
    source = _source(workspace, plan, label_function)
    settings = _settings(asker, plan, source)
    if subset.settings:
        settings["questions"] = len(questions)
    if sample is not None:
        settings |= subset.settings
    set_name = checked_name("set of answers", name) if name else _name(dataset, opened.name, plan, settings)
    written = _written(asker, plan, source, [q.text for q in questions], progress)
    save_read(workspace, set_name, {q.id: w for q, w in zip(questions, written, strict=True)})
    answers = [Answer(q.id, w.text) for q, w in zip(questions, written, strict=True)]
    return save_answers(workspace, AnswerSet(set_name, dataset, opened.name, settings | _statistics(written), answers))


def _source(workspace: Workspace, plan: AnsweringPlan, label_function: LabelFunction | None) -> ChunkSource | None:
    if plan.corpus is None:
        return None
    corpus = open_corpus(workspace, plan.corpus)
    day = plan.day
    if corpus.manifest.kind == "web":
        day = day or begin_day()
    elif day is not None:
        raise BadInputError(f"A day applies only to web corpora, and '{corpus.name}' is not one.", hint="Omit the day.")
    pipeline = parse_pipeline(plan.pipeline, PipelineContext(workspace, label_function)).tuned(corpus)
    return ChunkSource(corpus, pipeline, plan.characters, plan.trusted_only, day, plan.trusted_list)


def _written(
    asker: Asker, plan: AnsweringPlan, source: ChunkSource | None, questions: Sequence[str], progress: Progress
) -> list[Written]:
    if source is None:
        return plain(asker, questions, progress=progress)
    if plan.strategy == "vanilla":
        return vanilla(asker, questions, source, chunks=_chunks(plan), progress=progress)
    return react(asker, questions, source, retrievals=plan.retrievals, chunks=_chunks(plan), progress=progress)


def _chunks(plan: AnsweringPlan) -> int:
    if plan.chunks is not None:
        return plan.chunks
    return CHUNKS if plan.strategy == "vanilla" else CHUNKS_A_RETRIEVAL


def _settings(asker: Asker, plan: AnsweringPlan, source: ChunkSource | None) -> dict[str, Any]:
    """Return everything that determines the answers."""
    settings: dict[str, Any] = {
        "strategy": plan.strategy,
        "style": plan.style.name,
        "style_versions": dict(asker.style.versions),
        "model_version": asker.model.version,
        **plan.sampling._asdict(),
        "window": plan.window,
    }
    if plan.sampling.top_p == 1:  # as in sets of answers that were written before it could be chosen
        del settings["top_p"]
    if plan.words is not None:
        settings["words"] = plan.words
    if plan.next_search is not NEXT_SEARCH:
        settings["next_search"] = {plan.next_search.name: plan.next_search.version}
    if source is None:
        return settings
    corpus: Corpus = source.corpus
    settings |= {
        "corpus": corpus.name,
        "corpus_hash": corpus.manifest.hash,
        "pipeline": str(source.pipeline),
        "pipeline_versions": source.pipeline.versions,
        "chunks": _chunks(plan),
        "characters": plan.characters,
        "trusted_only": plan.trusted_only,
        "trusted": list(source.endings),
        "day": source.day,
    }
    return settings | ({"retrievals": plan.retrievals} if plan.strategy == "react" else {})


def _statistics(written: Sequence[Written]) -> dict[str, Any]:
    """Return the numbers of empty answers, of answers without chunks or with chunks left out, and tokens and costs."""
    spent = Spending()
    for answer in written:
        spent = spent.plus(answer.spent)
    return {
        "empty_answers": sum(not w.text for w in written),
        "mean_words": sum(len(w.text.split()) for w in written) / len(written),
        "answers_without_chunks": sum(not w.read for w in written),
        "answers_with_chunks_left_out": sum(bool(w.left_out) for w in written),
        **spent._asdict(),
        "berdseye": berdseye_version(),
    }


def _name(dataset: str, model: str, plan: AnsweringPlan, settings: Mapping[str, Any]) -> str:
    digest = hashlib.blake2b(json.dumps([model, settings], sort_keys=True).encode(), digest_size=4).hexdigest()
    bare = model.partition("(")[2].rstrip(')"').rpartition("/")[2].removesuffix(".gguf")[:_LONGEST_MODEL]
    parts = [dataset, bare, plan.style.name, plan.strategy, *([plan.corpus] if plan.corpus else [])]
    stem = re.sub(r"[^a-z0-9._]+", "-", "-".join(parts).lower()).lstrip("-._")
    return f"{stem[: _LONGEST_NAME - len(digest) - 1]}-{digest}"
