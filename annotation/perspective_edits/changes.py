"""What an edit does to the perspectives of a question: some of them give way to others.

Proposing a missing perspective, splitting, merging, rewording and dropping differ only in how many give way to how many.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from berdseye.data.datasets.layouts.rows import read_perspectives
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Perspective, Stance
from berdseye.data.texts.passages import clean

Action = Literal["propose", "split", "merge", "reword", "drop"]
ACTIONS: tuple[Action, ...] = get_args(Action)
LONGEST = 2_000
_MANY = 100
_COUNTS: dict[Action, tuple[range, range]] = {
    "propose": (range(1), range(1, 2)),
    "split": (range(1, 2), range(2, _MANY)),
    "merge": (range(2, _MANY), range(1, 2)),
    "reword": (range(1, 2), range(1, 2)),
    "drop": (range(1, 2), range(1)),
}
"""How many perspectives give way, and how many come in their place."""
_SAID: dict[Action, str] = {
    "propose": "Proposing names one new perspective, and none that gives way.",
    "split": "Splitting names one perspective, and two or more that take its place.",
    "merge": "Merging names two perspectives or more, and one that takes their place.",
    "reword": "Rewording names one perspective, and one that takes its place.",
    "drop": "Dropping names one perspective, and nothing that takes its place.",
}


class ConflictError(BadInputError):
    """An edit that does not fit the perspectives as they are now."""


@dataclass(frozen=True)
class Change:
    """`parts` give way to `becomes`, which stand where the first part stood, or at the end where there is none."""

    action: Action
    parts: tuple[Perspective, ...]
    becomes: tuple[Perspective, ...]

    @classmethod
    def of(cls, action: str, parts: Sequence[Perspective], becomes: Sequence[Perspective]) -> "Change":
        """A change that can be one; texts are cleaned and brought to Unicode NFC. Raises `BadInputError` where it cannot."""
        known = next((a for a in ACTIONS if a == action), None)
        if known is None:
            raise UnknownNameError("edit", action, ACTIONS)
        try:
            new = read_perspectives([p._asdict() | {"text": _composed(p.text)} for p in becomes])
        except ValueError as error:
            raise BadInputError(f"{error}.".capitalize(), hint=_SAID[known]) from error
        gone, come = _COUNTS[known]
        if len(parts) not in gone or len(new) not in come or len(set(parts)) < len(parts) or len(new) < len(becomes):
            raise BadInputError(_SAID[known], hint="No text may stand twice.")
        if any(len(p.text) > LONGEST or len(p.explanation) > 10 * LONGEST for p in new):
            raise BadInputError(f"A perspective has at most {LONGEST:,} characters.", hint="Say it in one sentence.")
        if set(parts) == set(new):
            raise BadInputError("Nothing would change.", hint="Give it other words or another stance.")
        return cls(known, tuple(parts), new)

    def apply(self, perspectives: Sequence[Perspective]) -> tuple[Perspective, ...]:
        """The perspectives after it; raises `ConflictError` where a part is gone or a new text is there already."""
        for part in self.parts:
            if part not in perspectives:
                raise ConflictError(f"“{part.text}” is not among the perspectives, or not as it was.", hint=_ANEW)
        place = min((perspectives.index(part) for part in self.parts), default=len(perspectives))
        before = [p for p in perspectives[:place] if p not in self.parts]
        after = [p for p in perspectives[place:] if p not in self.parts]
        there = {_composed(p.text) for p in [*before, *after]}
        for new in self.becomes:
            if new.text in there:
                raise ConflictError(f"“{new.text}” is a perspective already.", hint=_ANEW)
        return (*before, *self.becomes, *after)

    def touches(self, other: "Change") -> bool:
        """Whether both take the same perspective away, or both bring the same text."""
        return bool(set(self.parts) & set(other.parts)) or bool(
            {p.text for p in self.becomes} & {p.text for p in other.becomes}
        )

    def to_json(self) -> dict[str, Any]:
        """As `change` in the log and in files."""
        return {
            "action": self.action,
            "parts": [p._asdict() for p in self.parts],
            "becomes": [p._asdict() for p in self.becomes],
        }

    @classmethod
    def from_json(cls, value: Any) -> "Change":
        """Read what `to_json` gives; raises `BadInputError` for anything else."""
        try:
            parts = [Perspective(p["text"], p["stance"], p["explanation"]) for p in value["parts"]]
            becomes = [Perspective(p["text"], p["stance"], p["explanation"]) for p in value["becomes"]]
            return cls.of(str(value["action"]), parts, becomes)
        except (LookupError, TypeError) as error:
            raise BadInputError(f"Not an edit: {error!r}.", hint="Give action, parts and becomes.") from error


def shared_stance(parts: Sequence[Perspective]) -> Stance | None:
    """The stance on which parts agree, which what takes their place has unless it is said otherwise."""
    stances = {p.stance for p in parts}
    return parts[0].stance if len(stances) == 1 else None


def explained_as(parts: Sequence[Perspective], becomes: Sequence[Perspective]) -> list[Perspective]:
    """What comes in; other words for one perspective keep its explanation."""
    explanation = parts[0].explanation if len(parts) == len(becomes) == 1 else ""
    return [p._replace(explanation=p.explanation or explanation) for p in becomes]


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", clean(text))


_ANEW = "Look at the perspectives as they are now, and propose it anew."


def chosen_parts(perspectives: Sequence[Perspective], named: Sequence[str]) -> tuple[Perspective, ...]:
    """The perspectives that are named by their texts or by their numbers from 1; raises `UnknownNameError`."""
    by_name = {str(n): p for n, p in enumerate(perspectives, start=1)} | {p.text: p for p in perspectives}
    for name in named:
        if name not in by_name:
            raise UnknownNameError("perspective", name, [p.text for p in perspectives])
    return tuple(by_name[name] for name in named)
