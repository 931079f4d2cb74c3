"""Comparison of a run's scores under two versions of its data set, which have the same questions but different perspectives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.stored import load_dataset, split_version, version_name
from berdseye.data.datasets.versions import QuestionChange, differences
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.sources import LabelSource
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.scores.counted import as_version
from berdseye.evaluation.scores.score import Score
from berdseye.evaluation.scores.scoring import score_run
from berdseye.evaluation.scores.unjudged import Unjudged
from berdseye.evaluation.statistics.significance import Comparison, compare


@dataclass(frozen=True)
class ChangedQuestion:
    """A question whose perspectives differ, with its values under both versions by the name of the measure (NaN: no value)."""

    change: QuestionChange
    values: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class VersionComparison:
    """A run's scores under two versions of its data set.

    `first` and `second` hold the scores under each version, one per measure; `differences` are second minus first, paired over
    questions. `shown_perspectives`: whether the pipeline used the perspectives of the run's own version for ranking.
    """

    versions: tuple[str, str]
    first: list[Score]
    second: list[Score]
    differences: list[Comparison]
    questions: list[ChangedQuestion]
    shown_perspectives: bool


def under_version(workspace: Workspace, run: Run, version: str) -> Run:
    """Return a run as a run on another version of its data set, without a new search, because the questions are the same.

    `version` is a name such as `debate@2`, or its number. Raises `BadInputError` for a version of another data set.
    """
    dataset = split_version(run.manifest.dataset)[0]
    name = version_name(dataset, int(version)) if version.isdecimal() and len(version) < 10 else version
    name = version_name(*split_version(name))
    if split_version(name)[0] != dataset:
        raise BadInputError(
            f"'{name}' is not a version of '{dataset}', the data set of run '{run.manifest.name}'.",
            hint=f"Name a version such as {version_name(dataset, 1)}.",
        )
    load_dataset(workspace, name)
    return as_version(run, name)


def compare_versions(
    workspace: Workspace,
    judgments: Judgments,
    run: Run,
    versions: tuple[str, str],
    source: LabelSource,
    measures: Sequence[Measure],
    *,
    min_judged: float | None = None,
    unjudged: Unjudged | str | None = None,
    progress: Progress = silent,
) -> VersionComparison:
    """Measure a run under two versions of its data set, and the difference with a 95% bootstrap interval over questions.

    A question that has no value under one version is left out of the difference (`left_out`). If too few pairs have labels under
    one version, the difference and all values are withheld (`Score.withheld`). Raises `BadInputError` if both versions are equal.
    """
    runs = [under_version(workspace, run, version) for version in versions]
    names = (runs[0].manifest.dataset, runs[1].manifest.dataset)
    if names[0] == names[1]:
        raise BadInputError(f"Both versions are {names[0]}.", hint="Name two different versions.")
    first, second = (
        score_run(
            workspace, judgments, one, source, measures, min_judged=min_judged, unjudged=unjudged, progress=progress
        )
        for one in runs
    )
    compared = [
        compare({names[1]: new.shown_values, names[0]: old.shown_values}, bounds=m.differences)[0]
        for m, old, new in zip(measures, first, second, strict=True)
    ]
    before, after = (load_dataset(workspace, name) for name in names)
    place = {q.id: n for n, q in enumerate(before)}
    changed = [
        ChangedQuestion(
            change,
            {
                old.measure: (float(old.shown_values[n]), float(new.shown_values[n]))
                for old, new in zip(first, second, strict=True)
            },
        )
        for change in differences(before, after)
        for n in [place[change.question.id]]
    ]
    return VersionComparison(names, first, second, compared, changed, "cover(" in run.manifest.pipeline)


def rows_of(comparison: VersionComparison) -> list[dict[str, object]]:
    """Return one table row per measure: both means, their difference with its interval, and judged@k under both versions."""
    return [
        {
            "measure": old.measure,
            comparison.versions[0]: old.estimate.value,
            comparison.versions[1]: new.estimate.value,
            "difference": step.difference,
            "low": step.low,
            "high": step.high,
            "n": step.n,
            f"judged {comparison.versions[0]}": old.judged,
            f"judged {comparison.versions[1]}": new.judged,
            "labels": old.labels,
            "withheld": old.withheld or new.withheld,
        }
        for old, new, step in zip(comparison.first, comparison.second, comparison.differences, strict=True)
    ]


def question_rows(comparison: VersionComparison) -> list[dict[str, object]]:
    """Return one table row per question and measure: removed and added perspectives, and the values under both versions."""
    return [
        {
            "question": one.change.question.id,
            "text": one.change.question.text,
            "removed": [p.text for p in one.change.removed],
            "added": [p.text for p in one.change.added],
            "measure": measure,
            comparison.versions[0]: old,
            comparison.versions[1]: new,
            "difference": new - old if np.isfinite([old, new]).all() else np.nan,
        }
        for one in comparison.questions
        for measure, (old, new) in one.values.items()
    ]
