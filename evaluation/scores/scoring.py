"""Scores of stored runs by one label source, each with the labels, questions and versions behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from berdseye.annotation.batches.random_sample import drawn_and_reached
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.runs.pairs import fitting_corpus
from berdseye.data.runs.stored import Run, RunManifest
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.consensus import consensus_of
from berdseye.evaluation.labels.labelled_runs import LabelledRun, labelled_run
from berdseye.evaluation.labels.qrels import Qrels, pooled_qrels
from berdseye.evaluation.labels.sources import HUMAN, LabelSource, detector_version, source_grade
from berdseye.evaluation.labels.support import Support, share_labelled
from berdseye.evaluation.measures import Measure, values_of
from berdseye.evaluation.scores.batch_draws import sampled_batches
from berdseye.evaluation.scores.corrected import corrected_mean
from berdseye.evaluation.scores.counted import Counted, counted_questions
from berdseye.evaluation.scores.enough_judged import MIN_JUDGED, Floor, below, enough_judged, min_judged_of, withheld
from berdseye.evaluation.scores.posterior_draws import expected_values, mean_of_draws, posterior_values
from berdseye.evaluation.scores.sampled_labels import SampledLabels, estimate_of, sampled_labels
from berdseye.evaluation.scores.score import Score
from berdseye.evaluation.scores.unjudged import Unjudged, unjudged_of
from berdseye.evaluation.statistics.intervals import mean_with_interval

NO_SAMPLE = "no question was drawn at random and judged completely"
"""The reason why a corrected mean has no value."""


@dataclass(frozen=True)
class Pool:
    """The pool of a data set and a corpus, which does not depend on the scored run: which questions count and, if a measure
    needs them, the labels of all stored runs."""

    counted: Counted
    qrels: Qrels | None = None


def score_run(
    workspace: Workspace,
    judgments: Judgments,
    run: Run,
    source: LabelSource,
    measures: Sequence[Measure],
    *,
    pool: Pool | None = None,
    min_judged: Floor | None = None,
    unjudged: Unjudged | str | None = None,
    progress: Progress = silent,
) -> list[Score]:
    """Compute one score for each measure.

    The questions that count follow from `berdseye.evaluation.scores.counted` and are equal for all runs; a question for which
    the run retrieved no passage counts as covering no perspective. A score over less than a share `min_judged` of labelled
    pairs (None: the workspace's setting) is withheld (`evaluation.scores.enough_judged`). `unjudged` 'left-out' leaves out the
    questions without a label in the run's own top k (None: the workspace's setting, by default 'zero'). Measures of recall
    take the labels of passages outside the run from all stored runs on its data set and corpus (`pooled_qrels`); `pool` is the
    result of `pool_of`, if it is known.

    A corrected source gives the corrected mean. Its n counts the questions that a batch drew at random and that people judged
    completely (`annotation.batches.random_sample`), and its judged@k is that of people. Without such a question, it comes from
    all batches with draws of known probability that fit the measure (`evaluation.scores.sampled_labels`), and n counts these
    draws. Raises `BadInputError` if there is neither. A source that begins with `consensus(...)` gives the mean over draws
    of its labels, and an interval that includes their uncertainty (`evaluation.scores.posterior_draws`); which questions count
    follows from the labels themselves.
    """
    reader = _StoredRun(workspace, judgments, run, pool, progress)
    scores = score_read(
        workspace, judgments, run.manifest, source, measures, reader, min_judged=min_judged, unjudged=unjudged
    )
    refuse_without_sample(scores, run.manifest.name, source)
    return scores


def pool_of(
    workspace: Workspace,
    judgments: Judgments,
    run: Run,
    source: LabelSource,
    measures: Sequence[Measure],
    *,
    progress: Progress = silent,
) -> Pool:
    """Return the pool that a run is scored with.

    It is equal for all stored runs on the data set and corpus. For a run that is not stored, the labels of the run are added,
    and the questions that count are those of the stored runs if there are any.
    """
    dataset, corpus = run.manifest.dataset, run.manifest.corpus
    if not any(m.pooled for m in measures) or source.corrected:
        counted = counted_questions(workspace, judgments, dataset, corpus, source, run=run, progress=progress)
        return Pool(Counted(counted))
    fitting_corpus(workspace, run, load_dataset(workspace, dataset))
    stored = pooled_qrels(workspace, judgments, dataset, corpus, source, progress=progress)
    if run.manifest.name in stored.runs:
        return Pool(stored.pool(source), stored)
    with_own = pooled_qrels(workspace, judgments, dataset, corpus, source, others=(run,), progress=progress)
    return Pool((stored if stored.runs else with_own).pool(source), with_own)


class RunReader(Protocol):
    """Reads what scoring needs of one run. Pages hand in a reader that keeps what it has read."""

    def run(self) -> Run:
        """The run with its rankings."""
        ...

    def labelled(self, source: LabelSource, k: int) -> LabelledRun:
        """The first k passages with the labels of a source."""
        ...

    def pool(self, source: LabelSource, measures: Sequence[Measure]) -> Pool:
        """The pool that the run is scored by; `pool_of` describes it."""
        ...


@dataclass(frozen=True)
class _StoredRun:
    """Reads from the workspace at every call."""

    workspace: Workspace
    judgments: Judgments
    stored: Run
    known_pool: Pool | None
    progress: Progress

    def run(self) -> Run:
        return self.stored

    def labelled(self, source: LabelSource, k: int) -> LabelledRun:
        return labelled_run(self.workspace, self.judgments, self.stored, source, k, progress=self.progress)

    def pool(self, source: LabelSource, measures: Sequence[Measure]) -> Pool:
        if self.known_pool is not None:
            return self.known_pool
        return pool_of(self.workspace, self.judgments, self.stored, source, measures, progress=self.progress)


def score_read(
    workspace: Workspace,
    judgments: Judgments,
    manifest: RunManifest,
    source: LabelSource,
    measures: Sequence[Measure],
    reader: RunReader,
    *,
    min_judged: Floor | None = None,
    unjudged: Unjudged | str | None = None,
) -> list[Score]:
    """One score a measure, from what `reader` reads; `score_run` describes them.

    With a corrected source, a run without a random sample has a score without a value.
    """
    k = max(m.k for m in measures)
    made_by = provenance(workspace, manifest, source)
    floor = min_judged_of(workspace, min_judged)
    pooled = next((m for m in measures if m.pooled), None)
    if pooled is not None:
        if source.corrected:
            raise BadInputError(
                f"'{source}' cannot correct {pooled}, which depends on the whole pool.",
                hint="Choose measures of the top k, such as MRecall@5, or another label source.",
            )
        fitting_corpus(workspace, reader.run(), load_dataset(workspace, manifest.dataset))
    pool = reader.pool(source, measures)
    counted = replace(pool.counted, unjudged=unjudged_of(workspace, unjudged))
    agreed = None if source.consensus is None else consensus_of(judgments, source.consensus)
    draws = None
    if pool.qrels is not None and pooled is not None:
        ids = reader.run().ids[:, :k]
        support = pool.qrels.support(ids)
        if agreed is not None:
            draws = posterior_values(measures, agreed, pool.qrels, ids, support)
        return scores_of(measures, support, counted, None, draws, min_judged=floor, **made_by)
    labelled = reader.labelled(source.plain, k)
    support = labelled.support
    if agreed is not None:
        draws = posterior_values(measures, agreed, labelled, labelled.ids, support)
    if not source.corrected:
        return scores_of(measures, support, counted, None, draws, min_judged=floor, **made_by)
    by_people = reader.labelled(LabelSource((HUMAN,)), k)
    further = [reader.labelled(one, k) for one in source.further]
    people = PeopleSample(
        by_people.support,
        samples_of(judgments, manifest.dataset, by_people, measures),
        tuple(one.support for one in further),
    )
    scores = scores_of(measures, support, counted, people, None, min_judged=floor, **made_by)
    if all(score.withheld != NO_SAMPLE for score in scores):
        return scores
    batches = sampled_batches(judgments)
    return [
        score
        if score.withheld != NO_SAMPLE
        else _from_sample(
            score,
            sampled_labels(judgments, [labelled, *further], by_people, measure, ~np.isnan(score.values), batches),
            measure,
        )
        for score, measure in zip(scores, measures, strict=True)
    ]


def _from_sample(score: Score, found: SampledLabels | str, measure: Measure) -> Score:
    """Return a corrected score without random questions by the draws of a batch, or with the reason why there are none."""
    if isinstance(found, str):
        return replace(score, withheld=f"{NO_SAMPLE}, and {found}")
    return replace(
        score, withheld="", people=None, sampled=found, estimate=estimate_of(found.estimated, measure.bounds)
    )


@dataclass(frozen=True)
class PeopleSample:
    """People's labels of a ranking, and, by the cutoff of measures, which questions are a random sample (bool[n_questions]).

    `further` are the labels of the detectors beside the first.
    """

    support: Support
    at_random: Mapping[int, npt.NDArray[np.bool_]]
    further: tuple[Support, ...] = ()


def samples_of(
    judgments: Judgments, dataset: str, labelled: LabelledRun, measures: Sequence[Measure]
) -> dict[int, npt.NDArray[np.bool_]]:
    """Return the questions that may correct a detector (`berdseye.annotation.batches.random_sample`), by the cutoffs of
    measures; `labelled` is the run with people's labels."""
    ids = [question.id for question in labelled.questions]
    population = int((labelled.counts > 0).sum())
    return {
        k: drawn_and_reached(judgments, dataset, ids, population, labelled.keys[:, :k]) for k in {m.k for m in measures}
    }


