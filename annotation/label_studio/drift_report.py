"""What a comparison of both sides found."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Side = Literal["only here", "only there", "differing"]


@dataclass(frozen=True)
class Held:
    """What one side holds of a person's word on a pair; no verdict where it was withdrawn, deleted or never given."""

    verdict: str | None = None
    comment: str = ""
    at: str = ""

    def __str__(self) -> str:
        told = repr(self.verdict) if self.verdict else "nothing"
        comment = f" ({self.comment})" if self.comment else ""
        return f"{told}{comment}{f' of {self.at[:19]}' if self.at else ''}"


@dataclass(frozen=True)
class WordDrift:
    """A person's word on a pair that is not the same on both sides; `cure` says what the next exchange does."""

    pair: str
    person: str
    side: Side
    here: Held
    there: Held
    cure: str


@dataclass(frozen=True)
class Contested:
    """A pair that one person judged differently here and there: both words are in the log, the later one stands."""

    pair: str
    person: str
    here: Held
    there: Held
    stands: Literal["here", "there"]


@dataclass(frozen=True)
class Drift:
    """All that differs between the judgments here and one project there; true when anything does.

    `unnoted` counts words that are the same on both sides without the exchange having noted it; `doubled_tasks` has the
    task ids of each pair with several; `doubled_words` (pair, person, how many) where one person has several annotations;
    `missing_tasks` are pairs that had a task, `unknown_pairs` those of tasks whose pair is not known here,
    `foreign_tasks` tasks whose texts do not fit their ext_id, `unpredicted` pairs without a prediction of the detector
    that the project shows. `contested` is settled, and no difference.
    """

    project: str
    words: tuple[WordDrift, ...] = ()
    unnoted: int = 0
    doubled_tasks: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    doubled_words: tuple[tuple[str, str, int], ...] = ()
    missing_tasks: tuple[str, ...] = ()
    unknown_pairs: tuple[str, ...] = ()
    foreign_tasks: tuple[int, ...] = ()
    unpredicted: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    contested: tuple[Contested, ...] = ()

    def __bool__(self) -> bool:
        return any(self.counts().values())

    def counts(self) -> dict[str, int]:
        """How much of what differs."""
        sides = [word.side for word in self.words]
        return {
            "words only here": sides.count("only here"),
            "words only there": sides.count("only there"),
            "words differing": sides.count("differing"),
            "words not noted as exchanged": self.unnoted,
            "pairs with several tasks": len(self.doubled_tasks),
            "people with several annotations on a pair": len(self.doubled_words),
            "tasks gone": len(self.missing_tasks),
            "tasks of pairs not known here": len(self.unknown_pairs),
            "tasks with texts that are not ours": len(self.foreign_tasks),
            "predictions missing": len(self.unpredicted),
            "annotations that cannot be read": len(self.unreadable),
        }

    def __str__(self) -> str:
        told = ", ".join(f"{count} {name}" for name, count in self.counts().items() if count)
        settled = f" {len(self.contested)} judged differently in both places: both kept, the later stands."
        return f"{self.project}: {told or 'both sides hold the same'}.{settled if self.contested else ''}"

    def as_json(self) -> dict[str, Any]:
        """Everything in plain lists and dicts, the counts first."""
        return {"counts": self.counts(), **asdict(self)}
