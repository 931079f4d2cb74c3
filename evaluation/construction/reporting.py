"""What a construction has come to: its funnel beside the paper's counts, the reasons of rejections, and its cost."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.stored import SOURCES, Construction


class Stage(NamedTuple):
    """One stage of the funnel: rows in, kept and rejected, how many of them people decided, and the paper's count of kept rows at
    `place`. Counts are None for a step that is not finished."""

    step: str
    title: str
    rows: int | None
    kept: int | None
    rejected: int | None
    overruled: int | None
    printed: float | None
    place: str


class Rejection(NamedTuple):
    """A row that is not used: its step, its id, the reason, and the first of its texts that a reader would recognise it by."""

    step: str
    row: str
    reason: str
    text: str


class Spent(NamedTuple):
    """The completions behind a step: its rows with one, their dollars, and how many of these rows have no known price."""

    step: str
    rows: int
    dollars: float
    unpriced: int


def funnel(construction: Construction) -> list[Stage]:
    """Return the stages of a construction, in order."""
    decided = {(overruling.step, overruling.row) for overruling in construction.overrulings()}
    stages = []
    for name in construction.step_names:
        step = None if name == SOURCES else construction.kind.step(name)
        title, printed, place = ("rows read", None, "") if step is None else (step.title, step.printed, step.place)
        if construction.made_from(name) is None:
            stages.append(Stage(name, title, None, None, None, None, printed, place))
            continue
        rows = construction.rows(name)
        kept = sum(not row.rejected for row in rows)
        overruled = sum((name, row.id) in decided for row in rows)
        stages.append(Stage(name, title, len(rows), kept, len(rows) - kept, overruled, printed, place))
    return stages


def rejections(construction: Construction, step: str | None = None) -> list[Rejection]:
    """Return the rejected rows of one finished step, or of all, in order; raises `StaleError` for a step that is not finished."""
    names = construction.step_names if step is None else (step,)
    return [
        Rejection(name, row.id, row.rejected, row_text(row))
        for name in names
        if step is not None or construction.made_from(name) is not None
        for row in construction.rows(name)
        if row.rejected
    ]


def reasons(construction: Construction) -> dict[str, Counter[str]]:
    """Return how often each reason occurs, by step, for the finished steps with rejections. Reasons are counted without the
    particulars after a colon."""
    counts: dict[str, Counter[str]] = {}
    for rejection in rejections(construction):
        counts.setdefault(rejection.step, Counter())[rejection.reason.partition(":")[0]] += 1
    return counts


def spent(construction: Construction) -> list[Spent]:
    """Return what the completions behind each finished step cost, whenever they were paid for."""
    costs = []
    for step in construction.kind.steps:
        if step.asks and construction.made_from(step.name) is not None:
            made = [
                row.origin[asking.name]["cost"]
                for row in construction.rows(step.name)
                for asking in step.asks
                if asking.name in row.origin
            ]
            priced = [cost for cost in made if cost is not None]
            costs.append(Spent(step.name, len(made), float(sum(priced)), len(made) - len(priced)))
    return costs


def spent_text(costs: Sequence[Spent]) -> str:
    """Return what all steps cost, in a few words; empty if no completion is behind them."""
    rows, unpriced = sum(cost.rows for cost in costs), sum(cost.unpriced for cost in costs)
    if not rows:
        return ""
    if unpriced == rows:
        return f"{rows:,} rows with completions, of unknown price"
    more = f" and {unpriced:,} rows of unknown price" if unpriced else ""
    return f"{rows:,} rows with completions, ${sum(cost.dollars for cost in costs):,.2f}{more}"


def row_text(row: Row) -> str:
    """Return the text by which a reader recognises a row: its question, statement or other first text."""
    fields: dict[str, Any] = dict(row.fields)
    named = [fields[name] for name in ("question", "statement", "point_of_view", "title", "text") if fields.get(name)]
    texts = [value for value in (*named, *fields.values()) if isinstance(value, str) and value]
    return texts[0] if texts else ""