def refuse_without_sample(scores: Sequence[Score], what: str, source: LabelSource) -> None:
    """Raise `BadInputError` if the source is corrected and no score has a question for the correction."""
    if source.corrected and scores and all(s.withheld.startswith(NO_SAMPLE) for s in scores):
        raise BadInputError(
            f"{source} needs labels whose probability of being drawn is known: questions that a batch drew at random and whose "
            f"top k people judged completely, or draws of a batch. There are none for {what} ({scores[0].withheld}). Of labels "
            "that somebody chose, no interval can be promised: it can miss the true value nearly always.",
            hint=(
                "Create a batch with `berdseye batch create NAME --preset random-questions --run RUN` or with "
                "`--order uncertainty --run RUN`. "
                f" The labels that people have given so far can be used by --labels '{HUMAN}>{source.plain}', whose "
                "intervals treat the detector's labels as right, or by --labels human."
            ),
        )


def provenance(workspace: Workspace, run: RunManifest, source: LabelSource) -> dict[str, str]:
    """Return the keyword arguments of `scores_of` that identify a run, its labels and their versions."""
    return {
        "dataset": run.dataset,
        "corpus": run.corpus,
        "pipeline": run.pipeline,
        "labels": str(source),
        "detector_version": detector_version(workspace, source),
        "grade": source_grade(workspace, source),
    }


