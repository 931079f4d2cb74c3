"""Stored runs: all rankings of a pipeline on a data set and a corpus, with a manifest.

The ranking of one question, or the ranks of one passage, can be read without loading the run.
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

COSTS = ("gpu_seconds", "prompt_tokens", "completion_tokens")
"""Seconds of GPU work; tokens of the language model texts that the run used, including cached ones."""


@dataclass(frozen=True)
class RunManifest:
    """The description of a run.

    `corpus_hash` shows whether the corpus has changed since, `versions` are those of the pipeline's parts. `costs` are the
    costs of the run other than time, by their names in `COSTS`; they are empty if they were not measured, as in older or
    imported runs. `made_by` is the person who started the run, if known.
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


@dataclass(frozen=True)
class Run:
    """Rankings by question: `ids` int64[n_questions, k], padded with -1, and `scores` float32[n_questions, k]."""

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
    """Store a run, replacing an older one of this name; raises `BadInputError` for NaN scores."""
    if np.isnan(scores).any():
        raise BadInputError(f"Pipeline '{pipeline}' returned NaN scores.", hint="The run was not stored.")
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
    """The files of a run, whether they exist or not."""
    return FileSet(
        workspace.runs_folder / f"{name}{RECORD}",
        (f"{glob.escape(name)}.parquet", f"{glob.escape(name)}.json"),
        lambda: f"Run the pipeline again: `{_command(workspace, name)}`, or import the run again.",
    )


def _command(workspace: Workspace, name: str) -> str:
    """The command that makes a run; if the manifest cannot be read, it is derived from the name."""
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
    """The manifests of all runs, sorted by name."""
    return [_manifest(workspace, path)[0] for path in sorted(workspace.runs_folder.glob("*.json"))]


def load_run(workspace: Workspace, name: str) -> Run:
    """Load a run; raises `UnknownNameError` with the closest names, `DamagedError` if its files are damaged."""
    names = {path.stem for path in workspace.runs_folder.glob("*") if path.suffix in (".json", ".parquet")}
    if name not in names:  # also covers names that are too long for a file, or that are paths to another folder
        raise UnknownNameError("run", name, names)
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
            raise LookupError("it has rankings of questions that are not in its manifest")
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
    """The place of a passage in a run: the id of the question, the rank from 1, and the score."""

    run: RunManifest
    question_id: str
    rank: int
    score: float


def places_of(workspace: Workspace, runs: Sequence[RunManifest], passage: int) -> list[Place]:
    """All places of a passage in the runs, best rank first; all runs must be on the passage's corpus in its current state.

    Raises `DamagedError` if a run is damaged.
    """
    by_file = {_file(workspace, run): run for run in runs}
    if not by_file:
        return []
    rows = _query(
        "SELECT filename, question, rank, score FROM read_parquet($files, filename = true) WHERE passage = $passage "
        "ORDER BY rank, filename, question",
        {"files": list(by_file), "passage": passage},
    )
    return [Place(by_file[file], question, rank, score) for file, question, rank, score in rows]


def ranking_of(workspace: Workspace, run: RunManifest, question_id: str) -> Ids:
    """The ranking of one question in a run: ids int64[k], padded with -1; raises `DamagedError` if the run is damaged."""
    rows = _query(
        "SELECT rank, passage FROM read_parquet($files) WHERE question = $question",
        {"files": [_file(workspace, run)], "question": question_id},
    )
    ids: Ids = np.full(run.k, -1, dtype=np.int64)
    for rank, passage in rows:
        ids[rank - 1] = passage
    return ids


def _file(workspace: Workspace, run: RunManifest) -> str:
    run_files(workspace, run.name).check()
    return str(workspace.runs_folder / f"{run.name}.parquet")


def _query(query: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    try:
        with duckdb.connect() as connection:
            return connection.execute(query, values).fetchall()
    except duckdb.Error as error:
        reason = " ".join(str(error).split())
        raise DamagedError(f"A run cannot be read: {reason}.", hint="Run the pipeline again.") from error
