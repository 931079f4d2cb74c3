"""The change that an edit makes to the perspectives of a question: it replaces some of them by others.

Proposing a missing perspective, splitting, merging, rewording and dropping differ only in the numbers of replaced and new
perspectives.
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
"""How many perspectives each action replaces, and by how many."""
_RULES: dict[Action, str] = {
    "propose": "`propose` takes one new perspective, and replaces none.",
    "split": "`split` replaces one perspective by two or more.",
    "merge": "`merge` replaces two or more perspectives by one.",
    "reword": "`reword` replaces one perspective by one.",
    "drop": "`drop` takes one perspective, and replaces it by none.",
}
_PROPOSE_AGAIN = "Look at the present perspectives, and propose the edit again."


class ConflictError(BadInputError):
    """An edit that does not fit the perspectives as they are now."""


@dataclass(frozen=True)
class Change:
    """Replaces `parts` by `becomes`, which are inserted at the place of the first part, or at the end if there are none."""

    action: Action
    parts: tuple[Perspective, ...]
    becomes: tuple[Perspective, ...]

    @classmethod
    def of(cls, action: str, parts: Sequence[Perspective], becomes: Sequence[Perspective]) -> "Change":
        """Check a change and build it; texts are cleaned and normalized to Unicode NFC.

        Raises `UnknownNameError` for an unknown action, `BadInputError` for a change that is not valid.
        """
        checked_action = next((a for a in ACTIONS if a == action), None)
        if checked_action is None:
            raise UnknownNameError("edit", action, ACTIONS)
        try:
            new = read_perspectives([p._asdict() | {"text": _composed(p.text)} for p in becomes])
        except ValueError as error:
            raise BadInputError(f"{error}.".capitalize(), hint=_RULES[checked_action]) from error
        replaced, added = _COUNTS[checked_action]
        unique = len(set(parts)) == len(parts) and len(new) == len(becomes)
        if len(parts) not in replaced or len(new) not in added or not unique:
            raise BadInputError(
                _RULES[checked_action], hint=f"Got {len(parts)} and {len(becomes)}; no text may occur twice."
            )
        if any(len(p.text) > LONGEST or len(p.explanation) > 10 * LONGEST for p in new):
            raise BadInputError(
                f"A perspective can have at most {LONGEST:,} characters, and its explanation at most {10 * LONGEST:,}.",
                hint="State the perspective in one sentence.",
            )
        if set(parts) == set(new):
            raise BadInputError("The edit would change nothing.", hint="Change the text or the stance.")
        return cls(checked_action, tuple(parts), new)

    def apply(self, perspectives: Sequence[Perspective]) -> tuple[Perspective, ...]:
        """Return the perspectives after the change; raises `ConflictError` if a part is gone or a new text exists already."""
        for part in self.parts:
            if part not in perspectives:
                raise ConflictError(
                    f"“{part.text}” is no longer among the perspectives, or was changed.", hint=_PROPOSE_AGAIN
                )
        place = min((perspectives.index(part) for part in self.parts), default=len(perspectives))
        before = [p for p in perspectives[:place] if p not in self.parts]
        after = [p for p in perspectives[place:] if p not in self.parts]
        texts = {_composed(p.text) for p in [*before, *after]}
        for new in self.becomes:
            if new.text in texts:
                raise ConflictError(f"“{new.text}” is a perspective already.", hint=_PROPOSE_AGAIN)
        return (*before, *self.becomes, *after)

    def touches(self, other: "Change") -> bool:
        """Return whether both changes replace one perspective, or both add one text."""
        return bool(set(self.parts) & set(other.parts)) or bool(
            {p.text for p in self.becomes} & {p.text for p in other.becomes}
        )

    def to_json(self) -> dict[str, Any]:
        """Return the change as the log (`change`) and files store it."""
        return {
            "action": self.action,
            "parts": [p._asdict() for p in self.parts],
            "becomes": [p._asdict() for p in self.becomes],
        }

    @classmethod
    def from_json(cls, value: Any) -> "Change":
        """Read the output of `to_json`; raises `BadInputError` for anything else."""
        try:
            parts = [Perspective(p["text"], p["stance"], p["explanation"]) for p in value["parts"]]
            becomes = [Perspective(p["text"], p["stance"], p["explanation"]) for p in value["becomes"]]
            return cls.of(str(value["action"]), parts, becomes)
        except (LookupError, TypeError) as error:
            raise BadInputError(
                f"The edit cannot be read: {error!r}.", hint="It needs `action`, `parts` and `becomes`."
            ) from error


def shared_stance(parts: Sequence[Perspective]) -> Stance | None:
    """Return the stance that all parts share (None: they differ), which their replacement has by default."""
    stances = {p.stance for p in parts}
    return parts[0].stance if len(stances) == 1 else None


def explained_as(parts: Sequence[Perspective], becomes: Sequence[Perspective]) -> list[Perspective]:
    """Return the new perspectives; a reworded perspective keeps its explanation unless it has a new one."""
    explanation = parts[0].explanation if len(parts) == len(becomes) == 1 else ""
    return [p._replace(explanation=p.explanation or explanation) for p in becomes]


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", clean(text))


def chosen_parts(perspectives: Sequence[Perspective], named: Sequence[str]) -> tuple[Perspective, ...]:
    """Return the perspectives named by their texts or by their numbers from 1; raises `UnknownNameError`."""
    by_name = {str(n): p for n, p in enumerate(perspectives, start=1)} | {p.text: p for p in perspectives}
    for name in named:
        if name not in by_name:
            raise UnknownNameError("perspective", name, [p.text for p in perspectives])
    return tuple(by_name[name] for name in named)
