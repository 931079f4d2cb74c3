"""Parts of stored runs, looked up without reading the whole: one question's ranking, or one passage's places.

Runs: all ranked lists of a pipeline for a data set over a corpus, with what made them.
"""

import glob
import json
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from berdseye.data.errors import BadInputError, DamagedError, UnknownNameError
from berdseye.data.files.atomic import write_json, write_parquet
from berdseye.data.files.checksums import RECORD, FileSet
from berdseye.data.records import Ids, Scores
from berdseye.data.workspace import Workspace, file_stem


@dataclass(frozen=True)
class RunManifest:
    """What a run is of; `corpus_hash` tells whether the corpus is still the one it ranked, `versions` who ranked it.

    `costs` are those of the whole run beside its time, by their names in `COSTS`; empty where nobody counted them, as in runs
    that are older or were made elsewhere. `made_by` is the person who had it made, where that is known.
    """

    name: str
    dataset: str
    corpus: str
    corpus_hash: str
    pipeline: str
    k: int
    questions: int
    milliseconds_per_question: float
    created: str
    versions: dict[str, str] = field(default_factory=dict)
    costs: dict[str, float] = field(default_factory=dict)
    made_by: str = ""


COSTS = ("gpu_seconds", "prompt_tokens", "completion_tokens")
"""Seconds of work that used a GPU; tokens of the texts by language models that went into it, kept ones too."""


@dataclass(frozen=True)
class Run:
    """Rankings by question: `ids` int64[n_questions, k] and `scores` float32[n_questions, k], -1 pads."""

    manifest: RunManifest
    question_ids: list[str]
    ids: Ids
    scores: Scores


def run_name(dataset: str, corpus: str, pipeline: str) -> str:
    """The name of the run of a pipeline on a data set over a corpus."""
    return f"{dataset}--{corpus}--{file_stem(pipeline)}"


def save_run(
    workspace: Workspace,
    *,
    dataset: str,
    corpus: str,
    corpus_hash: str,
    pipeline: str,
    question_ids: Sequence[str],
    ids: Ids,
    scores: Scores,
    milliseconds_per_question: float,
    versions: Mapping[str, str] | None = None,
    costs: Mapping[str, float] | None = None,
    made_by: str = "",
) -> RunManifest:
    """Store a run in place of an older one of the same name; NaN scores are an error."""
    if np.isnan(scores).any():
        raise BadInputError(f"Pipeline '{pipeline}' gave scores that are not numbers.", hint="The run was not stored.")
    name = run_name(dataset, corpus, pipeline)
    rows, places = np.nonzero(ids >= 0)
    table = pa.table(
        {
            "question": pa.array(np.asarray(question_ids, dtype=object)[rows], pa.string()),
            "rank": pa.array((places + 1).astype(np.int32)),
            "passage": pa.array(ids[rows, places]),
            "score": pa.array(scores[rows, places]),
        }
    )
    manifest = RunManifest(
        name,
        dataset,
        corpus,
        corpus_hash,
        pipeline,
        int(ids.shape[1]),
        len(question_ids),
        round(milliseconds_per_question, 3),
        datetime.now(UTC).isoformat(timespec="seconds"),
        dict(versions or {}),
        dict(costs or {}),
        made_by,
    )
    files = run_files(workspace, name)
    with files.writing():
        write_parquet(workspace.runs_folder / f"{name}.parquet", table)
        write_json(workspace.runs_folder / f"{name}.json", {**asdict(manifest), "question_ids": list(question_ids)})
        files.seal()
    return manifest


def run_files(workspace: Workspace, name: str) -> FileSet:
    """The files of a run, which need not exist."""
    return FileSet(
        workspace.runs_folder / f"{name}{RECORD}",
        (f"{glob.escape(name)}.parquet", f"{glob.escape(name)}.json"),
        lambda: f"Make the run again: `{_command(workspace, name)}`, or import it again.",
    )


def _command(workspace: Workspace, name: str) -> str:
    """What makes a run; where its manifest cannot be read, as far as its name says."""
    dataset, corpus, pipeline = ([*name.split("--", 2), "", ""])[:3]
    depth = ""
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        read = json.loads((workspace.runs_folder / f"{name}.json").read_text(encoding="utf-8"))
        if run_name(read["dataset"], read["corpus"], read["pipeline"]) == name:
            dataset, corpus, pipeline, depth = (
                read["dataset"],
                read["corpus"],
                read["pipeline"],
                f" --k {int(read['k'])}",
            )
    return f"berdseye run --dataset {dataset} --corpus {corpus} --pipeline {shlex.quote(pipeline)}{depth}"


