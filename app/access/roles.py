"""What each role may: the one table that pages, buttons and commands ask.

Pages and their buttons refuse on the server, whatever a browser sends. The command line asks the same table, but takes the
person's word for who they are: whoever has the files and the database of a workspace has all of it.
"""

from collections.abc import Sequence
from typing import Literal, get_args

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
"""What a role may."""

PAGES: dict[str, Right] = {
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
    "label_studio": "judge",
    "jobs": "research",
}
"""What a page needs, by the name of its file in app/views."""

COMMANDS: dict[str, Right | None] = {
    "init": None,
    "demo": None,
    "app": None,
    "label-studio": None,
    "label-studio send": "exchange",
    "label-studio receive": "exchange",
    "label-studio assign": "administer",
    "label-studio account": "judge",
    "label-studio projects": "exchange",
    "label-studio check": "exchange",
    "label-studio import": "exchange",
    "restore": None,
    "verify": None,
    "search": "explore",
    "detect": "explore",
    "perspectives": "explore",
    "perspective": "propose",
    "perspective accept": "adjudicate",
    "perspective reject": "adjudicate",
    "perspective import": "adjudicate",
    "agreement": "analyse",
    "answer": "research",
    "bundle": "research",
    "compare": "research",
    "corpus": "research",
    "dataset": "research",
    "disputed": "research",
    "encoders": "research",
    "evaluate": "research",
    "failures": "research",
    "generated": "research",
    "index": "research",
    "run": "research",
    "runs": "research",
    "sides": "research",
    "study": "research",
    "tune": "research",
    "guidelines": "send out",
    "guidelines show": "judge",
    "batch": "send out",
    "batch export": "analyse",
    "judgments": "exchange",
    "judgments export": "analyse",
    "detector": "train",
    "training-set": "train",
    "backup": "administer",
    "doctor": "administer",
    "judgments doctor": "administer",
    "people": "administer",
    "people roles": None,
}
"""What a command needs, by its first words, the longest that fit; None: no person has to be known, as where a workspace is
made or served."""


class RefusedError(BerdseyeError):
    """Someone may not do what they tried to do."""


def may(role: Role | None, right: Right | None) -> bool:
    """Whether a role may; a role of None is someone without any."""
    return right is None or (role is not None and right in MAY[role])


def check(role: Role | None, right: Right | None, who: str) -> None:
    """Raises `RefusedError` where the role may not."""
    if may(role, right):
        return
    least = next(name for name in ROLES if may(name, right))
    known = f"is {article(role)}" if role else "has no role"
    raise RefusedError(
        f"This takes {article(least)}, and {who} {known}.", hint="An admin gives roles, in [people.roles]."
    )


def right_of_page(name: str) -> Right:
    """What a page needs; one that the table does not know is for admins."""
    return PAGES.get(name, "administer")


def right_of_command(words: Sequence[str]) -> Right | None:
    """What a command needs; one that the table does not know is for admins."""
    for length in range(len(words), 0, -1):
        if (known := " ".join(words[:length])) in COMMANDS:
            return COMMANDS[known]
    return "administer"


def article(role: Role) -> str:
    """The role with its article."""
    return f"{'an' if role[0] in 'aeiou' else 'a'} {role}"
