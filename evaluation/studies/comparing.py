"""Which systems differ beyond chance, how measures grow with k, and what people's judgments make of a detector's numbers."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.data.errors import BadInputError
from berdseye.evaluation.labels.sources import LabelSource
from berdseye.evaluation.measures import Measure, parse_measure, parse_measures
from berdseye.evaluation.scores.corrected import corrected_mean
from berdseye.evaluation.scores.enough_judged import MIN_JUDGED, below, withheld
from berdseye.evaluation.scores.scoring import Score
from berdseye.evaluation.statistics.intervals import mean_with_interval
from berdseye.evaluation.statistics.significance import Comparison, Test, adjusted, compare
from berdseye.evaluation.studies.charts import curves, dots
from berdseye.evaluation.studies.gathering import Gatherer, Scores, Selection
from berdseye.evaluation.studies.result import StudyResult, Table

_WITHHELD = "Too few pairs of the top k of {} are judged: there is no difference from it over those questions."
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
    """Every two systems (pipeline and corpus) on the same questions: the difference, its interval, and whether it is chance.

    judged@k is that of the system of the two that fewer labels are known of.
    """
    scores = [s for s in gatherer.scores(selection, parse_measures(measure)) if s.dataset != "average"]
    by_system: dict[str, list[Score]] = {}
    for score in scores:
        by_system.setdefault(f"{score.pipeline}, {score.corpus}", []).append(score)
    if len(by_system) < 2:
        raise BadInputError("One system has nothing to be compared with.", hint="Name another corpus or pipeline.")
    values = {name: np.concatenate([s.shown_values for s in held]) for name, held in by_system.items()}
    without = sorted(name for name, held in by_system.items() if any(s.withheld for s in held))
    if gatherer.source.corrected:
        people = {name: np.concatenate([_people(s) for s in held]) for name, held in by_system.items()}
        found = corrected_comparisons(people, values, correction)
    else:
        found = compare(values, test=test, correction=correction, bounds=parse_measure(measure).differences, seed=seed)
    judged = {name: float(np.mean([s.judged for s in held])) for name, held in by_system.items()}
    cells = pd.DataFrame(
        [
            {"first": c.a, "second": c.b, "figure": figure, "value": value, "low": low, "high": high, "n": c.n,
             "left_out": c.left_out, "p": c.p, "judged": min(judged[c.a], judged[c.b]), "labels": str(gatherer.source),
             "detector_version": scores[0].detector_version}
            for c in found
            for figure, value, low, high in (
                (f"difference in {measure}, points", 100 * c.difference, 100 * c.low, 100 * c.high),
                ("adjusted p", c.adjusted, None, None),
            )
        ]
    )  # fmt: skip
    told = "corrected means" if gatherer.source.corrected else f"{test} test"
    table = Table("compare", f"Systems compared by {measure}: {told}, {correction} correction for {len(found)} comparisons",
                  cells, ("first", "second"), ("figure",), digits=3)  # fmt: skip
    shown = cells[cells["figure"] != "adjusted p"]
    chart = dots(
        shown.assign(row=shown["first"] + " − " + shown["second"]), f"difference in {measure}, points", row="row"
    )
    settings = {**selection.settings(), "measure": measure, "test": test, "correction": correction, "seed": seed,
                "labels": str(gatherer.source)}  # fmt: skip
    notes = (*_too_few(cells), *([_WITHHELD.format(", ".join(without))] if without else []))
    return StudyResult("compare", settings, [table], {"differences": chart}, notes)


def corrected_comparisons(
    people: dict[str, npt.NDArray[np.float64]], detector: dict[str, npt.NDArray[np.float64]], correction: str
) -> list[Comparison]:
    """The same by differences of corrected means, over the questions that people judged whole for both systems."""
    found = []
    for a, b in combinations(detector, 2):
        guessed = detector[a] - detector[b]
        mean = corrected_mean(people[a] - people[b], guessed, bounds=(-1.0, 1.0))
        value, low, high, n = mean.estimate
        found.append(Comparison(a, b, value, low, high, n, int(np.isnan(guessed).sum()), "t", mean.p, mean.p))
    return adjusted(found, correction)


def at_growing_k(name: str, deepest: int) -> list[Measure]:
    """A measure, by its name without a cutoff, at the cutoffs that curves are drawn through."""
    return parse_measures(" ".join(f"{name}@{k}" for k in _KS if k <= deepest))


def points_by_k(
    scores: Sequence[Score], measures: Sequence[Measure], min_judged: float = MIN_JUDGED
) -> list[dict[str, object]]:
    """A point a measure of one system over all questions of the data sets that it has scores for: `k`, `value`, `low` and `high`
    as tables show them, `n`, `judged` (a share), `labels` and `detector_version`. A point of whose pairs less than `min_judged`
    have a label has no value."""
    points: list[dict[str, object]] = []
    for measure in measures:
        held = [s for s in scores if s.measure == str(measure)]
        judged = float(np.mean([s.judged for s in held]))
        estimate = mean_with_interval(np.concatenate([s.values for s in held]), bounds=measure.bounds)
        estimate = withheld(estimate, judged, min_judged)
        value, low, high = ((100 if measure.unit == "share" else 1) * x for x in estimate[:3])
        points.append({"k": measure.k, "value": value, "low": low, "high": high, "n": estimate.n,
                       "judged": judged, "labels": held[0].labels,
                       "detector_version": held[0].detector_version})  # fmt: skip
    return points


def missing_points(points: pd.DataFrame, min_judged: float = MIN_JUDGED) -> str:
    """What to say of the points that `points_by_k` gives no value; empty where there are none."""
    missing = points[points["value"].isna() & (points["judged"] < min_judged)]
    if missing.empty:
        return ""
    ks = ", ".join(map(str, sorted(missing["k"].unique())))
    return f"{len(missing)} of {len(points)} points are not drawn, at k = {ks}: {below(min_judged)}."


def k_curves(gatherer: Gatherer, selection: Selection, measure: str, *, deepest: int = 20) -> StudyResult:
    """A measure at growing k, a line a system, over all questions of the data sets."""
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
    """The detector's number, people's alone on what they judged whole, and the corrected one, with what each interval spans."""
    source = LabelSource(gatherer.source.plain.parts, corrected=True)
    rows = []
    for score in Gatherer(gatherer.workspace, gatherer.judgments, source, gatherer.progress).scores(
        selection, parse_measures(" ".join(measures))
    ):
        if score.dataset == "average":
            continue
        said, guessed = _people(score), score.values
        bounds = parse_measure(score.measure).bounds
        corrected = corrected_mean(said, guessed, bounds=bounds)
        estimates = {
            "detector": mean_with_interval(guessed, bounds=bounds),
            "people": mean_with_interval(said, bounds=bounds),
            "corrected": corrected.estimate,
        }
        for by, (value, low, high, n) in estimates.items():
            rows.append({"corpus": score.corpus, "pipeline": score.pipeline, "dataset": score.dataset,
                         "measure": score.measure, "by": by, "value": 100 * value, "low": 100 * low, "high": 100 * high,
                         "n": n, "judged": 1.0 if by == "detector" else score.judged,
                         "labels": "human" if by == "people" else str(source if by == "corrected" else source.plain),
                         "detector_version": score.detector_version, "weight": corrected.weight})  # fmt: skip
    cells = pd.DataFrame(rows)
    table = Table(
        "corrected",
        "What the detector says, people alone, and the detector corrected by people, in percent",
        cells,
        ("dataset", "corpus", "pipeline", "measure"),
        ("by",),
        notes=("People's questions are those that a batch drew at random; n counts those judged whole.",),
    )
    shown = cells.assign(row=cells["measure"] + ", " + cells["pipeline"] + ", " + cells["corpus"])
    settings = {**selection.settings(), "measures": list(measures), "labels": str(source)}
    chart = dots(shown, "percent", row="row", colour="by")
    return StudyResult("corrected", settings, [table], {"corrected": chart}, _too_few(cells))


def _too_few(cells: pd.DataFrame) -> tuple[str, ...]:
    if (cells["n"] > 1).all():
        return ()
    return (
        "For some systems fewer than two questions were drawn at random and judged whole: send some out with `berdseye batch "
        "create NAME --preset random-questions --run RUN`.",
    )


def _people(score: Score) -> npt.NDArray[np.float64]:
    return score.people if score.people is not None else np.full(len(score.values), np.nan)
