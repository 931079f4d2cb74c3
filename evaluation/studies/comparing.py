"""Comparison studies: significant differences between systems, measures by k, and detector scores corrected by people's
judgments."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.data.errors import BadInputError
from berdseye.evaluation.labels.sources import LabelSource
from berdseye.evaluation.labels.support import Pairs, share_labelled
from berdseye.evaluation.measures import Measure, parse_measure, parse_measures
from berdseye.evaluation.measures.shown import FACTORS
from berdseye.evaluation.scores.corrected import corrected_mean
from berdseye.evaluation.scores.enough_judged import MIN_JUDGED, below, enough_judged, withheld
from berdseye.evaluation.scores.posterior_draws import mean_of_draws
from berdseye.evaluation.scores.sampled_labels import SampledLabels
from berdseye.evaluation.scores.score import Score
from berdseye.evaluation.statistics.intervals import mean_with_interval
from berdseye.evaluation.statistics.significance import Comparison, Test, adjusted, compare, withheld_difference
from berdseye.evaluation.studies.charts import curves, dots
from berdseye.evaluation.studies.gathering import Gatherer, Scores, Selection
from berdseye.evaluation.studies.result import StudyResult, Table

_WITHHELD = "Too few pairs in the top k of {} have labels: differences from it are not computed over those questions."
_PAIR_WITHHELD = "{} is not computed: over the questions with a value for both, too few pairs in the top k have labels."
_KS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100)


def comparisons(
    gatherer: Scores,
    selection: Selection,
    measure: str,
    *,
    test: Test = "randomisation",
    correction: str = "holm",
    seed: int = 0,
) -> StudyResult:
    """Compare every pair of systems (pipeline and corpus) on the same questions: difference, interval and significance.

    judged@k is that of the system of the pair with the smaller share of labels, over the questions of the difference, which is
    withheld if it is below the floor. Raises `BadInputError` for fewer than two systems.
    """
    scores = [s for s in gatherer.scores(selection, parse_measures(measure)) if s.dataset != "average"]
    by_system: dict[str, list[Score]] = {}
    for score in scores:
        by_system.setdefault(f"{score.pipeline}, {score.corpus}", []).append(score)
    if len(by_system) < 2:
        raise BadInputError("A comparison needs at least two systems.", hint="Name another corpus or pipeline.")
    values = {name: np.concatenate([s.shown_values for s in scores]) for name, scores in by_system.items()}
    without = sorted(name for name, scores in by_system.items() if any(s.withheld for s in scores))
    held = {name: np.concatenate([s.pairs for s in scores]) for name, scores in by_system.items()}
    judged = _judged_together(
        {name: np.concatenate([s.values for s in scores]) for name, scores in by_system.items()}, held
    )
    if gatherer.source.corrected:
        people = {name: np.concatenate([_people(s) for s in scores]) for name, scores in by_system.items()}
        sampled = {name: scores[0].sampled if len(scores) == 1 else None for name, scores in by_system.items()}
        said = {name: np.concatenate([s.detectors for s in scores], axis=1) for name, scores in by_system.items()}
        pairs = corrected_comparisons(people, said, correction, sampled)
    else:
        pairs = compare(values, test=test, correction=correction, bounds=parse_measure(measure).differences, seed=seed)
        pairs = [c if enough_judged(judged[c.a, c.b], gatherer.floor) else withheld_difference(c) for c in pairs]
        pairs = adjusted(pairs, correction)
    cells = pd.DataFrame(
        [
            {"first": c.a, "second": c.b, "figure": figure, "value": value, "low": low, "high": high, "n": c.n,
             "left_out": c.left_out, "p": c.p, "judged": judged[c.a, c.b], "labels": str(gatherer.source),
             "detector_version": scores[0].detector_version}
            for c in pairs
            for figure, value, low, high in (
                (f"difference in {measure}, points", 100 * c.difference, 100 * c.low, 100 * c.high),
                ("adjusted p", c.adjusted, None, None),
            )
        ]
    )  # fmt: skip
    method = "corrected means" if gatherer.source.corrected else f"{test} test"
    table = Table("compare", f"Systems compared by {measure}: {method}, {correction} correction for {len(pairs)} comparisons",
                  cells, ("first", "second"), ("figure",), digits=3)  # fmt: skip
    shown = cells[cells["figure"] != "adjusted p"]
    chart = dots(
        shown.assign(row=shown["first"] + " − " + shown["second"]), f"difference in {measure}, points", row="row"
    )
    settings = {**selection.settings(), "measure": measure, "test": test, "correction": correction, "seed": seed,
                "labels": str(gatherer.source)}  # fmt: skip
    few = _too_few(cells) if gatherer.source.corrected else _too_few_shared(cells)
    notes = [*few, *([_WITHHELD.format(", ".join(without))] if without else [])]
    notes += [
        _PAIR_WITHHELD.format(f"The difference of {c.a} and {c.b}")
        for c in pairs
        if not gatherer.source.corrected
        and not {c.a, c.b} & {*without}
        and not enough_judged(judged[c.a, c.b], gatherer.floor)
    ]
    return StudyResult("compare", settings, [table], {"differences": chart}, tuple(notes))


def _judged_together(
    values: Mapping[str, npt.NDArray[np.float64]], pairs: Mapping[str, Pairs]
) -> dict[tuple[str, str], float]:
    """Return the smaller judged@k of every two systems, over the questions that have a value for both."""
    together = {}
    for a, b in combinations(values, 2):
        both = ~np.isnan(values[a] - values[b])
        together[a, b] = min(share_labelled(pairs[one][both]) for one in (a, b))
    return together


def corrected_comparisons(
    people: dict[str, npt.NDArray[np.float64]],
    detector: dict[str, npt.NDArray[np.float64]],
    correction: str,
    sampled: Mapping[str, SampledLabels | None] | None = None,
) -> list[Comparison]:
    """Compare every pair of systems by the difference of their corrected means.

    `people` and `detector` hold the values of each system by question, float64[n_questions] (of several detectors
    float64[n_detectors, n_questions]). People's values count on the
    questions that they judged completely for both systems. Two systems whose labels in `sampled` come from one batch of draws are
    compared by these draws instead.
    """
    comparisons = []
    for a, b in combinations(detector, 2):
        differences = detector[a] - detector[b]
        left_out = int(np.isnan(np.atleast_2d(differences)[0]).sum())
        ours, theirs = (sampled.get(a), sampled.get(b)) if sampled else (None, None)
        by_draws = ours.minus(theirs) if ours is not None and theirs is not None else None
        if by_draws is not None:
            value, low, high, n = by_draws.estimate
            comparisons.append(Comparison(a, b, value, low, high, n, left_out, "t", by_draws.p, by_draws.p))
            continue
        mean = corrected_mean(people[a] - people[b], differences, bounds=(-1.0, 1.0))
        value, low, high, n = mean.estimate
        comparisons.append(Comparison(a, b, value, low, high, n, left_out, "t", mean.p, mean.p))
    return adjusted(comparisons, correction)


def at_growing_k(name: str, deepest: int) -> list[Measure]:
    """Return a measure, named without a cutoff, at each of the cutoffs of curves up to `deepest`."""
    return parse_measures(" ".join(f"{name}@{k}" for k in _KS if k <= deepest))


def points_by_k(
    scores: Sequence[Score], measures: Sequence[Measure], min_judged: float = MIN_JUDGED
) -> list[dict[str, object]]:
    """Return one point per measure of one system, over the questions of its data sets that have a value at every k, so that
    points differ in k alone.

    Keys: `k`, `value`, `low` and `high` as tables show them, `n`, `judged` (the labelled share of these questions' pairs in the
    top k), `labels` and `detector_version`. A point has no value if fewer than a share `min_judged` of its pairs have a label.
    """
    points: list[dict[str, object]] = []
    by_measure = [np.concatenate([s.values for s in scores if s.measure == str(measure)]) for measure in measures]
    everywhere = ~np.isnan(by_measure).any(axis=0)
    counted = everywhere if everywhere.any() else np.ones_like(everywhere)
    for measure, values in zip(measures, by_measure, strict=True):
        of_measure = [s for s in scores if s.measure == str(measure)]
        judged = share_labelled(np.concatenate([s.pairs for s in of_measure])[counted])
        if any(s.posterior_draws is not None for s in of_measure):
            draws = np.concatenate([_draws(s) for s in of_measure], axis=1)
            estimate = mean_of_draws(np.where(everywhere, draws, np.nan), measure.bounds)
        else:
            estimate = mean_with_interval(np.where(everywhere, values, np.nan), bounds=measure.bounds)
        estimate = withheld(estimate, judged, min_judged)
        value, low, high = (FACTORS[measure.unit] * x for x in estimate[:3])
        points.append({"k": measure.k, "value": value, "low": low, "high": high, "n": estimate.n,
                       "judged": judged, "labels": of_measure[0].labels,
                       "detector_version": of_measure[0].detector_version})  # fmt: skip
    return points


def missing_points(points: pd.DataFrame, min_judged: float = MIN_JUDGED) -> str:
    """Return a note on the points for which `points_by_k` withholds the value; an empty text if there are none."""
    missing = points[points["value"].isna() & (points["judged"] < min_judged)]
    if missing.empty:
        return ""
    ks = ", ".join(map(str, sorted(missing["k"].unique())))
    return f"{len(missing)} of {len(points)} points are not drawn, at k = {ks}: {below(min_judged)}."


def k_curves(gatherer: Gatherer, selection: Selection, measure: str, *, deepest: int = 20) -> StudyResult:
    """Compute a measure by k for each system, over all questions of the data sets; the chart has one line per system."""
    parsed = at_growing_k(measure, deepest)
    gatherer, rows = replace(gatherer, source=gatherer.source.plain), []
    gatherer.runs(selection, max(m.k for m in parsed))
    for corpus, pipeline in product(selection.corpora, selection.pipelines):
        one = Selection(selection.datasets, (corpus,), (pipeline,))
        scores = [s for s in gatherer.scores(one, parsed) if s.dataset != "average"]
        rows += [
            {"corpus": corpus, "pipeline": pipeline, **point} for point in points_by_k(scores, parsed, gatherer.floor)
        ]
    cells = pd.DataFrame(rows)
    table = Table(f"{measure.lower()}-by-k", f"{measure} at k, in percent", cells, ("corpus", "pipeline"), ("k",))
    shown = cells.assign(system=cells["pipeline"] + ", " + cells["corpus"])
    chart = curves(shown, x="k", x_title="k", y_title=f"{measure}@k, percent", colour="system")
    settings = {**selection.settings(), "measure": measure, "deepest": deepest, "labels": str(gatherer.source)}
    missing = missing_points(cells, gatherer.floor)
    return StudyResult("curves", settings, [table], {"by-k": chart}, (missing,) if missing else ())


def correction(gatherer: Gatherer, selection: Selection, measures: Sequence[str]) -> StudyResult:
    """Compare each detector's mean, people's mean over the questions they judged completely, and the corrected mean, with
    intervals. A source that is not corrected counts as its detector."""
    source = gatherer.source if gatherer.source.corrected else LabelSource(gatherer.source.parts[-1:], corrected=True)
    rows = []
    for score in replace(gatherer, source=source).scores(selection, parse_measures(" ".join(measures))):
        if score.dataset == "average":
            continue
        by_people = _people(score)
        bounds = parse_measure(score.measure).bounds
        corrected = corrected_mean(by_people, score.detectors, bounds=bounds)
        by_detector = {
            name if source.further else "detector": mean_with_interval(values, bounds=bounds)
            for name, values in zip(source.parts, score.detectors, strict=True)
        }
        names = dict(zip(by_detector, source.parts, strict=True))
        estimates = {
            **by_detector,
            "people": mean_with_interval(by_people, bounds=bounds),
            "corrected": corrected.estimate if score.sampled is None else score.estimate,
        }
        weight = corrected.weight if score.sampled is None else score.sampled.estimated.weight
        weights = corrected.weights if score.sampled is None else score.sampled.weights
        of_each = dict(zip(names, weights, strict=False)) if source.further else {}
        for by, (value, low, high, n) in estimates.items():
            rows.append({"corpus": score.corpus, "pipeline": score.pipeline, "dataset": score.dataset,
                         "measure": score.measure, "by": by, "value": 100 * value, "low": 100 * low, "high": 100 * high,
                         "n": n, "judged": 1.0 if by in names else score.judged,
                         "labels": "human" if by == "people" else names.get(by, str(source)),
                         "detector_version": score.detector_version, "weight": of_each.get(by, weight)})  # fmt: skip
    cells = pd.DataFrame(rows)
    table = Table(
        "corrected",
        f"Values by {'each' if source.further else 'the'} detector, by people, and corrected by people, in percent",
        cells,
        ("dataset", "corpus", "pipeline", "measure"),
        ("by",),
        notes=(
            "People judge questions that a batch drew at random; n counts the questions that they judged completely. Without "
            "such a batch, n counts the draws of batches whose order is a sampling, and people alone have no value.",
        ),
    )
    shown = cells.assign(row=cells["measure"] + ", " + cells["pipeline"] + ", " + cells["corpus"])
    settings = {**selection.settings(), "measures": list(measures), "labels": str(source)}
    chart = dots(shown, "percent", row="row", colour="by")
    return StudyResult("corrected", settings, [table], {"corrected": chart}, _too_few(cells))


def _too_few(cells: pd.DataFrame) -> tuple[str, ...]:
    if (cells["n"] > 1).all():
        return ()
    return (
        "For some systems, fewer than two questions were drawn at random and judged completely, or fewer than two draws of a "
        "batch were judged. Create a batch with `berdseye "
        "batch create NAME --preset random-questions --run RUN`.",
    )


def _too_few_shared(cells: pd.DataFrame) -> tuple[str, ...]:
    return (
        () if (cells["n"] > 1).all() else ("Some systems share fewer than two questions for which both have a value.",)
    )


def _draws(score: Score) -> npt.NDArray[np.float64]:
    return score.values[None] if score.posterior_draws is None else score.posterior_draws


def _people(score: Score) -> npt.NDArray[np.float64]:
    return score.people if score.people is not None else np.full(len(score.values), np.nan)
