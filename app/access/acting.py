"""The person a command acts for, and the check of their role before each command runs.

The command line trusts the name that it receives (`--as` or BERDSEYE_PERSON). It prevents mistakes and records names in the log,
but it is no access control: a person who can read and write the workspace's files and database needs no command for that.
"""

import getpass
import logging
import os
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any

import typer

from berdseye.app.access.roles import check, right_of_command
from berdseye.app.commands.console import escaped_output
from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.logs import log_to, logged, name_person
from berdseye.data.people import PeopleSettings, folded_email
from berdseye.data.workspace import Workspace

VARIABLE = "BERDSEYE_PERSON"
_log = logging.getLogger(__name__)
_NAMES = ("name", "names", "dataset", "corpus", "pipeline", "run", "batch", "detector", "labels", "k")
"""Options whose values the log holds; others may be texts."""
_ACTING: ContextVar[str] = ContextVar("acting person of the command", default="")


def act_as(person: str) -> None:
    """Set the acting person from `--as`. An empty text leaves the choice to the environment."""
    _ACTING.set(person.strip())


def acting(people: PeopleSettings) -> str:
    """Return the person the command acts for: `--as`, otherwise BERDSEYE_PERSON, otherwise in local mode the user of this
    machine.

    Raises `BadInputError` in team mode if no person is named, or not by an e-mail address.
    """
    person = _ACTING.get() or os.environ.get(VARIABLE, "").strip()
    if people.team:
        if "@" not in person:
            raise BadInputError(
                "This workspace is in team mode and identifies people by their e-mail address.",
                hint=f"Use `berdseye --as you@example.org ...` or set {VARIABLE}.",
            )
        return folded_email(person)
    return person or _user()


def acting_name(workspace: Workspace) -> str:
    """Return the name recorded with what a command creates: the acting person, in team mode by the name they judge under."""
    person = acting(workspace.people)
    if not workspace.people.team:
        return person
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.people import people

    names = {p.email: p.annotator.name for p in people(Judgments.open(workspace.judgments_url))}
    return names.get(person, person)


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
            with escaped_output():  # only the command's output; coloured help is printed elsewhere
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


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a process whose user has no name, for example in a container
        return ""
