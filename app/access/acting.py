"""The person a command, or a program that uses the Python API, acts for.

The command line trusts the name that it receives (`--as` or BERDSEYE_PERSON). It prevents mistakes and records names in the log,
but it is no access control: a person who can read and write the workspace's files and database needs no command for that.
"""

import getpass
import os
from contextvars import ContextVar

from berdseye.data.errors import BadInputError
from berdseye.data.people import PeopleSettings, folded_email
from berdseye.data.workspace import Workspace

VARIABLE = "BERDSEYE_PERSON"
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


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a process whose user has no name, for example in a container
        return ""
