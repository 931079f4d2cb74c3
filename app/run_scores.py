"""Scores of runs from the labelled runs that all pages share, for what is shown alone: changing a test, a chart or a measure for
another of its depth reads no label again."""

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from berdseye.annotation.judging_time import seconds_by_pair
from berdseye.app.labelled import labelled, pool, pool_runs, state
from berdseye.app.session import judgments, workspace
from berdseye.data.runs import RunManifest, list_runs, load_run
from berdseye.evaluation.enough_judged import min_judged_of
from berdseye.evaluation.label_sources import HUMAN, LabelSource, parse_label_source
from berdseye.evaluation.labelled_runs import LabelledRun
from berdseye.evaluation.leaderboard.board import board
from berdseye.evaluation.leaderboard.costs import judging_minutes, system_costs
from berdseye.evaluation.measures import Measure, parse_measure
from berdseye.evaluation.scoring import (
    PeopleSample,
    Score,
    provenance,
    refuse_without_sample,
    samples_of,
    score_run,
    scores_of,
)
from berdseye.evaluation.significance import Test
from berdseye.evaluation.studies.comparing import at_growing_k, points_by_k

Made = tuple[tuple[object, ...], ...]
"""Runs by name and state: those that were made anew, or whose labels are others, are others."""


def made(runs: list[RunManifest], source: str) -> Made:
    """What stands for runs in what is kept of them."""
    plain = str(parse_label_source(source).plain)
    return tuple((run.name, *state(run, plain), pool_runs(run)) for run in runs)


def systems(kept: Made, source: str, depth: int) -> dict[str, list[LabelledRun]]:
    """The labelled runs of each system (pipeline and corpus), on its data sets in their order, to a depth."""
    found: dict[str, list[LabelledRun]] = {}
    for run in manifests(kept):
        found.setdefault(f"{run.pipeline}, {run.corpus}", []).append(labelled(run, source, depth=depth))
    return found


def counted(kept: Made, source: str) -> dict[str, list[npt.NDArray[np.bool_]]]:
    """Which questions of each system's runs count, in the order of `systems`."""
    found: dict[str, list[npt.NDArray[np.bool_]]] = {}
    for run in manifests(kept):
        found.setdefault(f"{run.pipeline}, {run.corpus}", []).append(pool(run, source).counted.questions)
    return found


@st.cache_data(max_entries=50, show_spinner="Scoring the runs…")
def standings(runs: Made, source: str, measure: str, test: Test, correction: str, version: int) -> pd.DataFrame:
    """The board of some runs by one measure; `version` is that of the judgments."""
    return board(_scores(runs, source, measure, version), test=test, correction=correction)


@st.cache_data(max_entries=50, show_spinner="Scoring the runs at growing k…")
def by_k(runs: Made, source: str, measure: str, deepest: int, version: int) -> pd.DataFrame:
    """Points of a measure, by its name without a cutoff, at growing k for each system; `version` is that of the judgments."""
    del version  # part of the key
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


@st.cache_data(max_entries=50, show_spinner="Adding up what the runs cost…")
def costs(runs: Made, source: str, k: int, version: int) -> pd.DataFrame:
    """What the systems cost; minutes are of judging the pairs of the top k. `version` is that of the judgments."""
    del version  # part of the key
    held, seconds = manifests(runs), seconds_by_pair(judgments())
    plain = str(parse_label_source(source).plain)
    return system_costs(
        held, {run.name: judging_minutes(labelled(run, plain, depth=k).keys, seconds, k) for run in held}
    )


@st.cache_data(max_entries=50, show_spinner=False)
def _scores(runs: Made, source: str, measure: str, version: int) -> list[Score]:
    del version  # part of the key
    parsed, by = [parse_measure(measure)], parse_label_source(source)
    scores = [score for run in manifests(runs) for score in _score(run, by, parsed)]
    refuse_without_sample(scores, "none of these runs", by)
    return scores


def _score(run: RunManifest, source: LabelSource, measures: list[Measure]) -> list[Score]:
    """Scores as `score_run` gives them; a corrected mean without a random sample has no value here."""
    pooled = any(m.pooled for m in measures)
    deepest = max(m.k for m in measures)
    if pooled and source.corrected:  # which is refused
        return score_run(workspace(), judgments(), load_run(workspace(), run.name), source, measures)
    made_by, people = provenance(workspace(), run, source), None
    known, floor = pool(run, str(source), labels=pooled), min_judged_of(workspace())
    if pooled and known.qrels is not None:
        ids = load_run(workspace(), run.name).ids[:, :deepest]
        return scores_of(measures, known.qrels.support(ids), known.counted, None, min_judged=floor, **made_by)
    if source.corrected:
        said = labelled(run, HUMAN, depth=deepest)
        people = PeopleSample(said.support, samples_of(judgments(), run.dataset, said, measures))
    support = labelled(run, str(source.plain), depth=deepest).support
    return scores_of(measures, support, known.counted, people, min_judged=floor, **made_by)


def manifests(runs: Made) -> list[RunManifest]:
    """Those of the runs that are still as they were."""
    wanted = {(name, created) for name, created, *_ in runs}
    return [run for run in list_runs(workspace()) if (run.name, run.created) in wanted]
