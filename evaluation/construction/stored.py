"""Stored constructions: a folder of the workspace with the settings, the rows of each finished step, and what people overruled.

constructions/NAME/construction.json      kind, settings, sources with their checksums, prompts
constructions/NAME/prompts/PROMPT.txt     files that replace Berdseye's prompts
constructions/NAME/steps/01-STEP.jsonl    all rows of the step, kept and rejected; 00-sources has those of the sources
constructions/NAME/steps/01-STEP.json     what the rows were made from
constructions/NAME/overruled.jsonl        decisions of people on single rows, append-only
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from berdseye.data.errors import BadInputError, BerdseyeError, StaleError, UnknownNameError
from berdseye.data.files.atomic import write_bytes, write_json
from berdseye.data.files.checksums import sha256_of
from berdseye.data.files.json_files import read_json
from berdseye.data.files.locks import locked
from berdseye.data.progress import Progress, silent
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.rows import Row, read_rows, write_rows
from berdseye.evaluation.construction.steps import Kind
from berdseye.evaluation.construction.working import Working

SOURCES = "sources"
"""The name of the step that reads the sources, before the steps of the kind."""
RUNNING = ".running.lock"
"""The file that a process locks while it runs steps."""
_FILE = "construction.json"


class Source(NamedTuple):
    """A file or folder that a construction reads: `size` in bytes and `changed` in nanoseconds since 1970; a folder has the sums
    of its files. `sha256` is that of the content. `path` is absolute; the record of a construction has a path relative to the
    workspace if the source lies in it, so that a workspace can be moved."""

    name: str
    path: str
    size: int
    changed: int
    sha256: str


class Overruling(NamedTuple):
    """A person's decision on a row of a step: keep it, with changed fields if there are any, or drop it."""

    step: str
    row: str
    keep: bool
    why: str
    made_by: str
    at: str
    fields: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Construction:
    """A construction of a workspace: `prompts` are the names of the prompts that a file replaces."""

    workspace: Workspace
    name: str
    kind: Kind
    settings: Mapping[str, Any]
    sources: tuple[Source, ...]
    prompts: tuple[str, ...]
    made_by: str
    created: str

    @property
    def folder(self) -> Path:
        return constructions_folder(self.workspace) / self.name

    @property
    def step_names(self) -> tuple[str, ...]:
        """The names of all steps in order, the reading of the sources first."""
        return (SOURCES, *(step.name for step in self.kind.steps))

    def working(self, progress: Progress = silent) -> Working:
        """Return what steps work with. Raises `StaleError` if a source has changed since the construction began, or is gone and
        was never read."""
        for source in self.sources:
            path = Path(source.path)
            if not path.exists():
                if self.made_from(SOURCES) is None:
                    raise gone(source.name, path)
                continue
            if stat_of(path) != (source.size, source.changed) and hash_of(path) != source.sha256:
                raise StaleError(
                    f"The source '{source.name}' has changed since this construction began.",
                    where=path,
                    hint="Put the file back, or begin a new construction with another name.",
                )
        files = {name: self.folder / "prompts" / f"{name}.txt" for name in self.prompts}
        paths = {source.name: Path(source.path) for source in self.sources}
        return Working(self.workspace, self.settings, paths, files, progress, self.folder, self.kept)

    def rows_file(self, step: str) -> Path:
        """Return the file of the rows of a step, by its name; raises `UnknownNameError`."""
        if step not in self.step_names:
            raise UnknownNameError("step", step, self.step_names)
        return self.folder / "steps" / f"{self.step_names.index(step):02d}-{step}.jsonl"

    def made_from(self, step: str) -> str | None:
        """Return the hash of what the stored rows of a step were made from, or None if the step is not finished."""
        path = self.rows_file(step).with_suffix(".json")
        return str(read_json(path)["made_from"]) if path.exists() and self.rows_file(step).exists() else None

    def store(self, step: str, rows: Sequence[Row], made_from: str) -> None:
        """Store the rows of a finished step. Raises `BadInputError` for repeated ids, which are a fault of the step."""
        seen: set[str] = set()
        for row in rows:
            if row.id in seen:
                raise BadInputError(f"Two rows of the step '{step}' have the id '{row.id}'.", hint="Use unique ids.")
            seen.add(row.id)
        path = self.rows_file(step)
        path.with_suffix(".json").unlink(missing_ok=True)
        write_rows(path, rows)
        write_json(path.with_suffix(".json"), {"made_from": made_from, "rows": len(rows)})

    def rows(self, step: str) -> list[Row]:
        """Return all rows of a finished step as people have left them: an overruled row is kept, or rejected by a person.

        Raises `UnknownNameError` for an unknown step, and `StaleError` if it is not finished.
        """
        if self.made_from(step) is None:
            raise StaleError(
                f"The step '{step}' of '{self.name}' is not finished.",
                where=self.folder,
                hint=f"Run it: `berdseye construct resume {self.name}`.",
            )
        decisions = {(o.step, o.row): o for o in self.overrulings()}
        return [_decided(row, decisions.get((step, row.id))) for row in read_rows(self.rows_file(step))]

    def kept(self, step: str) -> list[Row]:
        """Return the rows that a finished step passes on."""
        return [row for row in self.rows(step) if not row.rejected]

    @property
    def has_results(self) -> bool:
        """Whether a step after the reading of the sources is finished, or a person has decided on a row."""
        return bool(self.overrulings()) or any(self.made_from(step.name) is not None for step in self.kind.steps)

    def overrulings(self) -> list[Overruling]:
        """Return all decisions of people, the oldest first; the last one on a row holds."""
        path = self.folder / "overruled.jsonl"
        if not path.exists():
            return []
        lines = path.read_text(encoding="utf-8").split("\n")
        # A crash may leave a part of the last line, which was not confirmed to anybody.
        return [Overruling(**json.loads(line)) for line in lines[:-1]]

    def overrule(
        self, step: str, rows: Mapping[str, str], *, keep: bool, made_by: str, fields: Mapping[str, Any] | None = None
    ) -> None:
        """Record a person's decision on rows of a finished step, given by id with the reason; it is on disk on return.

        `fields` replace fields of the rows, such as a text that a model did not write. The steps after it run again. Raises
        `UnknownNameError` for an unknown row, and `BadInputError` for one that lacks a field that it needs.
        """
        stored = {row.id: row for row in self.rows(step)}
        needs = () if step == SOURCES else self.kind.step(step).needs
        for row_id in rows:
            if row_id not in stored:
                raise UnknownNameError(f"row of the step '{step}'", row_id, list(stored))
            lacks = [name for name in needs if not {**stored[row_id].fields, **(fields or {})}.get(name)]
            if keep and lacks:
                raise BadInputError(
                    f"The row '{row_id}' lacks {' and '.join(lacks)}.",
                    hint=f"Give it: --field {lacks[0]}=TEXT.",
                )
        at = datetime.now(UTC).isoformat(timespec="seconds")
        new = [Overruling(step, row, keep, why, made_by, at, dict(fields or {})) for row, why in rows.items()]
        with locked(self.folder / ".overruled.lock"):
            path = self.folder / "overruled.jsonl"
            before = path.read_bytes() if path.exists() else b""
            whole = before[: before.rfind(b"\n") + 1]
            lines = "".join(f"{json.dumps(one._asdict(), ensure_ascii=False)}\n" for one in new)
            write_bytes(path, whole + lines.encode("utf-8", "replace"))


