"""What is done for one shard on whichever node has a core, and waiting for all of it."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from berdseye.data.progress import Progress
from berdseye.retrieval.cluster.connection import Connection, cause_of, kept, last_line, reported
from berdseye.retrieval.cluster.shards import Shard, ShardPlan

Tell = Callable[[int], object]
"""Is told how many passages of a shard are in it so far."""

_LOOK = 1.0
_RETRIES = 3
_SHARE = 0.95  # of the cores that are used; the rest is for servers of shards on the same node
LEFTOVER = ".building"


def run_tasks(
    cluster: Connection,
    plan: ShardPlan,
    shards: Sequence[Shard],
    build: Callable[..., None],
    *arguments: Any,
    cores: int,
    progress: Progress,
    gpus: int = 0,
) -> None:
    """Do `build(plan, shard, tell, *arguments)` for each shard, with so many cores and GPUs each.

    A task whose node dies is tried again elsewhere, three times; one that fails ends the others with an error that names
    the shard.
    """
    ray = cluster.ray
    tally = ray.remote(num_cpus=0, max_restarts=-1)(_Tally).remote()
    task = ray.remote(num_cpus=_SHARE * cores, num_gpus=gpus, max_retries=_RETRIES, scheduling_strategy="SPREAD")(_task)
    waiting = {task.remote(build, plan, shard, tally, arguments): shard for shard in shards}
    total = sum(shard.size for shard in shards)
    try:
        while waiting:
            ready, _ = ray.wait(list(waiting), timeout=_LOOK)
            for reference in ready:
                _finished(ray, reference, waiting.pop(reference), plan)
            progress(_told(ray, tally), f"passages in shards of {plan.indexer}", total)
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)
        ray.kill(tally)


def run_one(cluster: Connection, failed: str, do: Callable[..., None], *arguments: Any, cores: int) -> None:
    """Do `do(*arguments)` on a node that lends so many cores; `failed` begins the error of one that fails."""
    ray = cluster.ray
    reference = ray.remote(num_cpus=_SHARE * cores, max_retries=_RETRIES)(_reported).remote(failed, do, arguments)
    try:
        ray.get(reference)
    except ray.exceptions.RayError as error:
        raise kept(cause_of(error) or f"{failed}: {last_line(error)}.") from None


@contextmanager
def building(plan: ShardPlan, shard: Shard) -> Iterator[Path]:
    """An empty folder to build a shard in, which is put in place in the end; each attempt has its own."""
    folder = plan.folder / f".{shard.number:05d}.{uuid4().hex[:8]}{LEFTOVER}"
    folder.mkdir(parents=True)
    try:
        yield folder
        plan.finish(shard, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _reported(failed: str, do: Callable[..., None], arguments: Sequence[Any]) -> None:
    with reported(failed):
        do(*arguments)


def _task(build: Callable[..., None], plan: ShardPlan, shard: Shard, tally: Any, arguments: Sequence[Any]) -> None:
    with reported(f"The {shard} of {plan.shards} could not be built"):
        build(plan, shard, lambda done: tally.tell.remote(shard.number, done), *arguments)


def _finished(ray: Any, reference: Any, shard: Shard, plan: ShardPlan) -> None:
    try:
        ray.get(reference)
    except ray.exceptions.RayError as error:
        raise kept(cause_of(error) or f"The {shard} of {plan.shards} could not be built: {last_line(error)}.") from None


def _told(ray: Any, tally: Any) -> int:
    try:
        return int(ray.get(tally.total.remote(), timeout=_LOOK))
    except ray.exceptions.RayError:  # its node is gone; what it starts anew with is what it is told next
        return 0


class _Tally:
    """How many passages are in the shards that are being built."""

    def __init__(self) -> None:
        self.done: dict[int, int] = {}

    def tell(self, shard: int, done: int) -> None:
        self.done[shard] = done

    def total(self) -> int:
        return sum(self.done.values())
