"""Options of studies: their ranges, and the check of values that a program gives by keyword.

A study declares an option as a keyword parameter with a type and a default. Types are `str`, `int`, `float`, `bool`, `Path`,
a `Literal`, a `StrEnum`, any of these or None, and a sequence of one of these; `Annotated[..., Between(low, high)]` limits a
number.
"""

import math
from collections.abc import Sequence
from enum import StrEnum
from inspect import Parameter
from numbers import Integral, Real
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from berdseye.data.errors import BadInputError
from berdseye.evaluation.scores.unjudged import Unjudged


class Between(NamedTuple):
    """The range of a number, both ends included."""

    low: float
    high: float = math.inf

    def __str__(self) -> str:
        return f" of at least {self.low}" if self.high == math.inf else f" from {self.low} to {self.high}"


Names = Sequence[str] | None
Seed = Annotated[int, Between(0, 2**31 - 1)]
MinJudged = Annotated[float | None, Between(0, 1)]
UnjudgedRule = Unjudged | None
_KINDS: dict[Any, tuple[str, str]] = {
    str: ("a text", "texts"),
    int: ("an integer", "integers"),
    float: ("a number", "numbers"),
    bool: ("True or False", "True or False"),
    Path: ("a path", "paths"),
}


class Declared(NamedTuple):
    """The declaration of an option: the type of one value, whether it takes several, and the range of a number, if any."""

    kind: Any
    several: bool
    limits: Between | None

    @classmethod
    def of(cls, parameter: Parameter) -> "Declared":
        """Read the annotation of a parameter."""
        kind, limits = parameter.annotation, None
        if get_origin(kind) is Annotated:
            kind, limits = get_args(kind)
        if NoneType in get_args(kind):
            [kind] = [one for one in get_args(kind) if one is not NoneType]
        several = get_origin(kind) is Sequence
        return cls(get_args(kind)[0] if several else kind, several, limits)

    def __str__(self) -> str:
        if get_origin(self.kind) is Literal:
            return f"one of {', '.join(map(repr, get_args(self.kind)))}"
        if issubclass(self.kind, StrEnum):
            return f"one of {', '.join(repr(str(one)) for one in self.kind)}"
        one, many = _KINDS[self.kind]
        return (f"{one} or a list of {many}" if self.several else one) + str(self.limits or "")

    def checked(self, value: object) -> object:
        """Return a value as the study takes it; raises `ValueError` if it is not of the type or not in the range."""
        if not self.several:
            return self._one(value)
        return [self._one(one) for one in (value if isinstance(value, list | tuple) else [value])]

    def _one(self, value: object) -> object:
        if get_origin(self.kind) is Literal:
            return _if(value in get_args(self.kind), value)
        if issubclass(self.kind, StrEnum):
            return self.kind(value)
        if self.kind is Path:
            return Path(_if(isinstance(value, str | Path) and str(value).strip() not in ("", "."), value))
        if self.kind is str:
            return str(_if(isinstance(value, str | Path), value))
        if self.kind is bool:
            return _if(isinstance(value, bool), value)
        wanted = Integral if self.kind is int else Real
        number = self.kind(_if(isinstance(value, wanted) and not isinstance(value, bool), value))
        within = self.limits is None or self.limits.low <= number <= self.limits.high
        return _if(within and (self.kind is int or math.isfinite(number)), number)


def checked(study: str, parameter: Parameter, value: object) -> object:
    """Return the value of an option as the study takes it; one value counts as a list of one.

    Raises `BadInputError` if it is not of the option's type, or not in its range.
    """
    declared = Declared.of(parameter)
    try:
        return declared.checked(value)
    except ValueError as error:
        raise BadInputError(
            f"{parameter.name} must be {declared}, got {value!r}.", hint=f"See `berdseye study {study} --help`."
        ) from error


def _if(valid: bool, value: Any) -> Any:
    if not valid:
        raise ValueError(value)
    return value
