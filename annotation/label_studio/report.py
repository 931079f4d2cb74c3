"""The report of an exchange with Label Studio."""

from dataclasses import dataclass, field, fields


@dataclass(frozen=True)
class ExchangeReport:
    """Counts of what an exchange changed on either side, and the problems that it met.

    `warnings` name judgments that were exchanged but may be credited to the wrong person; they are ignored when two reports
    are compared.
    """

    tasks_created: int = 0
    predictions: int = 0
    annotations_created: int = 0
    annotations_updated: int = 0
    annotations_deleted: int = 0
    pulled_new: int = 0
    pulled_changed: int = 0
    pulled_withdrawn: int = 0
    conflicts: int = 0
    tasks_gone: int = 0
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=(), compare=False)

    def __add__(self, other: "ExchangeReport") -> "ExchangeReport":
        counts = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        for name in ("problems", "warnings"):
            counts[name] = tuple(dict.fromkeys(counts[name]))
        return ExchangeReport(**counts)

    def __str__(self) -> str:
        parts = [
            f"pushed {self.tasks_created} tasks, {self.predictions} predictions",
            f"annotations {self.annotations_created} new, {self.annotations_updated} changed, "
            f"{self.annotations_deleted} deleted",
            f"pulled {self.pulled_new} new, {self.pulled_changed} changed, {self.pulled_withdrawn} withdrawn",
        ]
        if self.conflicts:
            parts.append(f"{self.conflicts} conflicts (both judgments are kept, the later one counts)")
        if self.tasks_gone:
            parts.append(f"{self.tasks_gone} tasks were deleted in Label Studio")
        if self.problems:
            parts.append(f"{len(self.problems)} problems, the first one: {self.problems[0]}")
        if self.warnings:
            parts.append(f"{len(self.warnings)} warnings")
        return "; ".join(parts) + "."
