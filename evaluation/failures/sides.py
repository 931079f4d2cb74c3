"""What is compared: a stored run, under a version of its data set, with the labels of a source."""

from collections.abc import Sequence

from annotation.judgments import Judgments
from data.progress import Progress, silent
from data.runs import Run
from data.workspace import Workspace
from evaluation.failures.contrast import Contrast, contrast
from evaluation.label_sources import LabelSource
from evaluation.labelled_runs import labelled_run
from evaluation.measures import Measure
from evaluation.qrels import pooled_qrels
from evaluation.significance import Test
from evaluation.support import Support

Side = tuple[Run, LabelSource]


def contrasts(
    workspace: Workspace,
    judgments: Judgments,
    sides: tuple[Side, Side],
    measures: Sequence[Measure],
    *,
    test: Test = "randomisation",
    seed: int = 0,
    progress: Progress = silent,
) -> list[Contrast]:
    """Two sides compared by each measure. Raises `StaleError` where a run does not fit its data set or corpus any more, and
    `BadInputError` for a corrected source, which labels no pair."""
    depth = max(m.k for m in measures)
    first, second = (labelled_run(workspace, judgments, run, source, depth, progress=progress) for run, source in sides)
    pools = _pools(workspace, judgments, sides, progress) if any(m.pooled for m in measures) else None
    return [contrast(first, second, m, pools=pools if m.pooled else None, test=test, seed=seed) for m in measures]


def _pools(
    workspace: Workspace, judgments: Judgments, sides: tuple[Side, Side], progress: Progress
) -> tuple[Support, Support]:
    one, other = (pooled_support(workspace, judgments, run, source, progress=progress) for run, source in sides)
    return one, other


def pooled_support(
    workspace: Workspace, judgments: Judgments, run: Run, source: LabelSource, *, progress: Progress = silent
) -> Support:
    """What a run supports, with what the passages do that other runs of its data set and corpus found."""
    manifest = run.manifest
    pool = pooled_qrels(
        workspace, judgments, manifest.dataset, manifest.corpus, source, others=(run,), progress=progress
    )
    return pool.support(run.ids)
