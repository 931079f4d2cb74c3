"""What a kind of construction consists of: its steps, the prompts that they send to a language model, and its options."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from berdseye.data.errors import UnknownNameError
from berdseye.data.records import Question
from berdseye.evaluation.construction.asking import Asking
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.working import Working


def _always(row: Row) -> bool:
    del row
    return True


@dataclass(frozen=True)
class Step:
    """One step. It gets the rows that the step before kept, in order, and returns all of its rows, in an order that depends on
    nothing else.

    `title` names what it counts ("questions written"). `run` is its work; without it, the step sends the first of `asks` for each
    row for which `applies` holds, and returns the others unchanged. `needs` are fields without which a row cannot be kept.
    `growth` is the expected number of rows out of one row in. `printed` is the paper's count, at `place`. `version` changes when
    the code changes what the step gives.
    """

    name: str
    title: str
    asks: tuple[Asking, ...] = ()
    run: Callable[[Working, Sequence[Row]], Sequence[Row]] | None = None
    applies: Callable[[Row], bool] = _always
    needs: tuple[str, ...] = ()
    growth: float = 1.0
    printed: float | None = None
    place: str = ""
    version: int = 1

    def work(self, working: Working, rows: Sequence[Row]) -> list[Row]:
        """Return the rows of this step."""
        if self.run is not None:
            return list(self.run(working, rows))
        asked = iter(working.ask(self.asks[0], [row for row in rows if self.applies(row)]))
        return [next(asked) if self.applies(row) else row for row in rows]


class Option(NamedTuple):
    """A setting of a kind of construction: its type is that of its default, or `kind` where the default is None."""

    name: str
    default: Any
    help: str
    kind: type = str


class Check(NamedTuple):
    """A check by people: its name, the form that they fill in, and the items for it.

    `items` returns at most `size` items, drawn with a seed, from all rows of the step `step` (empty: the last one), kept and
    rejected. With `decides`, the outcome rejects rows of this step; otherwise the check only measures. `people` is the number of
    people who look at each item, and `printed` says what the paper found.
    """

    name: str
    form: str
    title: str
    items: Callable[[Sequence[Row], int, int], list[dict[str, Any]]]
    step: str = ""
    decides: bool = False
    people: int = 1
    size: int = 20
    printed: str = ""


@dataclass(frozen=True)
class Kind:
    """A kind of construction.

    `sources` describes the files that it reads, and `read` returns the first rows from them, those that cannot be used as
    rejected. `questions` turns the rows of the last step into a data set; a kind that makes more than questions has its own
    `finish`, which gets the name of the data set and the rows, and returns lines on what it added.
    """

    name: str
    title: str
    sources: str
    steps: tuple[Step, ...]
    read: Callable[[Working], Sequence[Row]]
    questions: Callable[[Sequence[Row]], list[Question]]
    finish: Callable[[Working, str, Sequence[Row]], list[str]] | None = None
    options: tuple[Option, ...] = ()
    checks: tuple[Check, ...] = ()
    paper: str = ""

    @property
    def asks(self) -> dict[str, Asking]:
        """The prompts of all steps by name."""
        return {asking.name: asking for step in self.steps for asking in step.asks}

    def step(self, name: str) -> Step:
        """Return the step of this name; raises `UnknownNameError`."""
        by_name = {step.name: step for step in self.steps}
        if name not in by_name:
            raise UnknownNameError("step", name, by_name)
        return by_name[name]
