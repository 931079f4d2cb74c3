"""Which options a caller gave, on the command line or from Python, and the refusal of options that would have no effect."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from berdseye.data.errors import BadInputError

_GIVEN: ContextVar[Mapping[str, str]] = ContextVar("given options, as the caller spells them", default={})  # noqa: B039


@contextmanager
def giving(options: Mapping[str, str]) -> Iterator[None]:
    """Within this context, `options` are given: names of parameters, each with the caller's spelling ('measure': '--measure')."""
    before = _GIVEN.set(options)
    try:
        yield
    finally:
        _GIVEN.reset(before)


def given_options(*names: str) -> list[str]:
    """Those of the parameters `names` that the caller gave, as the caller spells them ('--measure', 'FILE').

    An option that is given with its default value counts. Outside of `giving` the list is empty.
    """
    return [called for name, called in _GIVEN.get().items() if name in names]


def only_with(wanted: str, present: object, *names: str) -> None:
    """Raise `BadInputError` where one of the parameters `names` is given although `wanted`, which they require, is absent."""
    if not present and (given := given_options(*names)):
        raise BadInputError(
            f"{_listed(given)} {_has(given)} no effect without {wanted}.",
            hint=f"Omit {_it(given)}, or give {wanted}.",
        )


def not_with(other: str, present: object, *names: str, why: str = "") -> None:
    """Raise `BadInputError` where one of the parameters `names` is given together with `other`, which makes it ineffective."""
    if present and (given := given_options(*names)):
        raise BadInputError(
            f"{_listed(given)} {_has(given)} no effect with {other}{f', {why}' if why else ''}.",
            hint=f"Omit {_listed(given)}, or omit {other}.",
        )


def _listed(names: list[str]) -> str:
    return " and ".join(names)


def _has(names: list[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"
