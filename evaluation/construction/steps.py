"""What a kind of construction consists of: its steps, the prompts that they send to a language model, and its options."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from berdseye.annotation.batches.check_items import CheckItem
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.progress import Progress, silent
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
    """A setting of a kind of construction: its type is that of its default, or `kind` where the default is None.

    `choices` are its possible values, if there are few, and `least` and `most` the bounds of a number. With `corpora` it names
    corpora of the workspace, separated by spaces.
    """

    name: str
    default: Any
    help: str
    kind: type = str
    choices: tuple[str, ...] = ()
    corpora: bool = False
    least: float | None = None
    most: float | None = None

    def check(self, value: Any) -> None:
        """Raise a `BadInputError` if the option cannot have this value."""
        called = f"--{self.name.replace('_', '-')}"
        if self.choices and value not in self.choices:
            raise UnknownNameError(f"value of {called}", str(value), self.choices)
        low, high = self.least, self.most
        if (low is not None and not value >= low) or (high is not None and not value <= high):
            bounds = [f"at least {low:g}"] if low is not None else []
            bounds += [f"at most {high:g}"] if high is not None else []
            raise BadInputError(
                f"{called} must be {' and '.join(bounds)}, got {value:g}.", hint=f"The default is {self.default}."
            )


class Built(Protocol):
    """A construction as its checks see it: its settings, and the rows of its finished steps, by the names of the steps."""

    @property
    def settings(self) -> Mapping[str, Any]: ...

    @property
    def step_names(self) -> tuple[str, ...]: ...

    def rows(self, step: str) -> list[Row]: ...

    def kept(self, step: str) -> list[Row]: ...

    def working(self, progress: Progress = silent) -> Working: ...


class Check(NamedTuple):
    """A check by people: its name, the form that they fill in, and the items for it.

    `items` returns at most `size` items, drawn with a seed. Where an item has the id of a row of the step `outcome`, its
    rejection rejects this row; without `outcome` the check only measures. `people` is the number of people for each item, and
    `printed` says what the paper found. `concludes` says what follows from the numbers of each verdict, by the id of the item.
    """

    name: str
    form: str
    title: str
    items: Callable[[Built, int, int], list[CheckItem]]
    outcome: str = ""
    people: int = 1
    size: int = 20
    printed: str = ""
    concludes: Callable[[Built, Mapping[str, Mapping[str, int]]], str] | None = None


@dataclass(frozen=True)
class Kind:
    """A kind of construction.

    `sources` describes the files that it reads, and `read` returns the first rows from them, those that cannot be used as
    rejected. `questions` turns the rows of the last step into a data set; a kind that makes more than questions has its own
    `finish`, which gets the name of the data set, the rows, and whether to replace what exists, and returns lines on what it
    added. `report` returns lines on what is special to the kind, beside the funnel, whatever steps are finished. `check` raises
    an error for settings with which no step could work, before anything is stored or paid for.
    """

    name: str
    title: str
    sources: str
    steps: tuple[Step, ...]
    read: Callable[[Working], Sequence[Row]]
    questions: Callable[[Sequence[Row]], list[Question]]
    finish: Callable[[Working, str, Sequence[Row], bool], list[str]] | None = None
    report: Callable[[Built], list[str]] | None = None
    check: Callable[[Working], None] | None = None
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
