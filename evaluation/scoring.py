"""The measures of a stored run from one label source, with all that made the numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from annotation.judgments import Judgments
from data.datasets import load_dataset
from data.errors import BadInputError
from data.progress import Progress, silent
from data.run_pairs import fitting_corpus
from data.runs import Run, RunManifest
from data.workspace import Workspace
from evaluation.corrected import corrected_mean
from evaluation.intervals import Estimate, mean_of_means, mean_with_interval
from evaluation.label_sources import HUMAN, LabelSource
from evaluation.labelled_runs import labelled_run
from evaluation.measures import Measure, Unit, values_of
from evaluation.qrels import Qrels, pooled_qrels
from evaluation.support import Support


@dataclass(frozen=True)
class Score:
    """One number and what made it. `values` holds the value of each question, in the order of the data set.

    Where the source is corrected, `values` are the detector's and `people` those of the questions that people judged whole.
    """

    dataset: str
    corpus: str
    pipeline: str
    measure: str
    labels: str
    detector_version: str
    judged: float
    estimate: Estimate
    values: npt.NDArray[np.float64]
    people: npt.NDArray[np.float64] | None = None
    unit: Unit = "share"

    @property
    def shown(self) -> Estimate:
        """The estimate as tables show it: shares in percent."""
        factor = 100 if self.unit == "share" else 1
        value, low, high = (factor * x for x in self.estimate[:3])
        return Estimate(value, low, high, self.estimate.n)


def score_run(
    workspace: Workspace,
    judgments: Judgments,
    run: Run,
    source: LabelSource,
    measures: Sequence[Measure],
    *,
    pool: Qrels | None = None,
    progress: Progress = silent,
) -> list[Score]:
    """One score a measure.

    Questions that have passages, none of them labelled under `source`, are left out, and `estimate.n` says so; a question
    for which nothing was found counts as covering nothing. A corrected source gives the corrected mean; its n are the questions
    that people judged whole, and its judged@k is theirs. Measures that need it take what lies beyond the run from `pool`, or
    else from all stored runs of its data set and corpus (`pooled_qrels`).
    """
    manifest = run.manifest
    k = max(m.k for m in measures)
    made_by = provenance(workspace, manifest, source)
    if any(m.pooled for m in measures):
        if source.corrected:
            raise BadInputError(
                f"People's sample cannot correct {next(m for m in measures if m.pooled)}.",
                hint="Choose measures of the top k, such as MRecall@5, or another label source.",
            )
        fitting_corpus(workspace, run, load_dataset(workspace, manifest.dataset))
        held = pool or pooled_qrels(
            workspace, judgments, manifest.dataset, manifest.corpus, source, others=(run,), progress=progress
        )
        return scores_of(measures, held.support(run.ids[:, :k]), None, **made_by)

    def support_by(by: LabelSource) -> Support:
        return labelled_run(workspace, judgments, run, by, k, progress=progress).support

    people = support_by(LabelSource((HUMAN,))) if source.corrected else None
    return scores_of(measures, support_by(source.plain), people, **made_by)


def provenance(workspace: Workspace, run: RunManifest, source: LabelSource) -> dict[str, str]:
    """What made the numbers of a run, as `scores_of` takes it."""
    detector = source.detector(workspace)
    return {
        "dataset": run.dataset,
        "corpus": run.corpus,
        "pipeline": run.pipeline,
        "labels": str(source),
        "detector_version": detector.version if detector is not None else "",
    }


def score_runs(
    workspace: Workspace,
    judgments: Judgments,
    runs: Sequence[Run],
    source: LabelSource,
    measures: Sequence[Measure],
    *,
    progress: Progress = silent,
) -> list[Score]:
    """The scores of several runs, as `score_run` gives them; what is pooled is pooled once a data set and corpus."""
    pools: dict[tuple[str, str], Qrels] = {}
    scores = []
    for run in runs:
        place = (run.manifest.dataset, run.manifest.corpus)
        if any(m.pooled for m in measures) and not source.corrected and place not in pools:
            pools[place] = pooled_qrels(workspace, judgments, *place, source, others=(run,), progress=progress)
        scores += score_run(workspace, judgments, run, source, measures, pool=pools.get(place), progress=progress)
    return scores


def without_questions(scores: Sequence[Score], left_out: Sequence[bool]) -> list[Score]:
    """The same scores with no value for the questions that are left out."""
    kept = ~np.asarray(left_out, dtype=bool)
    found = []
    for score in scores:
        values = np.where(kept, score.values, np.nan)
        people = None if score.people is None else np.where(kept, score.people, np.nan)
        estimate = (
            mean_with_interval(values, shares=score.unit == "share")
            if people is None
            else corrected_mean(people, values).estimate
        )
        found.append(replace(score, values=values, people=people, estimate=estimate))
    return found


def scores_of(
    measures: Sequence[Measure],
    support: Support,
    people: Support | None = None,
    *,
    dataset: str,
    corpus: str,
    pipeline: str,
    labels: str,
    detector_version: str,
) -> list[Score]:
    """One score a measure from what a ranking supports; `people` is what people say of it, for a corrected mean."""
    scores = []
    for measure, raw in zip(measures, values_of(measures, support), strict=True):
        values, said = _where_judged(raw, measure, support), None
        estimate = mean_with_interval(values, shares=measure.unit == "share")
        judged = support.judged_at(measure.k)
        if people is not None:
            said = wholly_judged_values(measure, people)
            bounds = (0.0, 1.0) if measure.unit == "share" else (0.0, float(measure.k))
            estimate, judged = corrected_mean(said, values, bounds=bounds).estimate, people.judged_at(measure.k)
        scores.append(
            Score(
                dataset,
                corpus,
                pipeline,
                str(measure),
                labels,
                detector_version,
                judged,
                estimate,
                values,
                said,
                measure.unit,
            )
        )
    return scores


def judged_values(measure: Measure, support: Support) -> npt.NDArray[np.float64]:
    """The value of each question, NaN where passages were found and none of them is labelled."""
    return _where_judged(measure.values(support), measure, support)


def _where_judged(values: npt.NDArray[np.float64], measure: Measure, support: Support) -> npt.NDArray[np.float64]:
    values = values.copy()
    values[~support.labelled(measure.k)] = np.nan
    return values


def wholly_judged_values(measure: Measure, support: Support) -> npt.NDArray[np.float64]:
    """The value of each question whose pairs in the top k are all judged, NaN of others.

    Values that part of the judgments would settle are left out too: they would be those that come out one way.
    """
    values = measure.values(support)
    judged = support.judged[:, : measure.k].sum(axis=(1, 2))
    values[judged < support.counts * np.minimum(support.depths, measure.k)] = np.nan
    return values


def macro_average(scores: Sequence[Score]) -> list[Score]:
    """The mean of the data sets' values for each corpus, pipeline and measure (BERDS, table 3), as data set 'average'.

    NaN where one of the data sets has no value: the mean of the others is another figure.
    """
    groups: dict[tuple[str, str, str, str], list[Score]] = {}
    for score in scores:
        groups.setdefault((score.corpus, score.pipeline, score.measure, score.labels), []).append(score)
    averages = []
    for (corpus, pipeline, measure, labels), members in groups.items():
        known = [s for s in members if s.estimate.n > 0]
        if not known:
            continue
        estimate = mean_of_means([s.estimate for s in known])
        if len(known) < len(members):
            estimate = Estimate(np.nan, np.nan, np.nan, estimate.n)
        averages.append(
            Score(
                "average",
                corpus,
                pipeline,
                measure,
                labels,
                known[0].detector_version,
                float(np.mean([s.judged for s in known])),
                estimate,
                np.concatenate([s.values for s in known]),
                unit=known[0].unit,
            )
        )
    return averages
