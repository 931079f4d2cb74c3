"""Asking the servers of all shards, and waiting for those whose node has died.

An answer is complete or it is an error: nothing is returned before every shard has answered.

What runs beside each shard when it is searched.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from operator import attrgetter
from typing import Any

from berdseye.data.errors import UnavailableError
from berdseye.retrieval.cluster.connection import Connection, cause_of, last_line, node_name, reported
from berdseye.retrieval.cluster.shards import ShardPlan
from berdseye.retrieval.protocol import Indexer


class ShardServer:
    """Holds the shards of one number open, of whatever indexes it is asked for, and answers for them.

    Started anew on another node it opens them again by itself.
    """

    def __init__(self, number: int, threads: int) -> None:
        self.number, self.threads = number, threads
        self._open: dict[tuple[ShardPlan, Indexer[Any]], Any] = {}

    def pulse(self) -> str:
        """The node it runs on, which is also a sign of life."""
        return node_name()

    def answer(self, plan: ShardPlan, indexer: Indexer[Any], method: str, *arguments: Any) -> Any:
        """What a method of the shard's index returns."""
        with reported(f"The {plan.shard(self.number)} of {plan.shards} cannot be searched"):
            return attrgetter(method)(self._index(plan, indexer))(*arguments)

    def _index(self, plan: ShardPlan, indexer: Indexer[Any]) -> Any:
        if (plan, indexer) not in self._open:
            import faiss

            faiss.omp_set_num_threads(self.threads)
            shard = plan.shard(self.number)
            plan.check(shard)
            self._open[plan, indexer] = indexer.load(plan.place(shard))
        return self._open[plan, indexer]


PATIENCE = 60.0
"""Seconds that a shard may give no sign of life, which leaves time to notice that a node is gone and to start on another."""

_LOOK = 1.0
_PULSE_AGAIN = 5.0
# A node that lends no cores gets none, and one that does as many as its memory allows, beside what is being built there.
_CORES = 0.001


class Servers:
    """A server for each of so many shards, spread over the nodes and started anew elsewhere when one dies."""

    def __init__(self, cluster: Connection, shards: int, patience: float = PATIENCE) -> None:
        self._ray = cluster.ray
        cores = cluster.workers()
        threads = max(1, min(cores[-1], sum(cores) // shards))
        self._servers = [_Server(cluster.ray, number, threads, patience) for number in range(shards)]

    def ask(
        self, plan: ShardPlan, indexer: Indexer[Any], method: str, *arguments: Any, of: Sequence[int] | None = None
    ) -> list[Any]:
        """What a method of the index returns for each shard, in order, or for those of these numbers.

        A shard whose node dies is asked again where it starts anew. Raises `UnavailableError` that names a shard which
        gives no sign of life for too long.
        """
        asked = self._servers if of is None else [self._servers[number] for number in of]
        given = [self._ray.put(argument) for argument in arguments]
        waiting = {server.ask(plan, indexer, method, given): server for server in asked}
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
                self._ray.cancel(reference)  # nobody waits for it any more
        return [answers[server.number] for server in asked]

    def close(self) -> None:
        """End them."""
        for server in self._servers:
            server.close()


class _LostError(Exception):
    """An answer that was lost with the node it was on."""


class _Server:
    """The server of the shards of one number: what it was asked last, and when it last gave a sign of life."""

    def __init__(self, ray: Any, number: int, threads: int, patience: float) -> None:
        self.number, self._ray, self._threads, self._patience = number, ray, threads, patience
        self._node = ""
        self._pulse: Any = None
        self._heard = self._looked = 0.0
        self._start()

    def ask(self, plan: ShardPlan, indexer: Indexer[Any], method: str, given: Sequence[Any]) -> Any:
        """A reference to an answer to come."""
        self._plan, self._asked, self._heard = plan, (plan, indexer, method, *given), time.monotonic()
        return self.ask_again()

    def ask_again(self) -> Any:
        """The same once more."""
        return self._actor.answer.remote(*self._asked)

    def receive(self, reference: Any) -> Any:
        """The answer; raises `_LostError` where it must be asked for again, else the error of the shard."""
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
        """Take its pulse; raises `UnavailableError` when there has been none for too long."""
        now = time.monotonic()
        if self._pulse is not None and self._ray.wait([self._pulse], timeout=0)[0]:
            with suppress(self._ray.exceptions.RayError):  # which is no sign of life
                self._node, self._heard = self._ray.get(self._pulse), now
            self._pulse = None
        if self._pulse is None or now - self._looked > _PULSE_AGAIN:
            self._pulse, self._looked = self._actor.pulse.options(concurrency_group="pulse").remote(), now
        if now - self._heard > self._patience:
            was = f"; it was last on node {self._node}" if self._node else ""
            raise self._missing(f"has not answered for {self._patience:.0f} s{was}.")

    def close(self) -> None:
        self._ray.kill(self._actor)

    def _missing(self, what: str) -> UnavailableError:
        return UnavailableError(
            f"The {self._plan.shard(self.number)} of {self._plan.shards} {what}",
            where=self._plan.folder,
            hint="Start a node that sees this folder and has memory for the shard, then ask again.",
        )

    def _start(self) -> None:
        kind = self._ray.remote(concurrency_groups={"pulse": 1})(ShardServer)
        self._actor = kind.options(
            num_cpus=_CORES, max_restarts=-1, max_task_retries=-1, scheduling_strategy="SPREAD"
        ).remote(self.number, self._threads)
        self._pulse = self._actor.pulse.options(concurrency_group="pulse").remote()
