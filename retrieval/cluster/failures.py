"""Errors that come from another node."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from berdseye.data.errors import BadInputError, BerdseyeError, StaleError, UnavailableError


@contextmanager
def reported(what: str) -> Iterator[None]:
    """On a node: whatever goes wrong becomes one error that can travel and says what failed, where and why."""
    try:
        yield
    except Exception as error:
        why = str(error) if isinstance(error, BerdseyeError) else f"{type(error).__name__}: {error}"
        kind = type(error) if isinstance(error, BadInputError | StaleError) else UnavailableError
        raise kind(f"{what} on node {node_name()}: {why}") from error


def cause_of(error: BaseException) -> BerdseyeError | None:
    """On the asking side: the error that a node reported, however Ray has wrapped it."""
    seen: list[BaseException] = []
    waiting: list[BaseException] = [error]
    while waiting:
        one = waiting.pop()
        if isinstance(one, BerdseyeError) and not hasattr(one, "cause"):  # Ray's wrappers derive from what they wrap
            return one
        seen.append(one)
        inner = (getattr(one, "cause", None), one.__cause__, one.__context__)
        waiting += [e for e in inner if isinstance(e, BaseException) and e not in seen]
    return None


def kept(why: object) -> UnavailableError:
    """The error of a build that stops; it says that nothing which was finished is lost."""
    return UnavailableError(str(why), hint="What was finished is kept; mend that and run the same command again.")


def last_line(error: BaseException) -> str:
    """The end of a long message, which is where Ray says what happened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__).rstrip(".")


def node_name() -> str:
    """Address and id of the node that this process runs on."""
    here: Any = sys.modules.get("ray")  # importing it here would be too early for its settings
    if here is None or not here.is_initialized():  # else asking would start a cluster
        return "of its own"
    node = here.get_runtime_context().get_node_id()
    # As the cluster knows it: the library's own function looks for the machine's outward address.
    address = next((n["NodeManagerAddress"] for n in here.nodes() if n["NodeID"] == node), "of no address")
    return f"{address} ({node[:8]})"
