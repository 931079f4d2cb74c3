"""Several Ray nodes on this machine, which can be killed one by one."""

from typing import Any

from berdseye.retrieval.cluster.connection import import_ray

STORE = 80_000_000  # of shared memory for each node, near the least that Ray takes
# A node that is gone is noticed in about three seconds in place of fifteen; workers start when they are needed.
_SETTINGS = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 500,
    "health_check_failure_threshold": 5,
    "prestart_worker_first_driver": False,
}


class SeveralNodes:
    """A head that lends no cores, and nodes that lend one each; all listen on 127.0.0.1 alone."""

    def __init__(self, count: int) -> None:
        import_ray(on_loopback=True)
        from ray.cluster_utils import Cluster

        self._cluster = Cluster()
        self._cluster.add_node(num_cpus=0, include_dashboard=False, object_store_memory=STORE, _system_config=_SETTINGS)
        self.nodes: dict[str, Any] = {}
        for _ in range(count):
            self.add()

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def add(self) -> str:
        """Start a node; returns the beginning of its id, which errors name."""
        node = self._cluster.add_node(num_cpus=1, object_store_memory=STORE)
        name = str(node.node_id)[:8]
        self.nodes[name] = node
        return name

    def kill(self, name: str) -> None:
        """End a node with all that runs on it, without a word to the others."""
        self._cluster.remove_node(self.nodes.pop(name), allow_graceful=False)

    def close(self) -> None:
        self._cluster.shutdown()
