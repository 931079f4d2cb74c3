"""The queue: pairs of chosen runs, each once, question by question and then by rank."""

import json
from pathlib import Path

import numpy as np
import pytest

from berdseye.annotation.batches.runs_queue import RunsQueue, pairs_of_runs
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.corpora import add_corpus, open_corpus
from berdseye.data.datasets.stored import save_dataset
from berdseye.data.errors import UnknownNameError
from berdseye.data.records import Perspective, Question, pair_key
from berdseye.data.runs.stored import save_run
from berdseye.data.workspace import Workspace

TEXTS = ["First passage about zoos.", "Second passage about cars.", "Third passage about trams."]
QUESTIONS = [
    Question("a", "made", "Should zoos exist?", (Perspective("Yes.", "supporting"), Perspective("No.", "opposing"))),
    Question("b", "made", "Is there more?"),
    Question("c", "made", "Should cars?", (Perspective("Never."),)),
]
RANKED = {"bm25": [[0, 1], [2, 0], [1]], "mmr": [[2, 0], [0, 1], [1, 2]]}


@pytest.fixture
def small(tmp_path: Path) -> Workspace:
    """One corpus, one data set, and a run for each of RANKED."""
    workspace = Workspace.create(tmp_path / "workspace")
    source = tmp_path / "passages.jsonl"
    rows = [{"id": n, "text": text, "title": f"Title {n}", "url": f"https://example.org/{n}"}
            for n, text in enumerate(TEXTS)]  # fmt: skip
    source.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    manifest = add_corpus(workspace, "web", source)
    save_dataset(workspace, "made", QUESTIONS)
    known = {p.text: p.id for batch in open_corpus(workspace, "web").batches() for p in batch}
    for pipeline, ranked in RANKED.items():
        ids = np.full((3, 2), -1, dtype=np.int64)
        for row, found in enumerate(ranked):
            ids[row, : len(found)] = [known[TEXTS[n]] for n in found]
        save_run(
            workspace,
            dataset="made",
            corpus="web",
            corpus_hash=manifest.hash,
            pipeline=pipeline,
            question_ids=[q.id for q in QUESTIONS],
            ids=ids,
            scores=np.where(ids >= 0, 1, 0).astype(np.float32),
            milliseconds_per_question=1.0,
        )
    return workspace


def places(workspace: Workspace, *pipelines: str, k: int = 2) -> list[tuple[str, int, str]]:
    """The queue as (question, passage, perspective)."""
    queue = pairs_of_runs(workspace, [f"made--web--{p}" for p in pipelines], k)
    assert all(key == record.key == pair_key(record.passage, record.perspective) for key, record in queue.items())
    return [(r.question_id, TEXTS.index(r.passage), r.perspective) for r in queue.values()]


def test_one_run(small: Workspace) -> None:
    assert places(small, "bm25") == [
        ("a", 0, "Yes."), ("a", 0, "No."), ("a", 1, "Yes."), ("a", 1, "No."), ("c", 1, "Never."),
    ]  # fmt: skip
    assert places(small, "bm25", k=1) == [("a", 0, "Yes."), ("a", 0, "No."), ("c", 1, "Never.")]


def test_a_pair_of_several_runs_occurs_once_at_its_best_rank(small: Workspace) -> None:
    # Both first passages of question a come before both second ones; passage 0 is not asked for twice.
    assert places(small, "bm25", "mmr") == [
        ("a", 0, "Yes."), ("a", 2, "Yes."), ("a", 0, "No."), ("a", 2, "No."),
        ("a", 1, "Yes."), ("a", 1, "No."), ("c", 1, "Never."), ("c", 2, "Never."),
    ]  # fmt: skip
    assert sorted(places(small, "mmr", "bm25")) == sorted(places(small, "bm25", "mmr"))


def test_records_hold_all_that_a_person_needs(small: Workspace) -> None:
    record = next(iter(pairs_of_runs(small, ["made--web--bm25"], 1).values()))
    assert (record.dataset, record.corpus, record.question_id) == ("made", "web", "a")
    assert (record.question, record.perspective, record.stance) == ("Should zoos exist?", "Yes.", "supporting")
    assert (record.title, record.passage, record.url) == ("Title 0", TEXTS[0], "https://example.org/0")


def test_what_is_left_is_what_this_person_has_not_touched(small: Workspace, judgments: Judgments) -> None:
    queue = pairs_of_runs(small, ["made--web--bm25"], 2)
    ana, bo = judgments.sign_in("Ana"), judgments.sign_in("Bo")
    keys = judgments.add_pairs(queue.values())
    assert keys == list(queue)
    judgments.judge(ana, keys[0], "unsure", source="annotate")
    judgments.skip(ana, keys[2], source="annotate")
    judgments.judge(bo, keys[1], "supports", source="annotate")
    assert [key for key in queue if key not in judgments.judged_pairs(ana)] == [keys[1], *keys[3:]]
    judgments.undo(ana)
    assert [key for key in queue if key not in judgments.judged_pairs(ana)] == keys[1:]


def test_the_pair_after_comes_next_once_this_one_is_judged(small: Workspace, judgments: Judgments) -> None:
    queue = RunsQueue(judgments, pairs_of_runs(small, ["made--web--bm25"], 2))
    person = judgments.sign_in("Ada")
    while (pair := queue.next(person)) is not None:
        after = queue.after(person, pair)
        queue.give(person, pair, "supports")
        assert queue.next(person) == after


def test_no_runs_give_no_pairs_and_unknown_ones_are_reported(small: Workspace) -> None:
    assert pairs_of_runs(small, [], 5) == {}
    with pytest.raises(UnknownNameError, match="Did you mean made--web--bm25"):
        pairs_of_runs(small, ["made--web--bm2"], 5)
