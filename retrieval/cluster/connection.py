"""Joining a Ray cluster, or starting one on this machine, and handling errors from other nodes."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from berdseye.data.errors import BadInputError, BerdseyeError, StaleError, UnavailableError
from berdseye.data.extras import needing

LOCAL = "local"
_AUTO = "auto"
_LOOPBACK = ("127.0.0.1", "localhost")
_ANSWER_SECONDS = 5.0
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Ray prints the output of its nodes to standard output, which is for results; its log files contain it as well.
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",
}
# Ray replaces 127.0.0.1 by the machine's outward address unless this setting limits the cluster to the machine.
_ON_LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}


@contextmanager
def reporting_errors(what: str) -> Iterator[None]:
    """Convert every error on a node to one that can be sent to other processes and says what failed, where and why."""
    try:
        yield
    except Exception as error:
        why = str(error) if isinstance(error, BerdseyeError) else f"{type(error).__name__}: {error}"
        kind = type(error) if isinstance(error, BadInputError | StaleError) else UnavailableError
        raise kind(f"{what} on node {node_name()}: {why}") from error


def cause_of(error: BaseException) -> BerdseyeError | None:
    """The error that a node reported, unwrapped from Ray's exceptions; None if there is none."""
    seen: list[BaseException] = []
    waiting: list[BaseException] = [error]
    while waiting:
        one = waiting.pop()
        if isinstance(one, BerdseyeError) and not hasattr(one, "cause"):  # Ray's wrappers derive from the wrapped class
            return one
        seen.append(one)
        inner = (getattr(one, "cause", None), one.__cause__, one.__context__)
        waiting += [e for e in inner if isinstance(e, BaseException) and e not in seen]
    return None


def interrupted(why: object) -> UnavailableError:
    """The error of an interrupted build, whose hint says that finished work is kept."""
    return UnavailableError(str(why), hint="Fix the cause and run the command again; finished work is kept.")


def last_line(error: BaseException) -> str:
    """The last line of a long message, in which Ray says what happened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__).rstrip(".")


def node_name() -> str:
    """The address and the id of the node on which this process runs."""
    ray: Any = sys.modules.get("ray")  # importing it here would be too early for its settings
    if ray is None or not ray.is_initialized():  # otherwise the call below would start a cluster
        return "without a cluster"
    node = ray.get_runtime_context().get_node_id()
    # The address in the cluster: the library's own function returns the machine's outward address.
    address = next((n["NodeManagerAddress"] for n in ray.nodes() if n["NodeID"] == node), "without an address")
    return f"{address} ({node[:8]})"


class Connection:
    """A cluster that this process has joined; closing the connection also stops a cluster that this process started."""

    def __init__(self, ray: Any, address: str, *, owned: bool) -> None:
        self.ray, self.address, self._owned = ray, address, owned

    def __enter__(self) -> "Connection":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster, unless the process had joined it before."""
        if self._owned:
            self._owned = False
            self.ray.shutdown()

    def cores(self) -> list[int]:
        """The number of cores that each live node offers, in descending order, without nodes that offer none."""
        offered = (int(node["Resources"].get("CPU", 0)) for node in self.ray.nodes() if node["Alive"])
        return sorted((cores for cores in offered if cores), reverse=True)

    def gpus(self) -> int:
        """The number of GPUs in the cluster."""
        return int(self.ray.cluster_resources().get("GPU", 0))

    def workers(self) -> list[int]:
        """The number of cores of each live node, in descending order; raises `UnavailableError` if no node offers any."""
        cores = self.cores()
        if not cores:
            raise UnavailableError(
                "No node of the cluster offers a core.",
                where=self.address,
                hint="Start a node with `ray start --address=HOST:PORT`.",
            )
        return cores


def connect(address: str, *, object_store: int | None = None) -> Connection:
    """Join the cluster at HOST:PORT or the one running on this machine ("auto"), or start one on this machine ("local").

    A local cluster listens on 127.0.0.1 only; `object_store` limits its shared memory, in bytes. A process that has joined a
    cluster stays in it. Raises `UnavailableError` if Ray is not installed or the cluster does not respond.
    """
    if address not in (LOCAL, _AUTO):
        _reach(address)
    ray = import_ray(on_loopback=address == LOCAL or address.partition(":")[0] in _LOOPBACK)
    if ray.is_initialized():
        joined = str(ray.get_runtime_context().gcs_address)
        if address not in (LOCAL, _AUTO, joined):
            raise BerdseyeError(
                f"This process has already joined the cluster at {joined}.", hint="Leave that cluster first."
            )
        return Connection(ray, joined, owned=False)
    local = {"include_dashboard": False, "object_store_memory": object_store} if address == LOCAL else {}
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", **local)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise UnavailableError(
            f"The cluster does not respond: {str(error).splitlines()[0] if str(error) else type(error).__name__}",
            where=address,
            hint="Check the address printed by `ray start --head`; all nodes need the same versions of Ray and Python.",
        ) from error
    cluster = Connection(ray, str(ray.get_runtime_context().gcs_address), owned=True)
    if address == LOCAL and cluster.address.partition(":")[0] not in _LOOPBACK:
        cluster.close()
        raise BerdseyeError(
            "Ray would accept connections from other machines.", hint="Do not import Ray before Berdseye does."
        )
    return cluster


def _reach(address: str) -> None:
    """Raise an error if nothing listens at the address, for which Ray itself would wait a minute."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "/" in host:
        raise BadInputError(
            f"'{address}' is not the address of a cluster.", hint="Write HOST:PORT, or local for this machine."
        )
    try:
        socket.create_connection((host, int(port)), timeout=_ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise UnavailableError(
            "There is no response from this address.",
            where=address,
            hint="Check the address printed by `ray start --head`.",
        ) from error


def import_ray(*, on_loopback: bool) -> Any:
    """Import Ray with Berdseye's settings, which it reads from the environment; settings already there are kept."""
    for name, value in (_QUIET | (_ON_LOOPBACK if on_loopback else {})).items():
        os.environ.setdefault(name, value)
    with needing("A cluster"):
        import ray
    return ray
