"""Reading the arguments of a name, and saying what is wrong with them."""

from collections.abc import Collection
from typing import Any

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.grammar import Call

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
