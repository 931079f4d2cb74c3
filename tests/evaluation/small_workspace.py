"""A workspace of four passages, three questions and one hand-made run, small enough to work measures out by hand."""

import json
from pathlib import Path

import numpy as np

from berdseye.annotation.batches.stored import Batch, BatchPlan, create_batch
from berdseye.annotation.judgments.log import Annotator, Judgments, PairRecord, Verdict
from berdseye.data.corpora import add_corpus, open_corpus
from berdseye.data.datasets.stored import GOLD, save_dataset
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair, Passage, Perspective, Question
from berdseye.data.runs.stored import Run, load_run, save_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.selection.batches import random_questions

DATASET, CORPUS, PIPELINE = "made", "web", "bm25"
TEXTS = [
    "Zoos breed rare animals and return them to the wild, as the Arabian oryx shows.",
    "Cages make animals ill, and no visitor learns anything from a sad bear.",
    "Cars fill the streets of every city and leave no room for children.",
    "Trams carry many people, quietly and without smoke.",
]
QUESTIONS = [
    Question("zoos", DATASET, "Should zoos exist?", (Perspective("Zoos protect.", "supporting"),
                                                     Perspective("Zoos harm.", "opposing"))),
    Question("cars", DATASET, "Should cities ban cars?", (Perspective("Cars harm cities."),)),
    Question("open", DATASET, "What is good?"),
]  # fmt: skip
RANKED = [[0, 1, 2], [3, 2], [0, 3]]
"""Passages by question, best first; the second ranking is short."""


def build(folder: Path, ranked: list[list[int]] | None = None) -> tuple[Workspace, Run]:
    """The workspace with its run; `ranked` takes the place of RANKED."""
    workspace = Workspace.create(folder)
    source = folder / "passages.jsonl"
    source.write_text("".join(json.dumps({"id": n, "text": t}) + "\n" for n, t in enumerate(TEXTS)), encoding="utf-8")
    manifest = add_corpus(workspace, CORPUS, source)
    save_dataset(workspace, DATASET, QUESTIONS)
    by_text = {p.text: p.id for p in passages(workspace).values()}
    rows = RANKED if ranked is None else ranked
    ids = np.full((len(rows), 3), -1, dtype=np.int64)
    scores = np.zeros(ids.shape, dtype=np.float32)
    for row, found in enumerate(rows):
        ids[row, : len(found)] = [by_text[TEXTS[n]] for n in found]
        scores[row, : len(found)] = range(len(found), 0, -1)
    saved = save_run(
        workspace,
        dataset=DATASET,
        corpus=CORPUS,
        corpus_hash=manifest.hash,
        pipeline=PIPELINE,
        question_ids=[q.id for q in QUESTIONS],
        ids=ids,
        scores=scores,
        milliseconds_per_question=1.0,
    )
    return workspace, load_run(workspace, saved.name)


def passages(workspace: Workspace) -> dict[str, Passage]:
    """The passages of the corpus by the first word of their texts."""
    held = [p for batch in open_corpus(workspace, CORPUS).batches() for p in batch]
    return {p.text.split()[0]: p for p in held}


def key(question: int, perspective: int, text: int) -> str:
    return Pair(TEXTS[text], QUESTIONS[question].perspectives[perspective].text).key


def judge(
    judgments: Judgments, person: Annotator, question: int, perspective: int, text: int, verdict: Verdict
) -> None:
    asked = QUESTIONS[question]
    said = asked.perspectives[perspective]
    record = PairRecord(DATASET, asked.id, asked.text, said.text, said.stance, CORPUS, "", TEXTS[text])
    [added] = judgments.add_pairs([record])
    judgments.judge(person, added, verdict, source="annotate")


def send_random_questions(
    workspace: Workspace,
    judgments: Judgments,
    runs: list[str],
    questions: int,
    k: int,
    *,
    name: str = "drawn",
    seed: int = 0,
) -> Batch:
    """The batch that `berdseye batch create --preset random-questions` makes."""
    items, draw = random_questions(workspace, runs, seed, questions=questions, k=k)
    recipe = {"runs": runs, "k": k, "preset": "random-questions", "questions": questions, **draw}
    return create_batch(judgments, BatchPlan(name, seed=seed, recipe=recipe), items)


def put_gold(workspace: Workspace, labels: dict[tuple[int, int, int], bool]) -> None:
    """Gold labels by (question, perspective, text)."""
    LabelStore(workspace).put(GOLD, "made", [key(*place) for place in labels], [float(v) for v in labels.values()])
