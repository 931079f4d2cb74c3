"""What a kind of construction consists of: its steps, the prompts that they send to a language model, and its options."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from berdseye.data.errors import UnknownNameError
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.records import Question
from berdseye.evaluation.construction.rows import Row

if TYPE_CHECKING:
    from berdseye.evaluation.construction.stored import Construction
    from berdseye.evaluation.construction.working import Working

Values = Callable[[Row], Mapping[str, str]]
Read = Callable[[Row, str], Mapping[str, Any]]


class UnreadableError(ValueError):
    """Raised by a reader of completions, with the reason why one cannot be used."""


@dataclass(frozen=True)
class Asking:
    """A prompt that is sent once for each row, and how its completion is read.

    `name` is that of `--prompt NAME=FILE`, and `slots` are those that such a file must have. `values` fills the slots from a row;
    `read` returns the fields that a completion gives, or raises `UnreadableError`. `words` is the assumed length of each slot in
    a dry run, before the texts exist.
    """

    name: str
    prompt: PromptTemplate
    slots: tuple[str, ...]
    values: Values
    read: Read
    max_tokens: int = 256
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    words: int = 30


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
    run: "Callable[[Working, Sequence[Row]], Sequence[Row]] | None" = None
    applies: Callable[[Row], bool] = _always
    needs: tuple[str, ...] = ()
    growth: float = 1.0
    printed: float | None = None
    place: str = ""
    version: int = 1

    def work(self, working: "Working", rows: Sequence[Row]) -> list[Row]:
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

    `outcome` says which step's rows the outcome rejects, or is empty where the check only measures. `people` is the number of
    people who look at each item, and `printed` the paper's agreement or share, at `place`.
    """

    name: str
    form: str
    title: str
    items: "Callable[[Construction, int, int], list[dict[str, Any]]]"
    outcome: str = ""
    people: int = 1
    size: int = 20
    printed: str = ""


@dataclass(frozen=True)
class Kind:
    """A kind of construction.

    `sources` describes the files that it reads, and `read` returns the first rows from them, those that cannot be used as
    rejected. `questions` turns the rows of the last step into a data set; a kind that makes more than questions has its own
    `finish`, which returns lines on what it added.
    """

    name: str
    title: str
    sources: str
    steps: tuple[Step, ...]
    read: "Callable[[Working], Sequence[Row]]"
    questions: Callable[[Sequence[Row]], list[Question]]
    finish: "Callable[[Construction, str], list[str]] | None" = None
    options: tuple[Option, ...] = ()
    checks: tuple[Check, ...] = ()
    paper: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)

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
