"""The tasks of PIR as released: passages, and queries that ask for one perspective on a root query."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from data.errors import BadInputError
from data.passages import clean
from data.records import Passage


class PirQuery(NamedTuple):
    """`text` asks for `perspective` on `root`; `relevant` are places in the task's passages."""

    text: str
    root: str
    perspective: str
    label: str
    relevant: frozenset[int]


@dataclass(frozen=True)
class PirTask:
    """One task: its passages numbered from 0, and its queries in their order."""

    name: str
    passages: list[Passage]
    queries: list[PirQuery]


def read_pir_task(source: Path) -> PirTask:
    """A released task file; raises `BadInputError` where it is not whole."""
    try:
        task = json.loads(source.read_bytes().decode("utf-8-sig"))
    except (OSError, json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInputError(f"Not a readable JSON file: {error}.", where=source, hint="Take it as released.") from error
    return pir_task(task, source)


def pir_task(task: Any, source: Path) -> PirTask:
    """The task in what was read of a file."""
    try:
        passages = [Passage(n, str(n), "", clean(text)) for n, text in enumerate(task["corpus"])]
        columns = (task["queries"], task["source_queries"], task["perspectives"], task["query_labels"])
        queries = [
            PirQuery(clean(text), clean(root), clean(perspective), str(label).lower(), _places(task, n, len(passages)))
            for n, (text, root, perspective, label) in enumerate(zip(*columns, strict=True))
        ]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise BadInputError(
            f"Not a whole PIR task: {error!r}.", where=source, hint="Take the file as released."
        ) from error
    return PirTask(source.stem, passages, queries)


def _places(task: dict[str, Any], number: int, count: int) -> frozenset[int]:
    places = frozenset(int(i) for i in task["key_ref"][str(number)])
    if any(not 0 <= place < count for place in places):
        raise ValueError(f"key_ref of query {number} lies outside the corpus")
    return places
