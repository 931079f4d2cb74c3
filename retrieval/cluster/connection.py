"""Joining a Ray cluster, or starting one that is this machine alone.

Errors that come from another node.
"""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from berdseye.data.errors import BadInputError, BerdseyeError, StaleError, UnavailableError
from berdseye.data.extras import needing


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


LOCAL = "local"
_AUTO = "auto"
_LOOPBACK = ("127.0.0.1", "localhost")
_ANSWER_SECONDS = 5.0
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Ray prints what its nodes report among the results on standard output; all of it is in its log files as well.
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",
}
# Ray takes 127.0.0.1 for the machine's outward address unless it is told that the cluster ends here.
_ON_LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}


class Connection:
    """A cluster that this process has joined; leaving it also ends it where it was started here."""

    def __init__(self, ray: Any, address: str, *, owned: bool) -> None:
        self.ray, self.address, self._owned = ray, address, owned

    def __enter__(self) -> "Connection":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster, unless it had been joined before."""
        if self._owned:
            self._owned = False
            self.ray.shutdown()

    def cores(self) -> list[int]:
        """How many cores each living node lends, the most first; nodes that lend none are left out."""
        lent = (int(node["Resources"].get("CPU", 0)) for node in self.ray.nodes() if node["Alive"])
        return sorted((cores for cores in lent if cores), reverse=True)

    def gpus(self) -> int:
        """How many GPUs there are."""
        return int(self.ray.cluster_resources().get("GPU", 0))

    def workers(self) -> list[int]:
        """The same as `cores`; raises `UnavailableError` where no node lends any."""
        found = self.cores()
        if not found:
            raise UnavailableError(
                "No node of the cluster lends a core.",
                where=self.address,
                hint="Start one: ray start --address=HOST:PORT.",
            )
        return found


def connect(address: str, *, object_store: int | None = None) -> Connection:
    """Join the cluster at HOST:PORT, or "auto" for the one that runs on this machine, or start one: "local".

    One that is started here listens on 127.0.0.1 alone; `object_store` bounds its shared memory, in bytes. A process that
    has joined stays joined. Raises `UnavailableError` where Ray is not installed or nothing answers.
    """
    if address not in (LOCAL, _AUTO):
        _reach(address)
    ray = import_ray(on_loopback=address == LOCAL or address.partition(":")[0] in _LOOPBACK)
    if ray.is_initialized():
        joined = str(ray.get_runtime_context().gcs_address)
        if address not in (LOCAL, _AUTO, joined):
            raise BerdseyeError(f"This process has joined the cluster at {joined}.", hint="Leave that one first.")
        return Connection(ray, joined, owned=False)
    local = {"include_dashboard": False, "object_store_memory": object_store} if address == LOCAL else {}
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", **local)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise UnavailableError(
            f"The cluster does not answer: {str(error).splitlines()[0] if str(error) else type(error).__name__}",
            where=address,
            hint="Check the address that `ray start --head` printed; Ray and Python must have the same version everywhere.",
        ) from error
    cluster = Connection(ray, str(ray.get_runtime_context().gcs_address), owned=True)
    if address == LOCAL and cluster.address.partition(":")[0] not in _LOOPBACK:
        cluster.close()
        raise BerdseyeError("Ray would listen beyond this machine.", hint="Let nothing import it before Berdseye does.")
    return cluster


def _reach(address: str) -> None:
    """Ray itself waits a minute for an address where nothing listens."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "/" in host:
        raise BadInputError(
            f"'{address}' is no address of a cluster.", hint="Write HOST:PORT, or local for this machine alone."
        )
    try:
        socket.create_connection((host, int(port)), timeout=_ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise UnavailableError(
            "Nothing answers there.", where=address, hint="Check the address that `ray start --head` printed."
        ) from error


def import_ray(*, on_loopback: bool) -> Any:
    """Ray, which reads its settings from the environment when it is imported; those that are set are left as they are."""
    for name, value in (_QUIET | (_ON_LOOPBACK if on_loopback else {})).items():
        os.environ.setdefault(name, value)
    with needing("A cluster"):
        import ray
    return ray