def list_runs(workspace: Workspace) -> list[RunManifest]:
    """Manifests of all runs, by name."""
    return [_manifest(workspace, path)[0] for path in sorted(workspace.runs_folder.glob("*.json"))]


def load_run(workspace: Workspace, name: str) -> Run:
    """A stored run; raises `UnknownNameError` with the nearest names, `DamagedError` where its files are damaged."""
    known = {path.stem for path in workspace.runs_folder.glob("*") if path.suffix in (".json", ".parquet")}
    if name not in known:  # whatever the name is: too long for a file, or a way to another folder
        raise UnknownNameError("run", name, known)
    path, files = workspace.runs_folder / f"{name}.json", run_files(workspace, name)
    files.check()  # a run whose manifest is gone is damaged, not unknown
    return files.read(lambda: _read(workspace, path, files))


def _read(workspace: Workspace, path: Path, files: FileSet) -> Run:
    manifest, question_ids = _manifest(workspace, path)
    ids = np.full((len(question_ids), manifest.k), -1, dtype=np.int64)
    scores = np.zeros((len(question_ids), manifest.k), dtype=np.float32)
    try:
        table = pq.read_table(path.with_suffix(".parquet"))
        places = pc.index_in(table["question"], value_set=pa.array(question_ids, pa.string()))
        if places.null_count:
            raise LookupError("it ranks for questions that its manifest does not name")
        rows = places.to_numpy()
        ranks = table["rank"].to_numpy() - 1
        if (ranks < 0).any():
            raise LookupError("a rank is below 1")
        ids[rows, ranks] = table["passage"].to_numpy()
        scores[rows, ranks] = table["score"].to_numpy()
    except (OSError, ValueError, LookupError) as error:
        raise files.unreadable(path.with_suffix(".parquet"), error) from error
    return Run(manifest, question_ids, ids, scores)


def _manifest(workspace: Workspace, path: Path) -> tuple[RunManifest, list[str]]:
    files = run_files(workspace, path.stem)
    files.check(lambda name: name == path.name)
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        question_ids = [str(q) for q in read.pop("question_ids")]
        return RunManifest(**read), question_ids
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise files.unreadable(path, error) from error


class Place(NamedTuple):
    """Where a run ranks a passage: the id of the question, the rank from 1, and the score."""

    run: RunManifest
    question_id: str
    rank: int
    score: float


def places_of(workspace: Workspace, runs: Sequence[RunManifest], passage: int) -> list[Place]:
    """Every place of a passage in the runs, all of them over its corpus as it is now; the best ranks first.

    Raises `DamagedError` where a run is damaged.
    """
    by_file = {_file(workspace, run): run for run in runs}
    if not by_file:
        return []
    found = _asked(
        "SELECT filename, question, rank, score FROM read_parquet($files, filename = true) WHERE passage = $passage "
        "ORDER BY rank, filename, question",
        {"files": list(by_file), "passage": passage},
    )
    return [Place(by_file[file], question, rank, score) for file, question, rank, score in found]


def ranking_of(workspace: Workspace, run: RunManifest, question_id: str) -> Ids:
    """What a run ranks for one question: ids int64[k], -1 pads. Raises `DamagedError` where the run is damaged."""
    found = _asked(
        "SELECT rank, passage FROM read_parquet($files) WHERE question = $question",
        {"files": [_file(workspace, run)], "question": question_id},
    )
    ids: Ids = np.full(run.k, -1, dtype=np.int64)
    for rank, passage in found:
        ids[rank - 1] = passage
    return ids


def _file(workspace: Workspace, run: RunManifest) -> str:
    run_files(workspace, run.name).check()
    return str(workspace.runs_folder / f"{run.name}.parquet")


def _asked(query: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    try:
        with duckdb.connect() as connection:
            return connection.execute(query, values).fetchall()
    except duckdb.Error as error:
        said = " ".join(str(error).split())
        raise DamagedError(f"A run cannot be read: {said}.", hint="Run the pipeline again.") from error
