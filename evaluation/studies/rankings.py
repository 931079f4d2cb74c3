"""The rankings study: the same runs ranked under several label sources, and which systems swap places when the judge changes.

The comparison of Voorhees (Information Processing and Management 36, 2000): Kendall's tau between rankings of systems under
different assessors, and the pairs of systems that swap. Rank sets (`evaluation.statistics.rank_sets`) say beside it which places
the questions allow under each source, so that a swap among systems that no source tells apart is seen as such.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, cast

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.verdict_counts import verdict_counts
from berdseye.data.datasets.stored import GOLD
from berdseye.data.errors import BadInputError
from berdseye.data.labels import LabelStore
from berdseye.data.progress import Progress, silent
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.detectors.trained import detector_names
from berdseye.evaluation.charts import legend_below
from berdseye.evaluation.labels.consensus import CONSENSUS, METHODS
from berdseye.evaluation.labels.sources import HUMAN, LabelSource
from berdseye.evaluation.leaderboard.board import decided
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.measures.shown import FACTORS
from berdseye.evaluation.partial.rank_agreement import kendall_tau, signs
from berdseye.evaluation.scores.score import Score, without_questions
from berdseye.evaluation.scores.scoring import score_runs
from berdseye.evaluation.statistics.rank_sets import ranks_of
from berdseye.evaluation.studies.result import StudyResult, Table

_RANDOM = "random"
_WIDTH, _HEIGHT = 150, 40
_FEWEST = 2


def judging_sources(workspace: Workspace, judgments: Judgments) -> list[str]:
    """Return the label sources of the study by default: people, their consensus and gold labels if there are any, and every
    detector that is ready, except the one that guesses."""
    votes = verdict_counts(judgments)[["supports", "does_not_support"]].sum(axis=1)
    people = [HUMAN] if (votes > 0).any() else []
    agreed = [f"{CONSENSUS}({METHODS[0]})"] if (votes > 1).any() else []
    gold = [GOLD] if GOLD in LabelStore(workspace).sources() else []
    return [*people, *agreed, *gold, *(name for name in detector_names(workspace) if name != _RANDOM)]


def rankings_study(
    workspace: Workspace,
    judgments: Judgments,
    runs: Sequence[Run],
    sources: Sequence[LabelSource],
    measure: Measure,
    *,
    min_judged: float | None = None,
    progress: Progress = silent,
) -> StudyResult:
    """Rank the runs of one data set over one corpus under each label source, over the questions that have a value under all.

    Tables: the values with their intervals; the ranks with their rank sets; Kendall's tau-b and the number of swapped pairs of
    systems between every two sources; and these pairs, each with its difference under both. A swap is decided if both sources,
    each by itself, decide the order of the pair. A source under which a system has too few labels is left out, with a note.
    Raises `BadInputError` for corrected sources, and if there are fewer than two systems, two sources or two questions.
    """
    if any(source.corrected for source in sources):
        raise BadInputError(
            "A corrected label source has no values by question.", hint="Name its detector, or human, with --labels."
        )
    if len(runs) < _FEWEST:
        raise BadInputError("A ranking needs at least two systems.", hint="Run another pipeline.")
    found: dict[str, dict[str, Score]] = {}
    notes = []
    for source in sources:
        scores = score_runs(workspace, judgments, runs, source, [measure], min_judged=min_judged, progress=progress)
        if any(s.withheld or s.estimate.n < _FEWEST for s in scores):
            notes.append(f"{source} is left out: it has too few labels for {measure} of some system.")
        else:
            found[str(source)] = {s.pipeline: s for s in scores}
    if len(found) < _FEWEST:
        raise BadInputError(
            " ".join([f"Fewer than two label sources have enough labels for {measure}.", *notes]),
            hint="Name other sources with --labels, or judge more pairs.",
        )
    values = np.array([s.values for scores in found.values() for s in scores.values()])
    shared = ~np.isnan(values).any(axis=0)
    if shared.sum() < _FEWEST:
        raise BadInputError(
            f"Only {int(shared.sum())} questions have a value under {', '.join(found)}.",
            hint="Name fewer sources with --labels.",
        )
    ranked = {
        source: dict(zip(scores, without_questions(list(scores.values()), (~shared).tolist()), strict=True))
        for source, scores in found.items()
    }
    setting = f"{measure}, {runs[0].manifest.dataset} over {runs[0].manifest.corpus}"
    return StudyResult(
        "rankings",
        {
            "dataset": runs[0].manifest.dataset,
            "corpus": runs[0].manifest.corpus,
            "measure": str(measure),
            "labels": list(map(str, sources)),
            "systems": [run.manifest.pipeline for run in runs],
        },
        _tables(ranked, measure, setting),
        {"rankings": _chart(_ranks(ranked, measure), setting)},
        (*notes, f"All values are over the same {int(shared.sum())} questions."),
    )


def _tables(ranked: Mapping[str, Mapping[str, Score]], measure: Measure, setting: str) -> list[Table]:
    factor = FACTORS[measure.unit]
    values = pd.DataFrame(
        [
            {"system": system, "source": source, **score.shown._asdict(), **_stamp(score)}
            for source, scores in ranked.items()
            for system, score in scores.items()
        ]
    )
    pairs, swaps = _agreement(ranked, measure, factor)
    tables = [
        Table("rankings-values", f"Values by label source: {setting}", values, ("system",), ("source",)),
        Table(
            "rankings-ranks", f"Ranks by label source, with the ranks that the data allow: {setting}",
            _ranks(ranked, measure), ("system",), ("source",), 0,
            ("In brackets: the best and the worst rank that the questions allow, with 95% confidence for all systems of a label "
             "source together.",),
        ),
        Table(
            "rankings-agreement", f"Agreement of the rankings under two label sources: {setting}", pairs,
            ("first", "second"), ("figure",), 2,
            ("Decided swaps: both sources, each by itself, decide the order of the two systems.",),
        ),
    ]  # fmt: skip
    if len(swaps):
        tables.append(
            Table(
                "rankings-swaps", f"Systems that swap places when the label source changes: difference of the two, {setting}",
                swaps, ("first", "second", "system", "other"), ("under",), 1,
                ("The value of 'system' minus that of 'other', under the first and the second source.",),
            )
        )  # fmt: skip
    return tables


def _stamp(score: Score) -> dict[str, object]:
    return {"judged": score.judged, "labels": score.labels, "detector_version": score.detector_version}


def _ranks(ranked: Mapping[str, Mapping[str, Score]], measure: Measure) -> pd.DataFrame:
    """Return one row for each source and system: its rank (ties share the mean rank) and, as low and high, its rank set."""
    rows: list[dict[str, Any]] = []
    for source, scores in ranked.items():
        sets = ranks_of(list(scores), _decided(scores))
        places = pd.Series([s.estimate.value for s in scores.values()]).rank(ascending=measure.unit == "passages")
        rows += [
            {
                "system": system, "source": source, "value": place, "low": sets[system].best, "high": sets[system].worst,
                "n": score.estimate.n, **_stamp(score),
            }
            for (system, score), place in zip(scores.items(), places.tolist(), strict=True)
        ]  # fmt: skip
    return pd.DataFrame(rows)


def _decided(scores: Mapping[str, Score]) -> list[tuple[str, str]]:
    return decided({system: [score] for system, score in scores.items()})


def _agreement(
    ranked: Mapping[str, Mapping[str, Score]], measure: Measure, factor: float
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the figures of every two sources, and the pairs of systems that swap."""
    systems = list(next(iter(ranked.values())))
    of_pairs = list(combinations(systems, 2))
    means = {source: np.array([scores[s].estimate.value for s in systems]) for source, scores in ranked.items()}
    orders = {source: {frozenset(pair) for pair in _decided(scores)} for source, scores in ranked.items()}
    figures: list[dict[str, Any]] = []
    swaps: list[dict[str, Any]] = []
    for first, second in combinations(ranked, 2):
        ours, theirs = signs(means[first]).astype(np.int64), signs(means[second]).astype(np.int64)
        swapped = np.flatnonzero(ours * theirs < 0).tolist()
        sure = [n for n in swapped if frozenset(of_pairs[n]) in orders[first] & orders[second]]
        counts = {
            "Kendall's tau": float(kendall_tau(means[first], means[second])),
            "pairs": float(len(of_pairs)),
            "swaps": float(len(swapped)),
            "decided swaps": float(len(sure)),
        }
        figures += [
            {"first": first, "second": second, "figure": name, "value": value} for name, value in counts.items()
        ]
        for n in swapped:
            pair = of_pairs[n] if (ours[n] > 0) != (measure.unit == "passages") else of_pairs[n][::-1]
            a, b = (systems.index(name) for name in pair)
            swaps += [
                {
                    "first": first, "second": second, "system": pair[0], "other": pair[1], "under": under,
                    "value": factor * float(means[source][a] - means[source][b]), "decided": n in sure,
                }
                for under, source in (("the first", first), ("the second", second))
            ]  # fmt: skip
    return pd.DataFrame(figures), pd.DataFrame(swaps)


