"""A small workspace with the runs of two retrievers on two data sets."""

import json
from pathlib import Path
from random import Random

import numpy as np

from berdseye.data.corpora import add_corpus, open_corpus
from berdseye.data.datasets.stored import save_dataset
from berdseye.data.records import Perspective, Question
from berdseye.data.runs.stored import save_run
from berdseye.data.workspace import Workspace

RUNS = [f"{dataset}--web--{pipeline}" for dataset in ("one", "two") for pipeline in ("bm25", "dense")]


def made_two_retrievers(folder: Path) -> Workspace:
    """Two data sets of four questions with two perspectives and one with three; two runs of three passages each."""
    workspace = Workspace.create(folder / "workspace")
    source = folder / "passages.jsonl"
    chance = Random(0)
    texts = [" ".join(chance.choice("abcdefghijklmnopqrstuvwxyz") * 3 for _ in range(40)) for _ in range(11)]
    texts.append(f"{texts[0]} end")
    source.write_text("".join(f"{json.dumps({'text': t})}\n" for t in texts), encoding="utf-8")
    manifest = add_corpus(workspace, "web", source)
    known = {p.text: p.id for batch in open_corpus(workspace, "web").batches() for p in batch}
    ids = [known[t] for t in texts]
    for dataset in ("one", "two"):
        questions = [
            Question(
                f"q{n}", dataset, f"Question {n}?", tuple(Perspective(f"{dataset} {n} {v}.") for v in range(2 + n // 4))
            )
            for n in range(5)
        ]
        save_dataset(workspace, dataset, questions)
        for pipeline, rows in (("bm25", [ids[0:3]] * 5), ("dense", [[ids[11], ids[1], ids[5]]] * 5)):
            save_run(
                workspace,
                dataset=dataset,
                corpus="web",
                corpus_hash=manifest.hash,
                pipeline=pipeline,
                question_ids=[q.id for q in questions],
                ids=np.array(rows),
                scores=np.ones((5, 3), np.float32),
                milliseconds_per_question=1.0,
            )
    return workspace
