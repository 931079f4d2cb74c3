"""A task being written in the layout of PIR's demo."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from berdseye.data.errors import BadInputError
from berdseye.data.json_files import read_rows
from berdseye.data.passages import clean


class TaskFile:
    """Passages and queries in the order they were added; equal passages stay apart, as in the released tasks."""

    def __init__(self) -> None:
        self._corpus: list[str] = []
        self._asked: list[tuple[str, str, str, str, list[int]]] = []

    def add(self, texts: Sequence[str]) -> list[int]:
        """The places of passages that are added to the corpus."""
        start = len(self._corpus)
        self._corpus += texts
        return list(range(start, len(self._corpus)))

    def ask(self, query: str, root: str, perspective: str, label: str, relevant: Sequence[int]) -> None:
        """Add a query for `perspective` on `root`, for which the passages at `relevant` are the ones to find."""
        self._asked.append((query, root, perspective, label, list(relevant)))

    def lone_roots(self) -> int:
        """How many root queries have one query alone, which PIR's definition does not allow; their passages distract still."""
        return sum(n == 1 for n in self._counts().values())

    def layout(self) -> dict[str, Any]:
        """The demo's columns, without the queries of lone roots."""
        counts = self._counts()
        kept = [asked for asked in self._asked if counts[asked[1]] > 1]
        queries, roots, perspectives, labels, relevant = zip(*kept, strict=True) if kept else ((),) * 5
        return {
            "corpus": self._corpus,
            "queries": list(queries),
            "source_queries": list(roots),
            "perspectives": list(perspectives),
            "key_ref": {str(number): places for number, places in enumerate(relevant)},
            "query_labels": list(labels),
        }

    def _counts(self) -> Counter[str]:
        return Counter(root for _, root, *_ in self._asked)


def read_fields(source: Path, names: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The texts of these fields of each row of a JSON Lines file, with its line; raises `BadInputError` with file and line."""
    for line, row in read_rows(source):
        values = [row.get(name) for name in names]
        for name, value in zip(names, values, strict=True):
            if not isinstance(value, str) or not value.strip():
                raise BadInputError(f"No `{name}`.", where=source, line=line, hint="It must be a text; add it.")
        yield line, tuple(clean(str(value)) for value in values)
