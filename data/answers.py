"""Answers to the questions of a data set: stored in the workspace by name, and read from files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from berdseye.data.documents.jsonl import Lines
from berdseye.data.documents.records import BadRow
from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.data.files.atomic import write_json, write_parquet
from berdseye.data.files.checksums import RECORD, FileSet
from berdseye.data.files.json_files import json_fault, parse_json
from berdseye.data.texts.passages import clean
from berdseye.data.workspace import Workspace, checked_name

_TEXTS = ("answer", "generation")
_SHOWN = 5


class Answer(NamedTuple):
    """A system's answer to a question; an empty text counts as an answer."""

    question_id: str
    text: str


@dataclass(frozen=True)
class AnswerSet:
    """The answers of a system to a data set; `settings` record how they were made: prompt style, retrieval, seed etc."""

    name: str
    dataset: str
    model: str
    settings: dict[str, Any] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)

    @property
    def texts(self) -> dict[str, str]:
        """The answers by question id."""
        return {answer.question_id: answer.text for answer in self.answers}


class AnswerManifest(NamedTuple):
    """The description of a stored answer set, with the number of its answers but not their texts."""

    name: str
    dataset: str
    model: str
    settings: dict[str, Any]
    answers: int
    created: str


def save_answers(workspace: Workspace, answers: AnswerSet) -> AnswerManifest:
    """Store an answer set, replacing an older one of this name; raises `BadInputError` if a question has two answers."""
    ids = [a.question_id for a in answers.answers]
    if len(set(ids)) < len(ids):
        twice = next(i for n, i in enumerate(ids) if i in ids[:n])
        raise BadInputError(
            f"Question '{twice}' has two answers in '{answers.name}'.", hint="Keep one answer per question."
        )
    path = _manifest_path(workspace, answers.name)
    table = pa.table(
        {"question": pa.array(ids, pa.string()), "answer": pa.array([a.text for a in answers.answers], pa.string())}
    )
    created = datetime.now(UTC).isoformat(timespec="seconds")
    manifest = AnswerManifest(answers.name, answers.dataset, answers.model, dict(answers.settings), len(ids), created)
    files = answer_files(path)
    with files.writing():
        write_parquet(path.with_suffix(".parquet"), table)
        write_json(path, manifest._asdict())
        files.seal()
    return manifest


def answer_files(manifest: Path) -> FileSet:
    """The files of the answer set with this manifest."""
    return FileSet(
        manifest.with_name(f"{manifest.stem}{RECORD}"),
        (manifest.name, f"{manifest.stem}.parquet"),
        lambda: "Generate the answers again with `berdseye answer`, or import them again.",
    )


def list_answers(workspace: Workspace) -> list[AnswerManifest]:
    """The manifests of all answer sets, sorted by name."""
    return [_manifest(path) for path in sorted(_folder(workspace).glob("[!.]*.json"))]


def load_answers(workspace: Workspace, name: str) -> AnswerSet:
    """Load an answer set; raises `UnknownNameError` with the closest names, `DamagedError` if it is damaged."""
    path = _folder(workspace) / f"{name}.json"
    files = answer_files(path)
    files.check()
    if name not in (known := [p.stem for p in _folder(workspace).glob("[!.]*.json")]):
        raise UnknownNameError("answer set", name, known)
    return files.read(lambda: _read(path, files))


def named_answers(workspace: Workspace, dataset: str, names: Sequence[str] | None) -> list[AnswerSet]:
    """The answer sets in `names`, which are stored sets or JSONL files; all stored sets of the data set for None."""
    if not names:
        return [load_answers(workspace, m.name) for m in list_answers(workspace) if m.dataset == dataset]
    return [
        AnswerSet(Path(name).stem, dataset, Path(name).stem, {}, read_answer_file(Path(name)))
        if Path(name).suffix in (".jsonl", ".json")
        else load_answers(workspace, name)
        for name in names
    ]


def _read(path: Path, files: FileSet) -> AnswerSet:
    manifest = _manifest(path)
    try:
        rows = pq.read_table(path.with_suffix(".parquet")).to_pylist()
        answers = [Answer(row["question"], row["answer"]) for row in rows]
    except (OSError, ValueError, KeyError) as error:
        raise files.unreadable(path.with_suffix(".parquet"), error) from error
    return AnswerSet(manifest.name, manifest.dataset, manifest.model, manifest.settings, answers)


def read_answer_file(path: Path) -> list[Answer]:
    """Read answers from JSON Lines: `{"id", "answer"}`, or DebateQA's released `{"id", "generation"}`.

    Raises `BadInputError` with the first invalid line and the number of invalid lines; `UnavailableError` if the file cannot
    be read.
    """
    answers: list[Answer] = []
    bad: list[tuple[int, str]] = []
    seen: dict[str, int] = {}
    try:
        with path.open("rb") as stream:
            lines = Lines(stream, path.name)
            for line in lines:
                if not isinstance(line, BadRow) and line.isspace():
                    continue
                read = line.reason if isinstance(line, BadRow) else _row(line)
                if isinstance(read, Answer) and read.question_id in seen:
                    read = f"line {seen[read.question_id]} already answers question '{read.question_id}'"
                if isinstance(read, str):
                    bad.append((lines.number, read))
                    continue
                seen[read.question_id] = lines.number
                answers.append(read)
    except OSError as error:
        raise UnavailableError(
            f"The answers cannot be read: {error.strerror or error}.", where=path, hint="Check the path."
        ) from error
    if bad:
        more = f" {len(bad)} lines are invalid: {', '.join(str(n) for n, _ in bad[:_SHOWN])}{', …' if len(bad) > _SHOWN else ''}."
        raise BadInputError(
            f"{bad[0][1]}.{more if len(bad) > 1 else ''}", where=path, line=bad[0][0],
            hint='Each line must be {"id": …, "answer": "…"} or {"id": …, "generation": "…"}.',
        )  # fmt: skip
    if not answers:
        raise BadInputError(
            "The file contains no answer.", where=path, hint='Each line must be {"id": …, "answer": "…"}.'
        )
    return answers


def _row(line: str) -> Answer | str:
    """The answer in a line, or the reason why the line is invalid."""
    try:
        value = parse_json(line)
    except (ValueError, RecursionError) as error:
        return f"not valid JSON ({json_fault(error)})"
    if not isinstance(value, Mapping):
        return f"expected an object, got {type(value).__name__}"
    number = value.get("id")
    if not isinstance(number, str | int) or isinstance(number, bool) or not str(number).strip():
        return "no `id` (a text or an integer)"
    text = next((value[name] for name in _TEXTS if name in value), None)
    if not isinstance(text, str):
        return "no text named `answer` or `generation`"
    return Answer(str(number).strip(), clean(text))


def _folder(workspace: Workspace) -> Path:
    return workspace.folder / "answers"


def _manifest_path(workspace: Workspace, name: str) -> Path:
    return _folder(workspace) / f"{checked_name('set of answers', name)}.json"


def _manifest(path: Path) -> AnswerManifest:
    files = answer_files(path)
    files.check(lambda name: name == path.name)
    try:
        return AnswerManifest(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise files.unreadable(path, error) from error
