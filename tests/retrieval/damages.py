"""Ways in which a file comes to harm, and a small workspace with one of everything that is stored."""

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from berdseye.data.answers import Answer, AnswerSet, answer_files, load_answers, save_answers
from berdseye.data.corpora import open_corpus
from berdseye.data.corpora.manifest import corpus_files
from berdseye.data.datasets.stored import dataset_files, load_dataset, save_dataset
from berdseye.data.files import checksums
from berdseye.data.files.checksums import FileSet
from berdseye.data.labels import LabelStore, segment_files
from berdseye.data.records import Perspective, Question
from berdseye.data.runs.stored import load_run, run_files, run_name, save_run
from berdseye.data.workspace import Workspace
from berdseye.retrieval.indexes import ensure_index, index_files
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import Query
from tests.retrieval.corpus_files import CITY, corpus_of

Damage = Callable[[bytes, bytes], bytes | None]
FLIPS = 2
PIPELINES = {"lexical": "bm25", "flat": "dense(static)", "quantised": "dense(static,index=sq8)"}
QUESTIONS = [Question(f"q{n}", "d", f"Question {n} on elephants?", (Perspective("Yes."),)) for n in range(4)]
RUN = run_name("d", "c", "bm25")
KEYS = [f"{n:032x}" for n in range(8)]


def _flipped(seed: int) -> Damage:
    def flip(whole: bytes, other: bytes) -> bytes:
        del other
        damaged, chance = bytearray(whole), random.Random(seed)
        damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        return bytes(damaged)

    return flip


DAMAGES: dict[str, Damage] = {
    "missing": lambda _, __: None,
    "empty": lambda _, __: b"",
    "cut in half": lambda whole, _: whole[: len(whole) // 2],
    "zeroed": lambda whole, _: bytes(len(whole)),
    "with garbage at its end": lambda whole, _: whole + b"garbage",
    "swapped": lambda _, other: other,
} | {f"bit flipped, {seed}": _flipped(seed) for seed in range(FLIPS)}


def make(workspace: Workspace, seed: int) -> None:
    """One of everything that is stored; other seeds give other content under the same names."""
    chance = random.Random(seed)
    words = " ".join(CITY).split()
    texts = [f"{CITY[n % len(CITY)]} {' '.join(chance.choices(words, k=9))} word{seed}{seed * 10}" for n in range(60)]
    corpus = corpus_of(workspace, texts)
    for pipeline in PIPELINES.values():
        ensure_index(corpus, parse_pipeline(pipeline).ranker.indexers[0])
    save_dataset(workspace, "d", [replace(q, text=f"{q.text} {seed}") for q in QUESTIONS])
    numbers = np.random.default_rng(seed)
    save_run(
        workspace,
        dataset="d",
        corpus="c",
        corpus_hash=corpus.manifest.hash,
        pipeline="bm25",
        question_ids=[q.id for q in QUESTIONS],
        ids=numbers.permuted(np.tile(np.arange(60), (4, 1)), axis=1)[:, :20],
        scores=-np.sort(-numbers.random((4, 20)).astype(np.float32)),
        milliseconds_per_question=float(seed),
    )
    for source, version in (("embedded", "v1"), ("gold", "d")):
        LabelStore(workspace).put(source, version, KEYS, numbers.random(len(KEYS)).tolist())
    save_answers(workspace, AnswerSet("a", "d", f"model {seed}", {}, [Answer("q0", f"Answer {seed}.")]))


def sets(workspace: Workspace) -> dict[str, FileSet]:
    """What is stored, by kind."""
    corpus = workspace.folder / "corpora" / "c"
    names = PIPELINES | {"lexical": "lexical(english)"}
    indexes = {kind: index_files(corpus / "indexes" / name) for kind, name in names.items()}
    (labels,) = (workspace.labels_folder / "embedded" / "v1").glob("*.parquet")
    (gold,) = (workspace.labels_folder / "gold" / "d").glob("*.parquet")
    return indexes | {
        "corpus": corpus_files(corpus),
        "run": run_files(workspace, RUN),
        "labels": segment_files(labels),
        "gold": segment_files(gold),
        "data set": dataset_files(workspace.dataset_file("d")),
        "answers": answer_files(workspace.folder / "answers" / "a.json"),
    }


def use(workspace: Workspace, kind: str) -> object:
    """What a person gets of it: opened as by a process that has opened nothing yet."""
    match kind:
        case "corpus":
            corpus = open_corpus(workspace, "c")
            return [p for batch in corpus.batches() for p in batch], corpus.passages([3, 50])
        case "run":
            run = load_run(workspace, RUN)
            return run.manifest, run.question_ids, run.ids.tolist(), run.scores.tolist()
        case "labels" | "gold":
            return LabelStore(workspace).get("gold" if kind == "gold" else "embedded", KEYS).tolist()
        case "data set":
            return load_dataset(workspace, "d")
        case "answers":
            return load_answers(workspace, "a")
    return rankings(workspace, kind)


def rankings(workspace: Workspace, kind: str) -> list[tuple[list[int], list[float]]]:
    """What an index ranks for some queries."""
    corpus, ranker = open_corpus(workspace, "c"), parse_pipeline(PIPELINES[kind]).ranker
    index = ensure_index(corpus, ranker.indexers[0])

    class Opened:
        def index(self, indexer: object) -> object:
            del indexer
            return index

    queries = [
        Query(text) for text in ("elephants walk", "cars in the city centre", "the zoo keeps trams and homework")
    ]
    found = ranker.rank(Opened(), queries, 60)  # type: ignore[arg-type]
    return [(ranking.ids.tolist(), ranking.scores.tolist()) for ranking in found]


def forget() -> None:
    """Be as a process that has compared nothing yet."""
    checksums._SEEN.clear()
    checksums._RECORDS.clear()
