"""What runs beside each shard when it is searched."""

from operator import attrgetter
from typing import Any

from berdseye.retrieval.cluster.failures import node_name, reported
from berdseye.retrieval.cluster.shards import Plan
from berdseye.retrieval.protocol import Indexer


class ShardServer:
    """Holds the shards of one number open, of whatever indexes it is asked for, and answers for them.

    Started anew on another node it opens them again by itself.
    """

    def __init__(self, number: int, threads: int) -> None:
        self.number, self.threads = number, threads
        self._open: dict[tuple[Plan, Indexer[Any]], Any] = {}

    def pulse(self) -> str:
        """The node it runs on, which is also a sign of life."""
        return node_name()

    def answer(self, plan: Plan, indexer: Indexer[Any], method: str, *arguments: Any) -> Any:
        """What a method of the shard's index returns."""
        with reported(f"The {plan.shard(self.number)} of {plan.shards} cannot be searched"):
            return attrgetter(method)(self._index(plan, indexer))(*arguments)

    def _index(self, plan: Plan, indexer: Indexer[Any]) -> Any:
        if (plan, indexer) not in self._open:
            import faiss

            faiss.omp_set_num_threads(self.threads)
            shard = plan.shard(self.number)
            plan.check(shard)
            self._open[plan, indexer] = indexer.load(plan.place(shard))
        return self._open[plan, indexer]
