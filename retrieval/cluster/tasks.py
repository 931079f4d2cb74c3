"""Running a task for each shard on any node with free cores, and waiting for all tasks."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from berdseye.data.progress import Progress
from berdseye.retrieval.cluster.connection import Connection, cause_of, interrupted, last_line, reporting_errors
from berdseye.retrieval.cluster.shards import Shard, ShardPlan

ReportDone = Callable[[int], object]
"""Callback that receives the number of passages of a shard that are finished so far."""

_LOOK = 1.0
_RETRIES = 3
_SHARE = 0.95  # share of the cores that a task requests; the rest is for servers of shards on its node
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
    """Run `build(plan, shard, report_done, *arguments)` for each shard, with this number of cores and GPUs for each.

    A task whose node dies is repeated on another node, up to three times. If a task fails, the others are stopped, and an
    `UnavailableError` with the shard is raised.
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
            progress(_total(ray, tally), f"passages in shards of {plan.indexer}", total)
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)
        ray.kill(tally)


def run_one(cluster: Connection, failed: str, do: Callable[..., None], *arguments: Any, cores: int) -> None:
    """Run `do(*arguments)` on a node that offers this number of cores; `failed` is the start of the message of an error."""
    ray = cluster.ray
    reference = ray.remote(num_cpus=_SHARE * cores, max_retries=_RETRIES)(_reported).remote(failed, do, arguments)
    try:
        ray.get(reference)
    except ray.exceptions.RayError as error:
        raise interrupted(cause_of(error) or f"{failed}: {last_line(error)}.") from None


@contextmanager
def building(plan: ShardPlan, shard: Shard) -> Iterator[Path]:
    """An empty folder for building a shard, moved to its place at the end; each attempt has its own folder."""
    folder = plan.folder / f".{shard.number:05d}.{uuid4().hex[:8]}{LEFTOVER}"
    folder.mkdir(parents=True)
    try:
        yield folder
        plan.finish(shard, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _reported(failed: str, do: Callable[..., None], arguments: Sequence[Any]) -> None:
    with reporting_errors(failed):
        do(*arguments)


def _task(build: Callable[..., None], plan: ShardPlan, shard: Shard, tally: Any, arguments: Sequence[Any]) -> None:
    with reporting_errors(f"The {shard} of {plan.shards} could not be built"):
        build(plan, shard, lambda done: tally.report_done.remote(shard.number, done), *arguments)


def _finished(ray: Any, reference: Any, shard: Shard, plan: ShardPlan) -> None:
    try:
        ray.get(reference)
    except ray.exceptions.RayError as error:
        raise interrupted(
            cause_of(error) or f"The {shard} of {plan.shards} could not be built: {last_line(error)}."
        ) from None


def _total(ray: Any, tally: Any) -> int:
    try:
        return int(ray.get(tally.total.remote(), timeout=_LOOK))
    except ray.exceptions.RayError:  # its node was lost; after a restart it counts from the next reports
        return 0


class _Tally:
    """Counts the finished passages of the shards that are being built."""

    def __init__(self) -> None:
        self.done: dict[int, int] = {}

    def report_done(self, shard: int, done: int) -> None:
        self.done[shard] = done

    def total(self) -> int:
        return sum(self.done.values())
