"""The rights of each role, in one table that pages, buttons and commands use.

Pages and their buttons check rights on the server, whatever a browser sends. The command line uses this table, too, but trusts
the name that a person gives: a person with access to a workspace's files and database has access to everything in it.
"""

from collections.abc import Sequence
from typing import Literal, get_args

from berdseye.app.commands.former_names import present_words
from berdseye.data.errors import BerdseyeError
from berdseye.data.people import ROLES, Role

Right = Literal[
    "explore", "judge", "propose", "adjudicate", "analyse", "research", "send out", "train", "exchange", "administer"
]
RIGHTS: tuple[Right, ...] = get_args(Right)
_ANNOTATOR: frozenset[Right] = frozenset({"explore", "judge", "propose"})
_ADJUDICATOR: frozenset[Right] = frozenset({*_ANNOTATOR, "adjudicate"})
_RESEARCHER: frozenset[Right] = frozenset({*_ADJUDICATOR, "analyse", "research", "send out", "train", "exchange"})
MAY: dict[Role, frozenset[Right]] = {
    "annotator": _ANNOTATOR,
    "adjudicator": _ADJUDICATOR,
    "researcher": _RESEARCHER,
    "admin": frozenset(RIGHTS),
}
"""The rights of each role."""

PAGES: dict[str, Right] = {
    "home": "explore",
    "explore": "explore",
    "search": "explore",
    "passage": "explore",
    "question": "research",
    "annotate": "judge",
    "perspectives": "propose",
    "adjudication": "adjudicate",
    "agreement": "analyse",
    "runs": "research",
    "failures": "research",
    "compare": "research",
    "bias": "research",
    "studies": "research",
    "detectors": "train",
    "detector_lab": "train",
    "data": "research",
    "build": "research",
    "batches": "send out",
    "people": "send out",
    "label_studio": "judge",
    "jobs": "research",
    "workspace": "administer",
    "documentation": "explore",
    "keys": "explore",
}
"""The right that each page requires, by the name of its file in app/views."""

COMMANDS: dict[str, Right | None] = {
    "init": None,
    "demo": None,
    "app": None,
    "label-studio": None,
    "label-studio push": "exchange",
    "label-studio pull": "exchange",
    "label-studio assign": "administer",
    "label-studio account": "judge",
    "label-studio projects": "exchange",
    "label-studio check": "exchange",
    "label-studio import": "exchange",
    "restore": None,
    "verify": None,
    "power": None,
    "search": "explore",
    "detect": "explore",
    "expansion": "explore",
    "perspective": "propose",
    "perspective accept": "adjudicate",
    "perspective reject": "adjudicate",
    "perspective import": "adjudicate",
    "agreement": "analyse",
    "report": "analyse",
    "answer": "research",
    "bundle": "research",
    "compare": "research",
    "construct": "research",
    "corpus": "research",
    "dataset": "research",
    "encoders": "research",
    "evaluate": "research",
    "failures": "research",
    "index": "research",
    "llm": "research",
    "run": "research",
    "runs": "research",
    "study": "research",
    "tune": "research",
    "guidelines": "send out",
    "guidelines show": "judge",
    "batch": "send out",
    "batch export": "analyse",
    "batch preferences": "analyse",
    "batch qualification": "analyse",
    "judgments": "exchange",
    "judgments export": "analyse",
    "detector": "train",
    "training-set": "train",
    "backup": "administer",
    "doctor": "administer",
    "judgments doctor": "administer",
    "people": "administer",
    "people reliability": "analyse",
    "people roles": None,
}
"""The right that each command requires, by its first words; the longest match applies. None: the command needs no known person,
because it creates or serves a workspace, or reads none."""


class RefusedError(BerdseyeError):
    """Raised when a person's role does not allow an action."""


def may(role: Role | None, right: Right | None) -> bool:
    """Whether a role has a right. The role None is a person without a role."""
    return right is None or (role is not None and right in MAY[role])


def check(role: Role | None, right: Right | None, who: str) -> None:
    """Raise `RefusedError` if the role lacks the right. `who` names the person in the message."""
    if may(role, right):
        return
    least = next(name for name in ROLES if may(name, right))
    present = f"is {article(role)}" if role else "has no role"
    raise RefusedError(
        f"This requires the role of {article(least)}, but {who} {present}.",
        hint="An admin can assign roles under [people.roles] in berdseye.toml.",
    )


def right_of_page(name: str) -> Right:
    """Return the right that a page requires. Pages missing from the table require an admin."""
    return PAGES.get(name, "administer")


def right_of_command(words: Sequence[str]) -> Right | None:
    """Return the right that a command requires, under its present or a former name. Commands missing from the table
    require an admin."""
    words = present_words(words)
    for length in range(len(words), 0, -1):
        if (name := " ".join(words[:length])) in COMMANDS:
            return COMMANDS[name]
    return "administer"


def article(role: Role) -> str:
    """Return the role with its indefinite article."""
    return f"{'an' if role[0] in 'aeiou' else 'a'} {role}"
