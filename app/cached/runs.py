"""Labelled runs, and their scores, kept for all pages and sessions.

Choosing another test, another chart, or another measure of the same depth reads no label again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from glob import escape as glob_escape
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from berdseye.annotation.judgments.pace import seconds_by_pair
from berdseye.app.access.session import judgments, workspace
from berdseye.app.cached.cached_on import cached_on, judgments_version
from berdseye.app.cached.questions import questions_of
from berdseye.data.datasets.stored import split_version, version_file
from berdseye.data.runs.stored import Run, RunManifest, list_runs, load_run
from berdseye.evaluation.failures.reasons import POOL_DEPTH
from berdseye.evaluation.labels.labelled_runs import KeyedRun, LabelledRun, keyed_run, with_labels
from berdseye.evaluation.labels.sources import LabelSource, label_versions, parse_label_source
from berdseye.evaluation.labels.support import judged_together
from berdseye.evaluation.leaderboard.board import board
from berdseye.evaluation.leaderboard.costs import judging_minutes, system_costs
from berdseye.evaluation.measures import Measure, parse_measure, parse_measures
from berdseye.evaluation.scores.counted import under_rule
from berdseye.evaluation.scores.enough_judged import min_judged_of
from berdseye.evaluation.scores.score import Score
from berdseye.evaluation.scores.scoring import Pool, pool_of, refuse_without_sample, score_read
from berdseye.evaluation.scores.unjudged import unjudged_of
from berdseye.evaluation.scores.versions import under_version
from berdseye.evaluation.statistics.significance import Test
from berdseye.evaluation.studies.comparing import at_growing_k, points_by_k

_MOST, _MOST_POOLED = 32, 8
_State = tuple[object, ...]
Made = tuple[tuple[object, ...], ...]
"""Runs by name and state, so that a run that was replaced or relabelled is another key."""


def labelled(run: RunManifest, source: str, version: str = "", depth: int = POOL_DEPTH) -> LabelledRun:
    """Return the first `depth` passages of a stored run with the labels of a source; do not change them.

    A detector predicts what it has not predicted yet, so that a small depth is ready sooner. `version` names another version of
    the run's data set. Raises `StaleError` if the run no longer fits its data set or corpus.
    """
    parsed, depth = parse_label_source(source), min(depth, run.k)
    if parsed.corrected or len(parsed.parts) == 1 or not parsed.asks_detector:
        return _part(run, parsed, version, depth)
    # Kept apart: people's labels change with every judgment, a detector's do not.
    by_people = _part(run, LabelSource(parsed.parts[:-1]), version, depth)
    by_detector = _part(run, LabelSource(parsed.parts[-1:]), version, depth)
    return replace(by_detector, labels=np.where(np.isnan(by_people.labels), by_detector.labels, by_people.labels))


def _part(run: RunManifest, source: LabelSource, version: str, depth: int) -> LabelledRun:
    return _deepest(run.name, version or run.dataset, str(source), _made(run, version)).to(depth)


class _Deepest:
    """A stored run with the labels of a source, to the greatest depth that was asked for so far."""

    def __init__(self, name: str, version: str, source: LabelSource, made: "_State") -> None:
        self._name, self._version, self._source, self._made = name, version, source, made
        self._reading = Lock()
        self._held: LabelledRun | None = None
        self._known = 0

    def to(self, depth: int) -> LabelledRun:
        """Return its first `depth` passages; nothing is read twice."""
        with self._reading:
            if self._held is None or self._known < depth:
                with st.spinner("Reading the run and its labels…"):
                    self._held = self._read(depth)
            return self._held.top(depth)

    def _read(self, depth: int) -> LabelledRun:
        keyed = _keyed(self._name, self._version, depth, self._made)
        held = with_labels(workspace(), judgments(), keyed, self._source, ask=False)
        self._known = held.labelled_depth if self._source.asks_detector else held.ids.shape[1]
        if self._known < depth:
            held = with_labels(workspace(), judgments(), keyed.top(depth), self._source)
            self._known = depth
        return held


def pool(run: RunManifest, source: str, version: str = "", *, labels: bool = False) -> Pool:
    """Return the pool that a stored run is scored with (`berdseye.evaluation.scores.scoring.pool_of`): which questions count and,
    with `labels`, which measures of recall need, the labels of all runs on its data set and corpus."""
    held, dataset = workspace(), version or run.dataset
    files = (version_file(held, dataset), held.corpus_folder(run.corpus) / "manifest.json")
    plain = str(parse_label_source(source).plain)
    made_of = (run.corpus, *map(_written, files), *_labels(plain), pool_runs(run))
    return _pool(dataset, plain, labels, made_of, run.name)


def pool_runs(run: RunManifest) -> _State:
    """Return the files and times of the runs that may be in the pool of a run's data set and corpus: a new run may make more
    questions count. Manifests are not read, since a page would take longer the more runs there are."""
    named = workspace().runs_folder.glob(f"{glob_escape(split_version(run.dataset)[0])}*.json")
    return tuple(sorted((path.name, path.stat().st_mtime_ns) for path in named))


def state(run: RunManifest, source: str, version: str = "") -> _State:
    """Return a value that changes whenever the run, its questions, its corpus or the labels of a source change."""
    return (*_made(run, version), *_labels(source))


def _made(run: RunManifest, version: str) -> _State:
    held = workspace()
    files = (version_file(held, version or run.dataset), held.corpus_folder(run.corpus) / "manifest.json")
    return (run.created, *map(_written, files))


def _labels(source: str) -> _State:
    return tuple(sorted(label_versions(workspace(), judgments(), parse_label_source(source)).items()))


def _written(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


@cached_on(lambda name, version, source, made: _labels(source), max_entries=_MOST, shared=True)
def _deepest(name: str, version: str, source: str, made: _State) -> _Deepest:
    return _Deepest(name, version, parse_label_source(source), made)


@cached_on(lambda name, version, depth, _made: _made, max_entries=_MOST, shared=True)
def _keyed(name: str, version: str, depth: int, _made: _State) -> KeyedRun:
    """Return the pair keys of a run, which all label sources share."""
    run = load_run(workspace(), name)
    if version != run.manifest.dataset:
        run = under_version(workspace(), run, version)
    return keyed_run(workspace(), run, list(questions_of(version).values()), depth, deeper=True)


@cached_on(
    lambda dataset, source, labels, _state, _run: _state,
    max_entries=_MOST_POOLED,
    show_spinner="Pooling the labels of all runs…",
    shared=True,
)
def _pool(dataset: str, source: str, labels: bool, _state: _State, _run: str) -> Pool:
    """The pool is the same for all runs of a data set and corpus, so that the run that it is read for is no part of the key."""
    run = under_version(workspace(), load_run(workspace(), _run), dataset)
    measures = parse_measures("nDCG" if labels else "MRecall@1")
    return pool_of(workspace(), judgments(), run, parse_label_source(source), measures)


def made(runs: list[RunManifest], source: str) -> Made:
    """Return the keys under which results of runs are kept: they change with the rule and the floor of the settings, too."""
    rule = (unjudged_of(workspace()), min_judged_of(workspace()))
    return tuple((run.name, *state(run, source), pool_runs(run), rule) for run in runs)


def systems(kept: Made, source: str, depth: int) -> dict[str, list[LabelledRun]]:
    """Return the labelled runs of each system (pipeline and corpus), one for each data set, to a depth."""
    found: dict[str, list[LabelledRun]] = {}
    for run in manifests(kept):
        found.setdefault(f"{run.pipeline}, {run.corpus}", []).append(labelled(run, source, depth=depth))
    return found


def counted(
    kept: Made, source: str, systems: Mapping[str, Sequence[LabelledRun]], k: int
) -> dict[str, list[npt.NDArray[np.bool_]]]:
    """Return which questions of each system's runs count for their top k under the rule of the settings; `systems` is the
    result of `systems` to a depth of at least k."""
    rule, found = unjudged_of(workspace()), dict[str, list[npt.NDArray[np.bool_]]]()
    for run in manifests(kept):
        of_system = found.setdefault(f"{run.pipeline}, {run.corpus}", [])
        support = systems[f"{run.pipeline}, {run.corpus}"][len(of_system)].support
        of_system.append(under_rule(pool(run, source).counted.questions, support, k, rule))
    return found


@cached_on(judgments_version, max_entries=50, show_spinner="Scoring the runs…")
def standings(runs: Made, source: str, measure: str, test: Test, correction: str) -> pd.DataFrame:
    """The leaderboard of some runs by one measure."""
    return board(_scores(runs, source, measure), test=test, correction=correction)


@cached_on(judgments_version, max_entries=50)
def shares_without_detector(runs: Made, source: str, k: int) -> dict[str, float]:
    """The share of the pairs of the top k whose label comes from a part of the source before its detector (people or gold), by
    system; empty for a source that does not mix both."""
    plain = parse_label_source(source).plain
    if not plain.asks_detector or len(plain.parts) < 2:
        return {}
    before = ">".join(plain.parts[:-1])
    own = made(manifests(runs), before)
    return {
        system: judged_together(
            ((run.support, np.ones(len(run.questions), dtype=np.bool_)) for run in labelled_runs), k
        )
        for system, labelled_runs in systems(own, before, k).items()
    }


def score_of(run: RunManifest, source: str, measure: str) -> Score:
    """Return the score of one run by one measure."""
    [score] = _scores(made([run], source), source, measure)
    return score


@cached_on(judgments_version, max_entries=50, show_spinner="Scoring the runs at growing k…")
def by_k(runs: Made, source: str, measure: str, deepest: int) -> pd.DataFrame:
    """Points of a measure, named without a cutoff, at growing k for each system."""
    growing = at_growing_k(measure, deepest)
    held: dict[tuple[str, str], list[Score]] = {}
    for run in manifests(runs):
        found = _score(run, parse_label_source(source).plain, growing)
        held.setdefault((run.corpus, run.pipeline), []).extend(found)
    return pd.DataFrame(
        [
            {"corpus": corpus, "pipeline": pipeline, **point}
            for (corpus, pipeline), scores in held.items()
            for point in points_by_k(scores, growing, min_judged_of(workspace()))
        ]
    )


@cached_on(judgments_version, max_entries=50, show_spinner="Adding up what the runs cost…")
def costs(runs: Made, source: str, k: int) -> pd.DataFrame:
    """What the systems cost; the minutes are those that people took to judge the pairs of the top k."""
    held, seconds = manifests(runs), seconds_by_pair(judgments())
    plain = str(parse_label_source(source).plain)
    return system_costs(
        held, {run.name: judging_minutes(labelled(run, plain, depth=k).keys, seconds, k) for run in held}
    )


@cached_on(judgments_version, max_entries=50)
def _scores(runs: Made, source: str, measure: str) -> list[Score]:
    parsed, by = [parse_measure(measure)], parse_label_source(source)
    scores = [score for run in manifests(runs) for score in _score(run, by, parsed)]
    refuse_without_sample(scores, "these runs", by)
    return scores


@dataclass(frozen=True)
class _Kept:
    """Reads a run for scoring from what all sessions share."""

    manifest: RunManifest

    def run(self) -> Run:
        return load_run(workspace(), self.manifest.name)

    def labelled(self, source: LabelSource, k: int) -> LabelledRun:
        return labelled(self.manifest, str(source), depth=k)

    def pool(self, source: LabelSource, measures: Sequence[Measure]) -> Pool:
        return pool(self.manifest, str(source), labels=any(m.pooled for m in measures))


def _score(run: RunManifest, source: LabelSource, measures: list[Measure]) -> list[Score]:
    return score_read(workspace(), judgments(), run, source, measures, _Kept(run))


def manifests(runs: Made) -> list[RunManifest]:
    """Return the manifests of those runs that have not been replaced."""
    wanted = {(name, created) for name, created, *_ in runs}
    return [run for run in list_runs(workspace()) if (run.name, run.created) in wanted]
