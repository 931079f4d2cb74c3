"""One grammar for the names of pipelines, detectors and measures.

    dense(static)%100 >> mmr(0.95)      a call, how many of its results go on, and what follows it
    human>embedded                      people's word where there is one, else the detector's
    MRecall@5                           a call with a cutoff

An argument is a number, a bare word such as a model name (slashes, dots, hyphens, colons), a quoted text, or a call.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from lark import Lark, Transformer, UnexpectedInput
from lark.exceptions import VisitError

from berdseye.data.errors import BadInputError

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
