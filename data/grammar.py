"""One grammar for the names of pipelines, detectors and measures.

    dense(static)%100 >> mmr(0.95)      a call, how many of its results go on, and what follows it
    human>embedded                      people's word where there is one, else the detector's
    MRecall@5                           a call with a cutoff

An argument is a number, a bare word such as a model name (slashes, dots, hyphens, colons), a quoted text, or a call.

Reading the arguments of a name, and saying what is wrong with them.
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


@dataclass(frozen=True)
class Call:
    """One named thing with its arguments; `keep` is N in `%N`, `cutoff` is k in `@k`."""

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
    """An argument as the grammar writes it: numbers in their shortest form, texts quoted where they must be."""
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return f'"{value}"' if isinstance(value, str) and not _BARE.fullmatch(value) else str(value)


def show_name(name: str) -> str:
    """A name as an argument: a model's bare name or a call such as api(NAME) as it is, and quoted where it must be."""
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
                    raise BadInputError(f"'{twice[0]}' of {items[0]} is given twice.", hint="Leave one of them out.")
            elif isinstance(item, tuple):
                numbers[item[0]] = item[1]
        return Call(str(items[0]), tuple(args), kwargs, numbers.get("%"), numbers.get("@"))

    def chain(self, items: list[Any]) -> list[Call]:
        return items


@lru_cache(maxsize=1)
def _parser() -> Lark:
    return Lark(_GRAMMAR, start="chain", parser="lalr", lexer="contextual")


def parse(text: str) -> list[Call]:
    """The calls of a name, in order; raises `BadInputError` that points at the place where it stops making sense."""
    try:
        return list(_Build().transform(_parser().parse(text)))
    except VisitError as error:
        if isinstance(error.orig_exc, BadInputError):
            raise error.orig_exc from None
        raise
    except RecursionError as error:
        raise BadInputError(
            "The name has too many parentheses inside one another.", hint="Write it shorter."
        ) from error
    except UnexpectedInput as error:
        at = max(0, (error.column if isinstance(error.column, int) and error.column > 0 else len(text) + 1) - 1)
        raise BadInputError(
            f"'{text}' cannot be read after '{text[:at]}'.",
            hint="Write it like bm25, bm25(k1=0.9,b=0.4), dense(static) >> mmr(0.95) or MRecall@5.",
        ) from error


LARGEST = 1e9
"""Of numbers that have no bound of their own, so that what is computed from them stays within float32."""


class Arguments:
    """The arguments of a call; those nobody asks for are an error in the end, and `%N` or `@k` after it are one at once."""

    def __init__(self, call: Call) -> None:
        if call.keep is not None or call.cutoff is not None:
            raise BadInputError(
                f"'{call}' cannot end so.", hint="Only %N after a retriever is known, as in bm25%100 >> mmr(0.95)."
            )
        self.call = call
        self._places = list(call.args)
        self._named = dict(call.kwargs)
        self._known: list[str] = []

    def number(
        self, key: str, default: float, *, low: float = 0.0, high: float = LARGEST, place: bool = False
    ) -> float:
        """A number from `low` to `high`; with `place` it may also stand without its name."""
        value = self.number_if_given(key, low=low, high=high, place=place)
        return default if value is None else value

    def number_if_given(
        self, key: str, *, low: float = 0.0, high: float = LARGEST, place: bool = False
    ) -> float | None:
        """The same; nothing where it is not given."""
        value = self._take(key, place, None)
        if value is None:
            return None
        if not isinstance(value, float | int):
            raise BadInputError(f"'{key}' of {self.call.name} must be a number, not '{value}'.", hint=self._like(key))
        if not low <= value <= high:
            raise BadInputError(f"'{self.call}' is out of range.", hint=f"{key} must be from {low:g} to {high:g}.")
        return float(value)

    def count(self, key: str, *, high: int) -> int | None:
        """A whole number from 1 to `high`; nothing where it is not given."""
        value = self.number_if_given(key, low=1, high=high)
        if value is not None and value != int(value):
            raise BadInputError(f"'{key}' of {self.call.name} must be a whole number.", hint=f"Write it like {key}=32.")
        return None if value is None else int(value)

    def name(self, key: str, default: str | None, *, among: Collection[str] = (), place: bool = False) -> str:
        """A name, or one of those in `among`; without a default it must be given."""
        value = self._take(key, place, default)
        if value is None:
            raise BadInputError(f"'{self.call}' names no {key}.", hint=f"Write it like {self.call.name}(NAME).")
        if among and str(value) not in among:
            raise UnknownNameError(f"{key} of {self.call.name}", str(value), [name for name in among if name])
        return str(value)

    def name_if_given(self, key: str, *, place: bool = False) -> str | None:
        """A name; nothing where it is not given."""
        value = self._take(key, place, None)
        return None if value is None else str(value)

    def given(self, key: str) -> Any:
        """What was given under a name, as the grammar read it; nothing if it was not."""
        return self._take(key, False, None)

    def places(self) -> list[Any]:
        """All arguments without names."""
        taken, self._places = self._places, []
        return taken

    def finish(self) -> None:
        """Raises `UnknownNameError` or `BadInputError` for what was given and is not known."""
        for key in self._named:
            raise UnknownNameError(f"parameter of {self.call.name}", key, self._known)
        if self._places:
            raise BadInputError(f"'{self.call}' has too many arguments.", hint=f"'{self._places[0]}' is not known.")

    def _take(self, key: str, place: bool, default: Any) -> Any:
        self._known.append(key)
        if key in self._named:
            return self._named.pop(key)
        return self._places.pop(0) if place and self._places else default

    def _like(self, key: str) -> str:
        return f"Write it like {key}=0.9."
