"""The six tasks of PIR (perspective-aware information retrieval): names, sizes and labels, and how releases are read.

A task has passages, and queries that ask for one perspective on a root query. Two layouts are read: the demo's JSON (one
task, or several by name) and the Hub's folder (`queries.jsonl`, `corpus.jsonl`, `qrels/test.jsonl`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.files.json_files import Row, read_json, read_rows
from berdseye.data.records import Passage
from berdseye.data.texts.passages import safe
from berdseye.data.workspace import Workspace


class PirFacts(NamedTuple):
    """A task as the paper's Table 1 describes it.

    `name` is its name in the released files, `paper` its name in the tables; `queries` and `passages` are counts. The Hub's
    rows have no label: `labels` maps words in a query's perspective to its label (the last match counts), and `usual` is the
    label if no words match.
    """

    name: str
    paper: str
    queries: int
    passages: int
    usual: str
    labels: Mapping[str, str]
    revision: str

    @property
    def hub(self) -> str:
        """The name of the data set on the Hub, which its authors filtered once more after the paper."""
        return f"trumancai/perspective-information-retrieval-{self.name}"


TASKS = {
    facts.name: facts
    for facts in (
        PirFacts(
            "agnews", "agnews", 1450, 2900, "subtopic", {"relates to": "subtopic", "happened in": "location"},
            "d314401515c7c68621ccf8b5baa8372a3d0fd4f8",
        ),
        PirFacts(
            "story", "storyanalogy", 2000, 2000, "analogy", {"entities": "entity", "analogy": "analogy"},
            "b3fb76b6af6dac9d2d93e5f74318ce0f8a716028",
        ),
        PirFacts(
            "perspectrum", "perspectrum", 1431, 2773, "support",
            {"support": "support", "oppose": "undermine", "relates to": "general"},
            "113d1f7be476d140d366f063c4a7bdda158ed2a7",
        ),
        PirFacts(
            "ambigqa", "ambigqa", 864, 864, "perspective", {},
            "6395e0dc121189a771f7c643819d92ea6a05b813",
        ),
        PirFacts(
            "allsides", "allsides", 645, 645, "left", {"left": "left", "right": "right", "center": "center"},
            "cb004a74fa915b277a181681149ae14139fbb562",
        ),
        PirFacts(
            "exfever", "ex-fever", 1104, 1104, "not enough info",
            {"supports": "support", "refutes": "refute", "no information": "not enough info"},
            "b0884af3c470911cdaae056b88482bba629df4f7",
        ),
    )
}  # fmt: skip
"""The tasks by their names in the released files, in the order of Table 2."""


def known_task(name: str) -> PirFacts | None:
    """The task with this name in the files, on the Hub or in the paper; None for a user's own task."""
    plain = name.lower().removeprefix("pir-").removeprefix("perspective-information-retrieval-").replace("-", "")
    return TASKS.get("story" if plain == "storyanalogy" else plain)


class PirQuery(NamedTuple):
    """A query whose `text` asks for `perspective` on `root`; `relevant` are indices into the task's passages."""

    text: str
    root: str
    perspective: str
    label: str
    relevant: frozenset[int]


@dataclass(frozen=True)
class PirTask:
    """One task: its passages, numbered from 0, and its queries in order; `left_out` counts queries that were skipped
    because they have no relevant passage.

    Texts keep the spaces at their ends: the released notebook splits texts at each space, so these spaces count as tokens.
    """

    name: str
    passages: list[Passage]
    queries: list[PirQuery]
    left_out: int = 0


def read_pir_task(source: Path, name: str = "") -> PirTask:
    """Read a released task file or folder; raises `BadInputError` if it is incomplete.

    `name` is the name of the task and selects it in a file of several tasks; the default is the name of the file.
    """
    if source.is_dir():
        return _hub_task(source, name or source.name)
    content = read_json(source)
    if not (
        isinstance(content, dict) and content and all(isinstance(v, dict) and "corpus" in v for v in content.values())
    ):
        return pir_task(content, source, name)
    if not name and len(content) > 1:
        raise BadInputError("The file contains several tasks.", where=source, hint=f"Choose one: {', '.join(content)}.")
    chosen = _chosen(name, content) if name else next(iter(content))
    return pir_task(content[chosen], source, chosen)


def read_pir_tasks(sources: Sequence[Path], names: Sequence[str], workspace: Workspace | None) -> list[PirTask]:
    """Read the tasks in files, folders, or fetched folders of the workspace; `names` are the names of the first tasks.

    Raises `BadInputError` for a source that does not exist, and for more names than sources.
    """
    if len(names) > len(sources):
        raise BadInputError(
            f"--task is given {len(names)} times for {len(sources)} files.",
            hint="Give --task at most once per file, in the same order.",
        )
    padded = [*names, *[""] * (len(sources) - len(names))]
    return [read_pir_task(*_found(source, name, workspace)) for source, name in zip(sources, padded, strict=True)]


