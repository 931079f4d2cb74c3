"""`cached_on`: keep a result for all sessions until the state that it was computed from changes."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from berdseye.app.access.session import judgments

P = ParamSpec("P")
R = TypeVar("R")


def cached_on(
    state: Callable[..., object],
    *,
    max_entries: int,
    show_spinner: str | bool = False,
    shared: bool = False,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Cache a function on its arguments and on `state`, which is called with the same arguments at each call.

    `state` returns whatever the result depends on beside the arguments: a version, a hash, the time of a file. Arguments whose
    names begin with an underscore are no part of the key, as in `st.cache_data`. With `shared`, all callers get the same object
    and must not change it (`st.cache_resource`); otherwise each gets a copy.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def keyed(_state: object, *arguments: Any, **options: Any) -> R:
            return function(*arguments, **options)

        # Streamlit identifies a cached function by its module and qualified name, and reads the names of its arguments from
        # the signature.
        del keyed.__wrapped__
        named = inspect.signature(function).parameters.values()
        first = inspect.Parameter("state", inspect.Parameter.POSITIONAL_ONLY)
        keyed.__signature__ = inspect.Signature([first, *named])  # type: ignore[attr-defined]
        cache = st.cache_resource if shared else st.cache_data
        kept: Callable[..., R] = cache(max_entries=max_entries, show_spinner=show_spinner)(keyed)

        @wraps(function)
        def cached(*arguments: P.args, **options: P.kwargs) -> R:
            return kept(state(*arguments, **options), *arguments, **options)

        return cached

    return decorate


def judgments_version(*_: object, **__: object) -> int:
    """The state of a result that changes with every judgment."""
    return judgments().version()
