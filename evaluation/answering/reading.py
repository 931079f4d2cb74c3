"""What each answer of a stored set was written from, kept beside the answers so that a reader can see what the model saw."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from berdseye.data.atomic import write_parquet
from berdseye.data.errors import StaleError
from berdseye.data.workspace import Workspace, checked_name
from berdseye.evaluation.answering.asking import Written
from berdseye.evaluation.answering.chunks import Chunk

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


class Read(NamedTuple):
    """What was searched for, the chunks the model was shown, and those its window had no room for, best first."""

    searches: tuple[str, ...]
    chunks: tuple[Chunk, ...]
    left_out: tuple[Chunk, ...]


def save_read(workspace: Workspace, name: str, written: Mapping[str, Written]) -> None:
    """Keep what the answers of a set, by question id, were written from."""
    rows = [
        {
            "question": question,
            "searches": list(answer.searches),
            "chunks": [
                {**chunk._asdict(), "passages": list(chunk.passages), "left_out": left_out}
                for left_out, held in ((False, answer.read), (True, answer.left_out))
                for chunk in held
            ],
        }
        for question, answer in written.items()
    ]
    write_parquet(_path(workspace, name), pa.Table.from_pylist(rows, schema=_SCHEMA))


def load_read(workspace: Workspace, name: str) -> dict[str, Read]:
    """What the answers of a set were written from, by question id; empty for sets that were made elsewhere."""
    path = _path(workspace, name)
    if not path.exists():
        return {}
    try:
        rows = pq.read_table(path).select(_SCHEMA.names).to_pylist()
    except (OSError, ValueError, KeyError) as error:
        raise StaleError(f"What was read cannot be read: {error}.", where=path, hint="Answer again.") from error
    found: dict[str, Read] = {}
    for row in rows:
        sides: dict[bool, list[Chunk]] = {False: [], True: []}
        for held in row["chunks"]:
            left_out = held.pop("left_out")
            sides[left_out].append(Chunk(**{**held, "passages": tuple(held["passages"])}))
        found[row["question"]] = Read(tuple(row["searches"]), tuple(sides[False]), tuple(sides[True]))
    return found


def _path(workspace: Workspace, name: str) -> Path:
    return workspace.folder / "answers" / "read" / f"{checked_name('set of answers', name)}.parquet"
