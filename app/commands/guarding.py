"""The check of a person's role before each command runs, and the log of commands."""

import logging
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import typer

from berdseye.app.access.acting import acting
from berdseye.app.access.roles import check, right_of_command
from berdseye.app.commands.console import escaped_output, noted_warnings
from berdseye.data.errors import UnavailableError
from berdseye.data.logs import log_to, logged, name_person
from berdseye.data.workspace import Workspace

_log = logging.getLogger(__name__)
_NAMES = ("name", "names", "dataset", "corpus", "pipeline", "run", "batch", "detector", "labels", "k")
"""Options whose values the log holds; others may be texts."""


def guard(group: typer.Typer, before: tuple[str, ...] = ()) -> None:
    """Make every command of a group check the acting person's role before it runs."""
    for command in group.registered_commands:
        if command.callback is not None:
            name = command.name or command.callback.__name__.replace("_", "-")
            command.callback = _checked((*before, name), command.callback)
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            guard(inner.typer_instance, (*before, str(inner.name)))


def _checked(words: tuple[str, ...], callback: Callable[..., Any]) -> Callable[..., Any]:
    right = right_of_command(words)

    @wraps(callback)
    def asking(*args: Any, **kwargs: Any) -> Any:
        workspace = _workspace(kwargs.get("workspace"))
        if workspace is not None:
            log_to(workspace.folder)
        with logged(_log, _described(words, kwargs)):
            if workspace is not None and (right is not None or not workspace.people.team):
                person = acting(workspace.people)
                name_person(person)
                if right is not None and workspace.people.team:
                    check(workspace.people.role_of(person), right, person)
            # only the command's output; coloured help is printed elsewhere
            with escaped_output(), noted_warnings("berdseye.detectors"), noted_warnings("berdseye.retrieval.rerank"):
                return callback(*args, **kwargs)

    return asking


def _described(words: tuple[str, ...], options: dict[str, Any]) -> str:
    """Return a command for the log: its words, and the names of the stored things that it was called with."""
    named = {name: options[name] for name in _NAMES if options.get(name)}
    return " ".join((*words, *(f"{name}={value!a}" for name, value in named.items())))


def _workspace(folder: Path | None) -> Workspace | None:
    """Return the workspace of a command, or None without one, which the command itself reports."""
    try:
        return Workspace.open(folder or Workspace.default_folder())
    except UnavailableError:
        return None
