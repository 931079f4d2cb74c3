"""Parts of stored runs, looked up without reading the whole: one question's ranking, or one passage's places."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import duckdb
import numpy as np

from berdseye.data.errors import DamagedError
from berdseye.data.records import Ids
from berdseye.data.runs import RunManifest, run_files
from berdseye.data.workspace import Workspace


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
