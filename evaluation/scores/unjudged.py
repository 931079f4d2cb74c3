"""How a question counts for a run whose top k has no label for it, although the label source has one elsewhere."""

from enum import StrEnum

from berdseye.data.errors import UnknownNameError
from berdseye.data.workspace import Workspace


class Unjudged(StrEnum):
    """The rules: such a question counts as finding nothing, or is left out of the run's mean."""

    ZERO = "zero"
    LEFT_OUT = "left-out"


_IN_WORDS = {
    Unjudged.ZERO: "A question without a label in a run's top k counts as finding nothing (unjudged: zero).",
    Unjudged.LEFT_OUT: "A question without a label in a run's top k is left out of the run's figures (unjudged: left-out).",
}


def unjudged_of(workspace: Workspace, asked: str | None = None) -> Unjudged:
    """Return the requested rule, by default that of the workspace's settings; raises `UnknownNameError`."""
    return parse_unjudged(workspace.settings.get("measures", {}).get("unjudged") if asked is None else asked)


def parse_unjudged(asked: str | None) -> Unjudged:
    """Return the rule of this name, `zero` for None; raises `UnknownNameError`."""
    try:
        return Unjudged.ZERO if asked is None else Unjudged(asked)
    except ValueError:
        raise UnknownNameError("rule for unjudged questions", str(asked), list(Unjudged)) from None


def in_words(unjudged: Unjudged) -> str:
    """Return a sentence on the rule, for people who read a result."""
    return _IN_WORDS[unjudged]
