"""p-Recall of pipelines over tasks as cells of a table, with the macro-average."""

from typing import Any

from berdseye.evaluation.intervals import Estimate, mean_of_means, mean_with_interval
from berdseye.evaluation.pir.recall import root_values, successes
from berdseye.evaluation.pir.task_search import TaskSearch
from berdseye.evaluation.studies.pir.setting import AVERAGE, Setting

LABELS = "task file"


def p_recall_estimate(setting: Setting, search: TaskSearch, pipeline: str) -> Estimate:
    """p-Recall@k with its interval over roots."""
    ids = search.ranked(setting.parse(pipeline), search.asked(), setting.k, setting.progress)
    return mean_with_interval(root_values([q.root for q in search.task.queries], successes(search.task, ids)))


def with_average(by_task: dict[str, Estimate]) -> dict[str, Estimate]:
    """The same with the unweighted mean over tasks, where there are several."""
    return {**by_task, AVERAGE: mean_of_means(list(by_task.values()))} if len(by_task) > 1 else by_task


def cell(estimate: Estimate, published: float | None = None, **place: str) -> dict[str, Any]:
    """A cell in percent."""
    value, low, high, n = estimate
    return {
        **place,
        "value": 100 * value,
        "low": 100 * low,
        "high": 100 * high,
        "n": n,
        "labels": LABELS,
        "published": published,
    }
