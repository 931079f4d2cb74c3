"""The grammar of the names of pipelines, detectors and measures, and the checking of their arguments.

    dense(static)%100 >> mmr(0.95)      a call, how many of its results are passed on, and the next stage
    human>embedded                      the label of people if there is one, otherwise that of the detector
    MRecall@5                           a call with a cutoff

An argument is a number, a bare word such as a model name (slashes, dots, hyphens, colons), a quoted text, or a call.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from lark import Lark, Transformer, UnexpectedInput
from lark.exceptions import VisitError

from berdseye.data.errors import BadInputError, UnknownNameError

_GRAMMAR = r"""
    chain: call (_THEN call)*
    call: WORD arguments? keep? cutoff?
    arguments: "(" [argument ("," argument)*] ")"
    ?argument: keyword | value
    keyword: WORD "=" value
    ?value: call | NUMBER -> number | QUOTED -> quoted
    keep: "%" INTEGER
    cutoff: "@" INTEGER
    _THEN: ">>" | ">"
    WORD.1: /[A-Za-z_][A-Za-z0-9_.+:\/-]*|\.{0,2}\/[A-Za-z0-9_.+:\/-]+/
    NUMBER.2: /-?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?(?![A-Za-z0-9_.\/])/
    INTEGER: /\d+/
    QUOTED: /"[^"]*"/
    %ignore /[ \t]+/
"""

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_.+:/-]*|\.{0,2}/[A-Za-z0-9_.+:/-]+")
LARGEST = 1e9
"""The upper limit of numbers without a limit of their own, so that values computed from them stay within float32."""


@dataclass(frozen=True)
class Call:
    """A name with its arguments; `keep` is N in `%N`, `cutoff` is k in `@k`."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    keep: int | None = None
    cutoff: int | None = None

    def __str__(self) -> str:
        inside = [show(a) for a in self.args] + [f"{k}={show(v)}" for k, v in self.kwargs.items()]
        text = self.name + (f"({','.join(inside)})" if inside else "")
        text += f"%{self.keep}" if self.keep is not None else ""
        return text + (f"@{self.cutoff}" if self.cutoff is not None else "")


def show(value: Any) -> str:
    """An argument in the notation of the grammar: numbers in their shortest form, texts quoted if necessary."""
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return f'"{value}"' if isinstance(value, str) and not _BARE.fullmatch(value) else str(value)


def show_name(name: str) -> str:
    """A name as an argument: a bare model name or a call such as api(NAME) stays as it is, any other text is quoted."""
    try:
        calls = parse(name)
    except BadInputError:
        return f'"{name}"'
    plain = [str(call) for call in calls if call.keep is None and call.cutoff is None] == [name]
    return name if plain else f'"{name}"'


class _Build(Transformer[Any, Any]):
    def number(self, items: list[Any]) -> float:
        return float(items[0])

    def quoted(self, items: list[Any]) -> str:
        return str(items[0])[1:-1]

    def keyword(self, items: list[Any]) -> tuple[str, Any]:
        return str(items[0]), items[1]

    def arguments(self, items: list[Any]) -> list[Any]:
        return [i for i in items if i is not None]

    def keep(self, items: list[Any]) -> tuple[str, int]:
        return "%", int(items[0])

    def cutoff(self, items: list[Any]) -> tuple[str, int]:
        return "@", int(items[0])

    def call(self, items: list[Any]) -> Call:
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        numbers: dict[str, int] = {}
        for item in items[1:]:
            if isinstance(item, list):
                args = [a for a in item if not isinstance(a, tuple)]
                named = [a for a in item if isinstance(a, tuple)]
                kwargs = dict(named)
                twice = [key for at, (key, _) in enumerate(named) if key in dict(named[:at])]
                if twice:
                    raise BadInputError(f"'{twice[0]}' of {items[0]} is given twice.", hint="Remove one of them.")
            elif isinstance(item, tuple):
                numbers[item[0]] = item[1]
        return Call(str(items[0]), tuple(args), kwargs, numbers.get("%"), numbers.get("@"))

    def chain(self, items: list[Any]) -> list[Call]:
        return items


@lru_cache(maxsize=1)
def _parser() -> Lark:
    return Lark(_GRAMMAR, start="chain", parser="lalr", lexer="contextual")