def _chart(ranks: pd.DataFrame, title: str) -> alt.LayerChart:
    """Draw the rank of each system under each source, with its rank set, and lines between sources."""
    sources = list(dict.fromkeys(ranks["source"]))
    base = alt.Chart(ranks.drop(columns="detector_version"), title=title).encode(
        x=alt.X("source:N", sort=sources, title=None, axis=alt.Axis(labelAngle=0, labelLimit=160)),
        xOffset=alt.XOffset("system:N"),
        color=alt.Color("system:N", title=None, legend=legend_below(ranks["system"], symbolOpacity=1)),
    )
    places: npt.NDArray[np.int64] = np.arange(1, ranks["system"].nunique() + 1)
    scale = alt.Scale(reverse=True, domain=[0.5, len(places) + 0.5])
    y = alt.Y("value:Q", title="rank", scale=scale, axis=alt.Axis(values=places.tolist(), format="d"))
    tooltip = ["system", "source", "value", "low", "high", "n"]
    lines = base.mark_line(strokeWidth=2, opacity=0.6).encode(y=y)
    spans = base.mark_rule(strokeWidth=2, opacity=0.6).encode(y=alt.Y("low:Q", scale=scale, title="rank"), y2="high:Q")
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(y=y, tooltip=tooltip)
    size = {"width": _WIDTH * len(sources), "height": _HEIGHT * (len(places) + 1)}
    return cast(alt.LayerChart, alt.layer(lines, spans, dots).properties(**size))
