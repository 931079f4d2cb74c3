"""Runs in a workspace, and the pairs they make."""

import json
from pathlib import Path

import numpy as np
import pytest

from berdseye.data.corpora import add_corpus
from berdseye.data.errors import BadInputError, DamagedError, StaleError, UnknownNameError
from berdseye.data.records import Ids, Pair, Perspective, Question, Scores
from berdseye.data.runs.pairs import run_pairs
from berdseye.data.runs.stored import RunManifest, list_runs, load_run, save_run
from berdseye.data.workspace import Workspace

IDS = np.array([[2, 0, 1], [1, -1, -1], [-1, -1, -1]], dtype=np.int64)
SCORES = np.array([[3.5, 1.25, -2.0], [0.5, 0, 0], [0, 0, 0]], dtype=np.float32)
QUESTIONS = [Question(i, "d", f"Question {i}?", (Perspective("Yes."), Perspective("No."))) for i in ("b", "a", "c")]


def save(workspace: Workspace, ids: Ids = IDS, scores: Scores = SCORES, corpus_hash: str = "h") -> RunManifest:
    return save_run(
        workspace,
        dataset="d",
        corpus="c",
        corpus_hash=corpus_hash,
        pipeline="dense(a/model) >> mmr(0.95)",
        question_ids=["b", "a", "c"],
        ids=ids,
        scores=scores,
        milliseconds_per_question=1.5,
    )


def test_a_run_comes_back_as_it_was(workspace: Workspace) -> None:
    manifest = save(workspace)
    run = load_run(workspace, manifest.name)
    assert run.manifest == manifest
    assert (manifest.k, manifest.questions, manifest.pipeline) == (3, 3, "dense(a/model) >> mmr(0.95)")
    assert run.question_ids == ["b", "a", "c"]
    assert np.array_equal(run.ids, IDS)
    assert np.array_equal(run.scores, SCORES)
    assert (run.ids.dtype, run.scores.dtype) == (np.int64, np.float32)
    assert list_runs(workspace) == [manifest]


def test_a_run_from_before_costs_were_counted_has_none(workspace: Workspace) -> None:
    manifest = save(workspace)
    path = workspace.runs_folder / f"{manifest.name}.json"
    held = json.loads(path.read_text(encoding="utf-8"))
    assert held.pop("costs") == {}
    path.write_text(json.dumps(held), encoding="utf-8")
    path.with_name(f"{manifest.name}.checksums").unlink()  # they are younger still
    assert list_runs(workspace) == [manifest]


def test_a_newer_run_takes_its_place(workspace: Workspace) -> None:
    save(workspace)
    manifest = save(workspace, IDS[:, :1], SCORES[:, :1])
    assert [r.k for r in list_runs(workspace)] == [1]
    assert load_run(workspace, manifest.name).ids.tolist() == [[2], [1], [-1]]


def test_scores_that_are_no_numbers_are_not_stored(workspace: Workspace) -> None:
    with pytest.raises(BadInputError, match="NaN scores"):
        save(workspace, scores=np.full_like(SCORES, np.nan))
    assert list_runs(workspace) == []


def test_a_wrong_name_is_answered_with_the_nearest(workspace: Workspace) -> None:
    name = save(workspace).name
    with pytest.raises(UnknownNameError, match="Did you mean") as error:
        load_run(workspace, name[:-1])
    assert name in str(error.value)


def test_a_damaged_run_is_reported(workspace: Workspace) -> None:
    name = save(workspace).name
    manifest = workspace.runs_folder / f"{name}.json"
    whole = manifest.read_text()
    manifest.write_text(json.dumps({**json.loads(whole), "k": 2}))
    with pytest.raises(DamagedError, match="Run the pipeline again: `berdseye run --dataset d --corpus c"):
        load_run(workspace, name)
    manifest.write_text(whole)
    (workspace.runs_folder / f"{name}.parquet").unlink()
    with pytest.raises(DamagedError, match="Run the pipeline again: `berdseye run --dataset d --corpus c"):
        load_run(workspace, name)
    manifest.write_text("{")
    with pytest.raises(DamagedError, match="Run the pipeline again: `berdseye run --dataset d --corpus c"):
        load_run(workspace, name)


def test_the_pairs_of_a_run(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text("".join(json.dumps({"id": n, "text": f"p{n}"}) + "\n" for n in range(3)))
    run = load_run(workspace, save(workspace, corpus_hash=add_corpus(workspace, "c", tmp_path / "c.jsonl").hash).name)
    made = run_pairs(workspace, run, QUESTIONS, 2)
    texts = [("p2", "Yes."), ("p2", "No."), ("p0", "Yes."), ("p0", "No."), ("p1", "Yes."), ("p1", "No.")]
    assert made.pairs == [Pair(*pair) for pair in texts]
    assert made.places.tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1]]
    first, second, third = made.by_question(np.arange(6.0), QUESTIONS)
    assert first.tolist() == [[0, 1], [2, 3]]
    assert second[0].tolist() == [4, 5]
    assert np.isnan(second[1]).all()
    assert np.isnan(third).all()


def test_a_run_that_no_longer_fits_is_reported(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"text": "p"}\n')
    add_corpus(workspace, "c", tmp_path / "c.jsonl")
    run = load_run(workspace, save(workspace).name)
    with pytest.raises(StaleError, match="Corpus 'c' has changed"):
        run_pairs(workspace, run, QUESTIONS, 2)
    with pytest.raises(StaleError, match="questions of the data set have changed"):
        run_pairs(workspace, run, QUESTIONS[:2], 2)
