"""Changes of single settings in berdseye.toml: comments, order and everything that is not changed stay as they are."""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import tomli_w

from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.files.atomic import replacing
from berdseye.data.files.locks import locked
from berdseye.data.workspace import SETTINGS_FILE, Workspace, parsed_settings

_LOCK = f".{SETTINGS_FILE}.lock"
_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?$")
_KEY = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*=\s*""")
# A value on one line: a text, a list without texts that contain brackets, or a number. A comment may follow.
_VALUE = re.compile(r"""("(?:[^"\\]|\\.)*"|'[^']*'|\[[^\[\]#]*\]|[^\s"'\[{#][^#]*?)(\s*(?:#.*)?)$""")
_BARE = re.compile(r"[A-Za-z0-9_-]+")

Change = tuple[str, str]
"""A setting: its section, with dots (`language_models.prices`), and its key."""


class WrittenSettings(NamedTuple):
    """The settings at one time: complete with the defaults, and the `version` of the file that they were read from."""

    settings: dict[str, Any]
    version: str


def read_settings(workspace: Workspace) -> WrittenSettings:
    """Read the settings of a workspace from its file as it is now. Raises `BadInputError` for invalid settings."""
    path = workspace.folder / SETTINGS_FILE
    written = _text(path)
    return WrittenSettings(parsed_settings(written, path), _version(written))


def save_settings(workspace: Workspace, changes: Mapping[Change, Any], version: str) -> WrittenSettings:
    """Write changed settings, where None deletes a key, and return all settings as they are now.

    The file is checked by the code that reads it before it replaces the old one. Raises `StaleError` if it no longer has the
    `version` that the changes were made on, and `BadInputError` for invalid values and for a file that cannot be changed line by
    line. After an error the file is as it was.
    """
    path = workspace.folder / SETTINGS_FILE
    with locked(workspace.folder / _LOCK):
        written = _text(path)
        if _version(written) != version:
            raise StaleError(
                "The settings have changed since this page read them.",
                where=SETTINGS_FILE,
                hint="Nothing was saved. Compare your values with the new ones, then save again.",
            )
        changed = changed_text(written, changes, path)
        settings = parsed_settings(changed, path)
        with replacing(path.resolve()) as draft:
            draft.chmod(path.stat().st_mode & 0o777)  # the file may be closed to others
            draft.write_text(changed, encoding="utf-8")
    return WrittenSettings(settings, _version(changed))


def changed_text(written: str, changes: Mapping[Change, Any], path: Path) -> str:
    """Return the text of a settings file with changed values. Raises `BadInputError` if the file is written in a form that
    cannot be changed line by line, such as values on several lines."""
    lines = written.removesuffix("\n").split("\n")
    for (section, key), value in changes.items():
        _change(lines, section, key, value)
    text = "\n".join(lines) + "\n"
    try:
        done = tomllib.loads(text) == _expected(tomllib.loads(written), changes)
    except tomllib.TOMLDecodeError:
        done = False
    if not done:
        names = ", ".join(f"{section}.{key}" for section, key in changes)
        raise BadInputError(
            f"The file is written in a form in which Berdseye cannot change {names}.",
            where=path,
            hint="Change the file in a text editor.",
        )
    return text


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"The settings cannot be read: {error}.", where=path, hint="Fix the file.") from error


def _version(written: str) -> str:
    return hashlib.sha256(written.encode("utf-8")).hexdigest()


def _expected(read: dict[str, Any], changes: Mapping[Change, Any]) -> dict[str, Any]:
    """Return what the changed file must contain."""
    wanted = deepcopy(read)
    for (section, key), value in changes.items():
        table = wanted
        for part in section.split("."):
            table = table.setdefault(part, {})
        if value is None:
            table.pop(key, None)
        else:
            table[key] = value
    return wanted


def _change(lines: list[str], section: str, key: str, value: Any) -> None:
    """Change, add or delete one line."""
    start, end = _section(lines, section)
    for place in range(start, end):
        matched = _KEY.match(lines[place])
        if matched is None or _plain(matched[1]) != key:
            continue
        if value is None:
            del lines[place]
        elif rest := _VALUE.match(lines[place][matched.end() :]):
            lines[place] = f"{matched[0]}{_toml(value)}{rest[2]}"
        return
    if value is None:
        return
    last = next((p for p in reversed(range(start, end)) if _KEY.match(lines[p])), start - 1)
    lines.insert(last + 1, f"{key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)} = {_toml(value)}")


def _section(lines: list[str], section: str) -> tuple[int, int]:
    """Return the lines of a section after its header; a missing one is added at the end."""
    headers = [(place, matched[1]) for place, line in enumerate(lines) if (matched := _HEADER.match(line))]
    for place, name in headers:
        if ".".join(_plain(part.strip()) for part in name.split(".")) == section:
            return place + 1, next((later for later, _ in headers if later > place), len(lines))
    lines += ["", f"[{section}]"]
    return len(lines), len(lines)


def _plain(key: str) -> str:
    """Return a key without its quotes."""
    try:
        return next(iter(tomllib.loads(f"{key} = 0")))
    except tomllib.TOMLDecodeError:
        return key


def _toml(value: Any) -> str:
    """Write a value on one line."""
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return tomli_w.dumps({"v": value}).removeprefix("v = ").rstrip("\n")


def different(one: Mapping[str, Any], other: Mapping[str, Any], keys: Iterable[Change]) -> list[Change]:
    """Return those of the settings whose values differ."""
    return [(section, key) for section, key in keys if one[section][key] != other[section][key]]
