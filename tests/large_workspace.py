"""A large made-up workspace: what every page is held to, and, smaller, what CI draws every page on."""

import json
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import numpy as np
import numpy.typing as npt
from sqlalchemy import insert

from berdseye.annotation.batches.runs_queue import pairs_of_runs
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.schema import events
from berdseye.data.corpora import add_corpus, open_corpus
from berdseye.data.datasets.stored import load_dataset, save_dataset
from berdseye.data.labels import LabelStore
from berdseye.data.records import STANCES, Perspective, Question
from berdseye.data.runs.pairs import run_keys
from berdseye.data.runs.stored import list_runs, load_run, save_run
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.trained import adopt
from berdseye.retrieval.pipeline import search
from berdseye.retrieval.pipeline_registry import DEFAULT_PIPELINES, parse_pipeline

PIPELINES = ("bm25", "bm25(b=0.4,k1=0.9)", "dense(static)", "dense(static) >> mmr(0.9)")
PEOPLE = ("Ana", "Bo")


class Size(NamedTuple):
    """How large; `judged` are the questions whose first two passages two people judged, a fifth of the pairs differently."""

    questions: int
    depth: int
    passages: int
    judged: int

    @property
    def labels(self) -> int:
        """Of all runs together."""
        return len(PIPELINES) * self.questions * self.depth * len(STANCES)


LARGE = Size(3_000, 50, 20_000, 1_000)
SMALL = Size(150, 20, 1_000, 50)


def large_workspace(folder: Path, size: Size) -> Workspace:
    """A workspace of one corpus with its indexes, one data set with a perspective of each side a question, a run of each of
    `PIPELINES` with a label of every pair, and two people's judgments."""
    workspace = Workspace.create(folder)
    random = np.random.default_rng(0)
    words = np.array([f"w{n}" for n in range(max(5_000, size.questions))])
    source = workspace.folder / "passages.jsonl"
    texts = words[random.integers(0, len(words), (size.passages, 60))]
    rows = ({"id": n, "title": f"T{n}", "text": f"{n} {' '.join(text)}"} for n, text in enumerate(texts))
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    add_corpus(workspace, "big", source)
    save_dataset(workspace, "large", _questions(size, words, random))
    adopt(workspace, "embedded")  # whose labels of all pairs take seconds
    opened = open_corpus(workspace, "big")
    for pipeline in DEFAULT_PIPELINES:  # builds their indexes
        search(opened, parse_pipeline(pipeline), [f"{words[0]} {words[1]}"], 1)
    _add_runs(workspace, size, random)
    _add_labels(workspace, random)
    _add_judgments(workspace, size, random)
    return workspace


def _questions(size: Size, words: npt.NDArray[np.str_], random: np.random.Generator) -> list[Question]:
    return [
        Question(
            f"q{n}",
            "large",
            f"Should {words[n]} be {words[-n - 1]} number {n}?",
            tuple(
                Perspective(f"View {side} of {n} {' '.join(random.choice(words, 8))}", stance)
                for side, stance in enumerate(STANCES)
            ),
        )
        for n in range(size.questions)
    ]


def _add_runs(workspace: Workspace, size: Size, random: np.random.Generator) -> None:
    opened = open_corpus(workspace, "big")
    known = np.array([p.id for batch in opened.batches() for p in batch])
    for pipeline in PIPELINES:
        ids = np.stack([random.choice(known, size.depth, replace=False) for _ in range(size.questions)])
        save_run(
            workspace,
            dataset="large",
            corpus="big",
            corpus_hash=opened.manifest.hash,
            pipeline=pipeline,
            question_ids=[f"q{n}" for n in range(size.questions)],
            ids=ids.astype(np.int64),
            scores=np.sort(random.random(ids.shape, dtype=np.float32), axis=1)[:, ::-1],
            milliseconds_per_question=1.0,
        )


def _add_labels(workspace: Workspace, random: np.random.Generator) -> None:
    detector, questions = parse_detector("embedded", workspace), load_dataset(workspace, "large")
    for held in list_runs(workspace):
        _, keys = run_keys(workspace, load_run(workspace, held.name), questions, held.k)
        flat = keys.ravel().astype(str).tolist()
        chances = random.beta(0.4, 1.2, len(flat)).astype(np.float32)
        LabelStore(workspace).put(detector.name, detector.version, flat, chances)


def _add_judgments(workspace: Workspace, size: Size, random: np.random.Generator) -> None:
    judged = Judgments.open(workspace.judgments_url)
    records = list(pairs_of_runs(workspace, [list_runs(workspace)[0].name], 2).values())
    keys = judged.add_pairs(records[: size.judged * 2 * len(STANCES)])
    people = [judged.sign_in(name) for name in PEOPLE]
    first = random.random(len(keys)) < 0.3
    said = (first, first ^ (random.random(len(keys)) < 0.2))
    rows = [
        {
            "uid": str(uuid4()),
            "at": f"2026-01-{1 + n % 28:02d}T00:00:00.000000+00:00",
            "annotator_id": person.id,
            "pair": key,
            "kind": "judge",
            "verdict": "supports" if supports[n] else "does not support",
            "comment": "",
            "source": "annotate",
        }
        for person, supports in zip(people, said, strict=True)
        for n, key in enumerate(keys)
    ]
    with judged.engine.begin() as connection:
        connection.execute(insert(events), rows)
    judged.engine.dispose()