def parse(text: str) -> list[Call]:
    """The calls in a name, in order; raises `BadInputError` that shows the text before the first syntax error."""
    try:
        return list(_Build().transform(_parser().parse(text)))
    except VisitError as error:
        if isinstance(error.orig_exc, BadInputError):
            raise error.orig_exc from None
        raise
    except RecursionError as error:
        raise BadInputError("The name has too many nested parentheses.", hint="Write a shorter name.") from error
    except UnexpectedInput as error:
        at = max(0, (error.column if isinstance(error.column, int) and error.column > 0 else len(text) + 1) - 1)
        raise BadInputError(
            f"'{text}' cannot be read after '{text[:at]}'.",
            hint="Write it like bm25, bm25(k1=0.9,b=0.4), dense(static) >> mmr(0.95) or MRecall@5.",
        ) from error


class Arguments:
    """Reads the arguments of a call by name or position; `finish` reports arguments that were not read.

    Raises `BadInputError` if the call ends with `%N` or `@k`.
    """

    def __init__(self, call: Call) -> None:
        if call.keep is not None or call.cutoff is not None:
            raise BadInputError(
                f"'{call}' must not end with %N or @k.",
                hint="Only %N after a retriever is allowed, as in bm25%100 >> mmr(0.95).",
            )
        self.call = call
        self._places = list(call.args)
        self._named = dict(call.kwargs)
        self._known: list[str] = []

    def number(
        self, key: str, default: float, *, low: float = 0.0, high: float = LARGEST, place: bool = False
    ) -> float:
        """A number from `low` to `high`, or the default; with `place`, it may be given without its name."""
        value = self.optional_number(key, low=low, high=high, place=place)
        return default if value is None else value

    def optional_number(
        self, key: str, *, low: float = 0.0, high: float = LARGEST, place: bool = False
    ) -> float | None:
        """A number from `low` to `high`, or None if it is not given; with `place`, it may be given without its name."""
        value = self._take(key, place, None)
        if value is None:
            return None
        if not isinstance(value, float | int):
            raise BadInputError(
                f"'{key}' of {self.call.name} must be a number, got '{value}'.", hint=self._example(key)
            )
        if not low <= value <= high:
            raise BadInputError(
                f"'{self.call}' is out of range.", hint=f"{key} must be from {low:g} to {high:g}, got {value:g}."
            )
        return float(value)

    def count(self, key: str, *, high: int) -> int | None:
        """An integer from 1 to `high`, or None if it is not given."""
        value = self.optional_number(key, low=1, high=high)
        if value is not None and value != int(value):
            raise BadInputError(
                f"'{key}' of {self.call.name} must be an integer, got {value:g}.", hint=f"Write it like {key}=32."
            )
        return None if value is None else int(value)

    def name(self, key: str, default: str | None, *, among: Collection[str] = (), place: bool = False) -> str:
        """A name, one of `among` if that is not empty; without a default, the argument is required."""
        value = self._take(key, place, default)
        if value is None:
            raise BadInputError(
                f"'{self.call}' requires the argument {key}.", hint=f"Write it like {self.call.name}(NAME)."
            )
        if among and str(value) not in among:
            raise UnknownNameError(f"{key} of {self.call.name}", str(value), [name for name in among if name])
        return str(value)

    def optional_name(self, key: str, *, place: bool = False) -> str | None:
        """A name, or None if it is not given."""
        value = self._take(key, place, None)
        return None if value is None else str(value)

    def value(self, key: str) -> Any:
        """The value of a named argument as the grammar parsed it, or None if it is not given."""
        return self._take(key, False, None)

    def places(self) -> list[Any]:
        """All remaining arguments without names."""
        taken, self._places = self._places, []
        return taken

    def finish(self) -> None:
        """Raise `UnknownNameError` or `BadInputError` for arguments that were given but not read."""
        for key in self._named:
            raise UnknownNameError(f"parameter of {self.call.name}", key, self._known)
        if self._places:
            raise BadInputError(f"'{self.call}' has too many arguments.", hint=f"Remove '{self._places[0]}'.")

    def _take(self, key: str, place: bool, default: Any) -> Any:
        self._known.append(key)
        if key in self._named:
            return self._named.pop(key)
        return self._places.pop(0) if place and self._places else default

    def _example(self, key: str) -> str:
        return f"Write it like {key}=0.9."
