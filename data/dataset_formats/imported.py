"""What every layout is read into."""

from dataclasses import dataclass, field

from berdseye.data.records import Pair, Question


@dataclass(frozen=True)
class Imported:
    """What a file held: its questions, and gold labels of pairs where it gives any."""

    layout: str
    questions: list[Question]
    gold: dict[Pair, bool] = field(default_factory=dict)