def score_runs(
    workspace: Workspace,
    judgments: Judgments,
    runs: Sequence[Run],
    source: LabelSource,
    measures: Sequence[Measure],
    *,
    min_judged: Floor | None = None,
    unjudged: Unjudged | str | None = None,
    progress: Progress = silent,
) -> list[Score]:
    """Compute the scores of several stored runs, as `score_run` does; the pool is computed once per data set and corpus.

    With a corrected source, a run without a random sample has no value; raises `BadInputError` only if no run has a sample.
    """
    pools: dict[tuple[str, str], Pool] = {}
    scores: list[Score] = []
    for run in runs:
        place = (run.manifest.dataset, run.manifest.corpus)
        if place not in pools and not (source.corrected and any(m.pooled for m in measures)):
            pools[place] = pool_of(workspace, judgments, run, source, measures, progress=progress)
        reader = _StoredRun(workspace, judgments, run, pools.get(place), progress)
        scores += score_read(
            workspace, judgments, run.manifest, source, measures, reader, min_judged=min_judged, unjudged=unjudged
        )
    refuse_without_sample(scores, " and ".join(dict.fromkeys(r.manifest.name for r in runs)), source)
    return scores


def scores_of(
    measures: Sequence[Measure],
    support: Support,
    counted: Counted,
    people: PeopleSample | None = None,
    posterior_draws: Sequence[npt.NDArray[np.float64]] | None = None,
    *,
    min_judged: float = MIN_JUDGED,
    dataset: str,
    corpus: str,
    pipeline: str,
    labels: str,
    detector_version: str,
    grade: str = "",
) -> list[Score]:
    """Compute one score for each measure from the support of a ranking, over the questions that count.

    judged@k is the share of labelled pairs of the questions that have a value, or if none has, of those that count.
    `people` holds people's labels for a corrected mean, `posterior_draws` the values under draws of uncertain labels,
    float64[n_draws, n_questions] for each measure. `min_judged` does not apply to corrected means, because their interval shows
    whether the sample is large enough.
    """
    scores = []
    for place, (measure, raw) in enumerate(zip(measures, values_of(measures, support), strict=True)):
        counts = counted.by(measure, support)
        draws = None if posterior_draws is None else np.where(counts, posterior_draws[place], np.nan)
        values, by_people, reason, unsure = np.where(counts, raw, np.nan), None, "", 0
        further = None
        if draws is not None:
            values = expected_values(draws)
        valued = ~np.isnan(values)
        valued = valued if valued.any() else counted.questions
        pairs = (support if people is None else people.support).pairs_at(measure.k)
        judged = share_labelled(pairs[valued])
        if people is None:
            bounds = measure.bounds
            estimate = mean_with_interval(values, bounds=bounds) if draws is None else mean_of_draws(draws, bounds)
            if estimate.n and not enough_judged(judged, min_judged):
                estimate, reason = withheld(estimate, judged, min_judged), below(min_judged)
        else:
            by_people = np.where(people.at_random[measure.k], completely_judged_values(measure, people.support), np.nan)
            unsure = int((people.at_random[measure.k] & valued & np.isnan(by_people)).sum())
            if people.further:
                by_others = [measure.values(one) for one in people.further]
                further = np.where(np.isnan(values), np.nan, np.array(by_others))
            detectors = values[None] if further is None else np.vstack([values, further])
            estimate = corrected_mean(by_people, detectors, bounds=measure.bounds).estimate
            reason = "" if estimate.n else NO_SAMPLE
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
                pairs,
                by_people,
                draws,
                measure.unit,
                reason,
                grade,
                unsure=unsure,
                further=further,
            )
        )
    return scores


def counted_values(measure: Measure, support: Support, counted: Counted) -> npt.NDArray[np.float64]:
    """Return the value of each question that counts, NaN for the others, float64[n_questions]."""
    return np.where(counted.by(measure, support), measure.values(support), np.nan)


def completely_judged_values(measure: Measure, support: Support) -> npt.NDArray[np.float64]:
    """Return the value of each question whose pairs in the top k are all judged, NaN for the others, float64[n_questions].

    Values that a part of the judgments already determines are left out too, because including them would bias the sample.
    """
    values = measure.values(support)
    judged = support.judged[:, : measure.k].sum(axis=(1, 2))
    values[judged < support.counts * np.minimum(support.depths, measure.k)] = np.nan
    return values
