"""Beginning, opening, listing and removing constructions."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from berdseye.data.errors import BadInputError, DamagedError, UnknownNameError
from berdseye.data.files.atomic import make_folder, write_bytes, write_json, write_with
from berdseye.data.files.given_paths import possible_path
from berdseye.data.files.json_files import read_json
from berdseye.data.files.locks import locked
from berdseye.data.language_models.prompts import read_prompt
from berdseye.data.workspace import Workspace, checked_name
from berdseye.evaluation.construction.kinds import kind_of
from berdseye.evaluation.construction.steps import Kind
from berdseye.evaluation.construction.stored import (
    RUNNING,
    SOURCES,
    Construction,
    Source,
    busy,
    constructions_folder,
    hash_of,
    present_path,
    recorded_path,
    stat_of,
)

_FILE = "construction.json"


def begin(
    workspace: Workspace,
    kind: Kind,
    name: str,
    sources: Mapping[str, Path],
    settings: Mapping[str, Any],
    prompts: Mapping[str, Path],
    *,
    made_by: str,
    copying: bool = False,
) -> Construction:
    """Begin a construction, or return the one of this name if it was begun with the same sources, settings and prompts.

    Sources are the same if their contents are: one that was recorded elsewhere, and is no longer there, is read where it is given
    now. With `copying`, the sources are copied into its folder, because the given files will go, as uploads do. Raises
    `BadInputError` for a name that another construction has, missing sources, unknown or unreadable prompts, and settings with
    which no step could work. Nothing is stored then. A construction with no finished step but the reading of its sources is
    replaced: it has nothing to lose.
    """
    folder = constructions_folder(workspace) / checked_name("construction", name)
    if not sources:
        raise BadInputError("A construction needs a source.", hint=f"Give --source FILE: {kind.sources}.")
    complete = {option.name: option.default for option in kind.options} | dict(settings)
    new = Construction(
        workspace,
        name,
        kind,
        complete,
        tuple(_source(source, path) for source, path in sources.items()),
        tuple(sorted(prompts)),
        made_by,
        datetime.now(UTC).isoformat(timespec="seconds"),
    )
    if kind.asks:
        _ = new.working().model  # an unknown name is an error now, not after the steps before the first call
    texts = {}
    for prompt, file in prompts.items():
        if prompt not in kind.asks:
            raise UnknownNameError("prompt", prompt, kind.asks)
        read_prompt(file, kind.asks[prompt].slots)
        texts[prompt] = file.read_bytes()
    with locked(constructions_folder(workspace) / f".{name}.lock"):
        if (folder / _FILE).exists():
            known = open_construction(workspace, name)
            if _content(known) == _content(new) and all(
                (known.folder / "prompts" / f"{prompt}.txt").read_bytes() == text for prompt, text in texts.items()
            ):
                return _with_found_sources(known, new)
            if known.has_results:
                raise BadInputError(
                    f"There is a construction '{name}' with other sources, settings or prompts.",
                    hint="Choose another name; `berdseye construct resume NAME` continues the existing one.",
                )
            _check_settings(new)
            with locked(known.folder / RUNNING, busy=busy(known)):
                shutil.rmtree(known.folder)
        _check_settings(new)
        make_folder(folder / "steps")
        if copying:
            new = replace(new, sources=tuple(_copied(source, folder / SOURCES) for source in new.sources))
        for prompt, text in texts.items():
            write_bytes(folder / "prompts" / f"{prompt}.txt", text)
        _record(new)
    return new


def open_construction(workspace: Workspace, name: str) -> Construction:
    """Return a stored construction; raises `UnknownNameError`, `DamagedError`."""
    if name not in (names := list_constructions(workspace)):
        raise UnknownNameError("construction", name, names)
    path = constructions_folder(workspace) / name / _FILE
    try:
        stored = read_json(path)
        sources = tuple(
            Source(**{**source, "path": present_path(workspace, name, source["path"])}) for source in stored["sources"]
        )
        return Construction(
            workspace,
            name,
            kind_of(stored["kind"]),
            stored["settings"],
            sources,
            tuple(stored["prompts"]),
            stored["made_by"],
            stored["created"],
        )
    except (KeyError, TypeError) as error:
        raise DamagedError(
            "The construction cannot be read.", where=path, hint="Restore it from a backup, or delete its folder."
        ) from error


def list_constructions(workspace: Workspace) -> list[str]:
    """Return the names of all constructions, sorted."""
    return sorted(path.parent.name for path in constructions_folder(workspace).glob(f"[!.]*/{_FILE}"))


def remove_construction(workspace: Workspace, name: str) -> None:
    """Delete a construction and its rows. Data sets that were made from it stay. Raises `UnknownNameError`."""
    shutil.rmtree(open_construction(workspace, name).folder)


def _check_settings(construction: Construction) -> None:
    for option in construction.kind.options:
        option.check(construction.settings[option.name])
    if construction.kind.check is not None:
        construction.kind.check(construction.working())


def _record(construction: Construction) -> None:
    sources = [
        source._replace(path=recorded_path(construction.workspace, Path(source.path)))._asdict()
        for source in construction.sources
    ]
    stored = {
        "kind": construction.kind.name,
        "settings": dict(construction.settings),
        "prompts": list(construction.prompts),
        "sources": sources,
        "made_by": construction.made_by,
        "created": construction.created,
    }
    write_json(construction.folder / _FILE, stored)


def _with_found_sources(known: Construction, given: Construction) -> Construction:
    """Return a construction that reads sources where they are given now, if they are no longer where it has them."""
    pairs = zip(known.sources, given.sources, strict=True)
    sources = tuple(had if Path(had.path).exists() else has for had, has in pairs)
    if sources == known.sources:
        return known
    found = replace(known, sources=sources)
    _record(found)
    return found


def _content(construction: Construction) -> tuple[Any, ...]:
    sources = [(source.name, source.sha256) for source in construction.sources]
    return construction.kind.name, dict(construction.settings), sources, construction.prompts


def _source(name: str, path: Path) -> Source:
    path = possible_path(path).expanduser().resolve()
    if not path.exists():
        raise BadInputError("The source does not exist.", where=path, hint="Check the path.")
    return Source(name, str(path), *stat_of(path), hash_of(path))


def _copy(source: str, target: Path) -> None:
    shutil.copyfile(source, target)


def _copied(source: Source, folder: Path) -> Source:
    make_folder(folder)
    path = folder / f"{source.name}{Path(source.path).suffix}"
    write_with(path, partial(_copy, source.path))
    return source._replace(path=str(path), size=path.stat().st_size, changed=path.stat().st_mtime_ns)
