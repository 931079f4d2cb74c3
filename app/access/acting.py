"""Who a command acts for, and whether their role may: asked before each command runs.

The command line takes people at their word (`--as`, or BERDSEYE_PERSON): it keeps mistakes out and puts names into the log,
but it is no lock. Whoever can read and write a workspace's files and database needs no command for it.
"""

import getpass
import os
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any

import typer

from berdseye.app.access.roles import check, right_of_command
from berdseye.app.commands.console import harmless_output
from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.people import PeopleSettings, folded_email
from berdseye.data.workspace import Workspace

VARIABLE = "BERDSEYE_PERSON"
_SAID: ContextVar[str] = ContextVar("acting person of the command", default="")


def act_as(person: str) -> None:
    """Take note of `--as`; an empty text leaves it to the environment."""
    _SAID.set(person.strip())


def acting(people: PeopleSettings) -> str:
    """Who the command acts for: `--as`, else BERDSEYE_PERSON, else in local mode the user of this machine.

    Raises `BadInputError` in team mode where nobody is named, or not by an e-mail address.
    """
    said = _SAID.get() or os.environ.get(VARIABLE, "").strip()
    if people.team:
        if "@" not in said:
            raise BadInputError(
                "People of this workspace are known by their e-mail address.",
                hint=f"Say `berdseye --as you@example.org ...`, or set {VARIABLE}.",
            )
        return folded_email(said)
    return said or _user()


def acting_name(workspace: Workspace) -> str:
    """What is written beside what a command makes: who it acts for, in team mode by the name they judge under."""
    person = acting(workspace.people)
    if not workspace.people.team:
        return person
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.people import people

    known = {p.email: p.annotator.name for p in people(Judgments.open(workspace.judgments_url))}
    return known.get(person, person)


def guard(group: typer.Typer, before: tuple[str, ...] = ()) -> None:
    """Let every command of a group ask first whether it may."""
    for command in group.registered_commands:
        if command.callback is not None:
            name = command.name or command.callback.__name__.replace("_", "-")
            command.callback = _asking((*before, name), command.callback)
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            guard(inner.typer_instance, (*before, str(inner.name)))


def _asking(words: tuple[str, ...], callback: Callable[..., Any]) -> Callable[..., Any]:
    right = right_of_command(words)

    @wraps(callback)
    def asking(*args: Any, **kwargs: Any) -> Any:
        if right is not None and (people := _people(kwargs.get("workspace"))) is not None and people.team:
            person = acting(people)
            check(people.role_of(person), right, person)
        with harmless_output():  # help, which is coloured, is printed elsewhere
            return callback(*args, **kwargs)

    return asking


def _people(folder: Path | None) -> PeopleSettings | None:
    """Who may come into the workspace of a command; None where there is none, which the command itself tells."""
    try:
        return Workspace.open(folder or Workspace.default_folder()).people
    except UnavailableError:
        return None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a process without a user of a name, as in a container
        return ""
