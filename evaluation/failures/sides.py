"""What is compared: a stored run, under a version of its data set, with the labels of a source."""

from collections.abc import Sequence

from berdseye.annotation.judgments import Judgments
from berdseye.data.progress import Progress, silent
from berdseye.data.runs import Run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.enough_judged import min_judged_of
from berdseye.evaluation.failures.contrast import Contrast, contrast
from berdseye.evaluation.label_sources import LabelSource
from berdseye.evaluation.labelled_runs import labelled_run
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.scoring import pool_of
from berdseye.evaluation.significance import Test

Side = tuple[Run, LabelSource]


def contrasts(
    workspace: Workspace,
    judgments: Judgments,
    sides: tuple[Side, Side],
    measures: Sequence[Measure],
    *,
    min_judged: float | None = None,
    test: Test = "randomisation",
    seed: int = 0,
    progress: Progress = silent,
) -> list[Contrast]:
    """Two sides compared by each measure. Raises `StaleError` where a run does not fit its data set or corpus any more, and
    `BadInputError` for a corrected source, which labels no pair."""
    depth = max(m.k for m in measures)
    first, second = (labelled_run(workspace, judgments, run, source, depth, progress=progress) for run, source in sides)
    one, other = (pool_of(workspace, judgments, run, source, measures, progress=progress) for run, source in sides)
    pools = None
    if one.qrels is not None and other.qrels is not None:
        pools = (one.qrels.support(sides[0][0].ids), other.qrels.support(sides[1][0].ids))
    counted, floor = (one.counted, other.counted), min_judged_of(workspace, min_judged)
    return [
        contrast(first, second, m, counted, pools=pools if m.pooled else None, min_judged=floor, test=test, seed=seed)
        for m in measures
    ]
