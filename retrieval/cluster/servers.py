"""The servers of shards, and calls to all of them, which wait for servers whose node has died.

A result is complete or an error: nothing is returned before every shard has answered.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from operator import attrgetter
from typing import Any

from berdseye.data.errors import UnavailableError
from berdseye.retrieval.cluster.connection import Connection, cause_of, last_line, node_name, reporting_errors
from berdseye.retrieval.cluster.shards import ShardPlan
from berdseye.retrieval.protocol import Indexer

PATIENCE = 60.0
"""Seconds without a sign of life from a shard, which leave time to detect a lost node and to restart on another."""
_LOOK = 1.0
# Bytes; Ray sends so much within a call. A larger object must be fetched by its node, which is slower and can stall.
_MOST_INLINE = 100_000
_PULSE_AGAIN = 5.0
# A node that offers no cores gets no server; any other gets as many as its memory allows, next to builds.
_CORES = 0.001


class ShardServer:
    """The server of all shards with one number: it keeps them open for all indexes that are searched, and answers calls.

    After a restart on another node, it opens them again.
    """

    def __init__(self, number: int, threads: int) -> None:
        self.number, self.threads = number, threads
        self._open: dict[tuple[ShardPlan, Indexer[Any]], Any] = {}

    def pulse(self) -> str:
        """The node on which the server runs, as a sign of life."""
        return node_name()

    def answer(self, plan: ShardPlan, indexer: Indexer[Any], method: str, *arguments: Any) -> Any:
        """The result of a method of the shard's index."""
        with reporting_errors(f"The {plan.shard(self.number)} of {plan.shards} cannot be searched"):
            return attrgetter(method)(self._index(plan, indexer))(*arguments)

    def _index(self, plan: ShardPlan, indexer: Indexer[Any]) -> Any:
        if (plan, indexer) not in self._open:
            import faiss

            faiss.omp_set_num_threads(self.threads)
            shard = plan.shard(self.number)
            plan.check(shard)
            self._open[plan, indexer] = indexer.load(plan.place(shard))
        return self._open[plan, indexer]


class Servers:
    """The servers of a number of shards, spread over the nodes, and restarted on another node when one dies."""

    def __init__(self, cluster: Connection, shards: int, patience: float = PATIENCE) -> None:
        self._ray = cluster.ray
        cores = cluster.workers()
        threads = max(1, min(cores[-1], sum(cores) // shards))
        self._servers = [_Server(cluster.ray, number, threads, patience) for number in range(shards)]

    def ask(
        self, plan: ShardPlan, indexer: Indexer[Any], method: str, *arguments: Any, of: Sequence[int] | None = None
    ) -> list[Any]:
        """The results of a method of the index for all shards, in order, or for the shards with the numbers `of`.

        The call to a shard whose node dies is repeated where the server restarts. Raises `UnavailableError` with the shard that
        gives no sign of life for too long.
        """
        called = self._servers if of is None else [self._servers[number] for number in of]
        references = [self._shared(argument) for argument in arguments]
        waiting = {server.ask(plan, indexer, method, references): server for server in called}
        answers: dict[int, Any] = {}
        try:
            while waiting:
                ready, _ = self._ray.wait(list(waiting), num_returns=len(waiting), timeout=_LOOK)
                for reference in ready:
                    server = waiting.pop(reference)
                    try:
                        answers[server.number] = server.receive(reference)
                    except _LostError:
                        waiting[server.ask_again()] = server
                for server in waiting.values():
                    server.check_pulse()
        finally:
            for reference in waiting:
                self._ray.cancel(reference)  # its result is no longer needed
        return [answers[server.number] for server in called]

    def _shared(self, argument: Any) -> Any:
        """A large argument as one object for all servers; a small one as it is, which travels within the call."""
        return self._ray.put(argument) if len(self._ray.cloudpickle.dumps(argument)) > _MOST_INLINE else argument

    def close(self) -> None:
        """Stop all servers."""
        for server in self._servers:
            server.close()


class _LostError(Exception):
    """A result was lost with its node."""


class _Server:
    """The handle of the server of one shard number, with its last call and the time of its last sign of life."""

    def __init__(self, ray: Any, number: int, threads: int, patience: float) -> None:
        self.number, self._ray, self._threads, self._patience = number, ray, threads, patience
        self._node = ""
        self._pulse: Any = None
        self._last_pulse = self._pulse_asked = 0.0
        self._start()

    def ask(self, plan: ShardPlan, indexer: Indexer[Any], method: str, arguments: Sequence[Any]) -> Any:
        """Call a method of the index; returns a reference to the future result."""
        self._plan, self._call, self._last_pulse = plan, (plan, indexer, method, *arguments), time.monotonic()
        return self.ask_again()

    def ask_again(self) -> Any:
        """Repeat the last call."""
        return self._actor.answer.remote(*self._call)

    def receive(self, reference: Any) -> Any:
        """The result; raises `_LostError` if the call must be repeated, otherwise the error of the shard."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:
            if cause := cause_of(error):
                raise cause from None
            raise
        except errors.ActorDiedError as error:
            self._start()
            raise self._missing(f"could not be started: {last_line(error)}.") from error
        except errors.RayError as error:
            self.check_pulse()
            time.sleep(_LOOK / 4)
            raise _LostError from error

    def check_pulse(self) -> None:
        """Check for a sign of life; raises `UnavailableError` if there has been none for too long."""
        now = time.monotonic()
        if self._pulse is not None and self._ray.wait([self._pulse], timeout=0)[0]:
            with suppress(self._ray.exceptions.RayError):  # an error is not a sign of life
                self._node, self._last_pulse = self._ray.get(self._pulse), now
            self._pulse = None
        if self._pulse is None or now - self._pulse_asked > _PULSE_AGAIN:
            self._pulse, self._pulse_asked = self._actor.pulse.options(concurrency_group="pulse").remote(), now
        if now - self._last_pulse > self._patience:
            last_node = f"; its last node was {self._node}" if self._node else ""
            raise self._missing(f"has not responded for {self._patience:.0f} s{last_node}.")

    def close(self) -> None:
        self._ray.kill(self._actor)

    def _missing(self, what: str) -> UnavailableError:
        return UnavailableError(
            f"The {self._plan.shard(self.number)} of {self._plan.shards} {what}",
            where=self._plan.folder,
            hint="Start a node that can read this folder and has memory for the shard, then search again.",
        )

    def _start(self) -> None:
        kind = self._ray.remote(concurrency_groups={"pulse": 1})(ShardServer)
        self._actor = kind.options(
            num_cpus=_CORES, max_restarts=-1, max_task_retries=-1, scheduling_strategy="SPREAD"
        ).remote(self.number, self._threads)
        self._pulse = self._actor.pulse.options(concurrency_group="pulse").remote()