def constructions_folder(workspace: Workspace) -> Path:
    """Return the folder of all constructions of a workspace."""
    return workspace.folder / "constructions"


def gone(source: str, path: Path) -> StaleError:
    """Return the error of a source that is needed and does not exist."""
    hint = "Put it back, or give its new place: repeat the command that began the construction, with this --source."
    return StaleError(f"The source '{source}' is gone.", where=path, hint=hint)


def busy(construction: Construction) -> BerdseyeError:
    """Return the error of a construction that another process is running."""
    return BerdseyeError(
        f"Another process is running '{construction.name}'.",
        where=construction.folder,
        hint="Wait until it has finished, or stop it.",
    )


def recorded_path(workspace: Workspace, path: Path) -> str:
    """Return the path of a source as a record has it: relative to the workspace if it lies there, otherwise absolute."""
    for folder in (workspace.folder, workspace.folder.resolve()):
        if path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return str(path)


def present_path(workspace: Workspace, construction: str, recorded: str) -> str:
    """Return the absolute path of a recorded source.

    Older records have absolute paths of copied sources too. These are found in the workspace as it is now, wherever it was then.
    """
    path = Path(recorded)
    if not path.is_absolute():
        return str(workspace.folder / path)
    own = constructions_folder(workspace) / construction / SOURCES / path.name
    was_copied = path.parts[-4:-1] == (own.parent.parent.parent.name, construction, SOURCES)
    return str(own if was_copied and own.exists() else path)


def _decided(row: Row, decision: Overruling | None) -> Row:
    if decision is None:
        return row
    made = {"keep": decision.keep, "why": decision.why, "made_by": decision.made_by, "at": decision.at}
    if row.rejected:
        made["was"] = row.rejected
    if decision.keep:
        return row._replace(rejected="").with_fields(**decision.fields).with_origin("overruled", **made)
    return row.reject(decision.why or f"dropped by {decision.made_by}").with_origin("overruled", **made)


def _files(path: Path) -> list[Path]:
    return sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def stat_of(path: Path) -> tuple[int, int]:
    stats = [file.stat() for file in _files(path)]
    return sum(stat.st_size for stat in stats), max((stat.st_mtime_ns for stat in stats), default=0)


def hash_of(path: Path) -> str:
    if path.is_file():
        return sha256_of(path)
    listing = "".join(f"{file.relative_to(path).as_posix()} {sha256_of(file)}\n" for file in _files(path))
    return hashlib.sha256(listing.encode()).hexdigest()