def _found(source: Path, name: str, workspace: Workspace | None) -> tuple[Path, str]:
    """The source, or the one that `dataset fetch` stored under this name, and the name of the task."""
    if source.exists():
        return source, name
    fetched = kept_task(workspace.downloads_folder / source) if workspace is not None else None
    if fetched is None:
        raise BadInputError(
            "There is no such task file.", where=source, hint="Check the path, or run `berdseye dataset fetch pir`."
        )
    return fetched, name or source.name.removeprefix("pir-")


def kept_task(folder: Path) -> Path | None:
    """The path of the task in a folder that `dataset fetch` keeps, for `read_pir_task`; None if there is no folder."""
    if not folder.is_dir():
        return None
    demo = sorted(folder.glob("*.json"))
    return demo[0] if len(demo) == 1 else folder


def pir_task(task: Any, source: Path, name: str = "") -> PirTask:
    """The task in the parsed JSON `task` of a file in the demo's layout; raises `BadInputError` if it is incomplete."""
    try:
        passages = [Passage(n, str(n), "", safe(text)) for n, text in enumerate(task["corpus"])]
        columns = (task["queries"], task["source_queries"], task["perspectives"], task["query_labels"])
        queries = [
            PirQuery(safe(text), safe(root), safe(perspective), str(label).lower(), _places(task, n, len(passages)))
            for n, (text, root, perspective, label) in enumerate(zip(*columns, strict=True))
        ]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise BadInputError(
            f"Not a complete PIR task: {error!r}.", where=source, hint="Use the file as released."
        ) from error
    return PirTask(name or source.stem, passages, queries)


def _chosen(name: str, tasks: Mapping[str, Any]) -> str:
    wanted = known_task(name)
    for key in tasks:
        if key == name or (wanted is not None and known_task(key) == wanted):
            return key
    raise UnknownNameError("task in this file", name, tasks)


def _places(task: dict[str, Any], number: int, count: int) -> frozenset[int]:
    places = frozenset(int(i) for i in task["key_ref"][str(number)])
    if any(not 0 <= place < count for place in places):
        raise ValueError(f"key_ref of query {number} is outside the corpus")
    return places


def _hub_task(folder: Path, name: str) -> PirTask:
    """Read BEIR's files; a query's `meta` is JSON with `src_query` and `perspective`."""
    texts: list[str] = []
    places: dict[str, int] = {}
    for line, row in read_rows(folder / "corpus.jsonl"):
        places[_field(row, "_id", folder / "corpus.jsonl", line)] = len(texts)
        texts.append(safe(_field(row, "text", folder / "corpus.jsonl", line)))
    qrels_path = folder / "qrels" / "test.jsonl"
    relevant: dict[str, set[int]] = {}
    for line, row in read_rows(qrels_path):
        query, passage = (_field(row, key, qrels_path, line) for key in ("query-id", "corpus-id"))
        if passage not in places:
            raise BadInputError(
                f"The corpus has no passage '{passage}'.", where=qrels_path, line=line, hint="Fetch the task again."
            )
        if row.get("score", 1) not in (0, "0"):
            relevant.setdefault(query, set()).add(places[passage])
    facts, path, queries, left_out = known_task(name), folder / "queries.jsonl", [], 0
    for line, row in read_rows(path):
        text, meta = _field(row, "text", path, line), _meta(row, path, line)
        query_relevant = relevant.pop(_field(row, "_id", path, line), set())
        left_out += not query_relevant
        if query_relevant:
            fitting = [label for words, label in facts.labels.items() if words in meta[1]] if facts else []
            label = fitting[-1] if fitting else facts.usual if facts else "perspective"
            queries.append(PirQuery(safe(text), safe(meta[0]), safe(meta[1]), label, frozenset(query_relevant)))
    if relevant:
        unknown = next(iter(relevant))
        raise BadInputError(
            f"The judged query '{unknown}' is not in queries.jsonl.", where=qrels_path, hint="Fetch the task again."
        )
    if not queries:
        raise BadInputError("No query of the task has a relevant passage.", where=path, hint="Fetch the task again.")
    return PirTask(name, [Passage(n, str(n), "", text) for n, text in enumerate(texts)], queries, left_out)


def _meta(row: Row, path: Path, line: int) -> tuple[str, str]:
    meta = row.get("meta")
    try:
        read = json.loads(meta) if isinstance(meta, str) else meta
    except (ValueError, RecursionError):
        read = None
    match read:
        case {"src_query": str(root), "perspective": str(perspective)}:
            return root, perspective
    raise BadInputError(
        "`meta` has no `src_query` or no `perspective`.", where=path, line=line, hint="Use the file as released."
    )


def _field(row: Row, key: str, path: Path, line: int) -> str:
    value = row.get(key)
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise BadInputError(f"The row has no `{key}`.", where=path, line=line, hint="Use the file as released.")
    return str(value)
