"""The score of a run by one measure, with what made it; means of scores over data sets, and scores without some questions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from berdseye.evaluation.labels.support import Pairs, share_labelled
from berdseye.evaluation.measures import Unit, parse_measure
from berdseye.evaluation.measures.shown import FACTORS
from berdseye.evaluation.scores.corrected import corrected_mean
from berdseye.evaluation.scores.posterior_draws import mean_of_draws
from berdseye.evaluation.scores.sampled_labels import SampledLabels, estimate_of
from berdseye.evaluation.statistics.intervals import Estimate, mean_of_means, mean_with_interval


@dataclass(frozen=True)
class Score:
    """The score of a run by one measure. `values` holds the value of each question, in the order of the data set.

    If the labels are those of a consensus, `posterior_draws` float64[n_draws, n_questions] holds the values under
    draws of the labels, `values` are their means, and the interval includes the uncertainty of the labels
    (`evaluation.scores.posterior_draws`).

    For a corrected label source, `values` are the first detector's, `further` float64[n_detectors - 1, n_questions] those of the
    others (None: there are none), and `people` holds people's values on the questions that were
    drawn at random and judged completely; `sampled` holds the labels that batches drew with known probabilities instead, if no
    question was. `unsure` counts the randomly drawn questions that are left out because people are unsure of a pair. `pairs`
    int64[n_questions, 2] holds the numbers of labelled pairs and of pairs in each question's top k, of which judged@k is
    computed. `withheld` says why the estimate is NaN although it could be computed: too few pairs have labels. `grade` is the
    grade of the detector among the labels, empty if there is none.
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
    pairs: Pairs
    people: npt.NDArray[np.float64] | None = None
    posterior_draws: npt.NDArray[np.float64] | None = None
    unit: Unit = "share"
    withheld: str = ""
    grade: str = ""
    sampled: SampledLabels | None = None
    unsure: int = 0
    further: npt.NDArray[np.float64] | None = None

    @property
    def detectors(self) -> npt.NDArray[np.float64]:
        """The values of all detectors of a corrected source, float64[n_detectors, n_questions]."""
        return self.values[None] if self.further is None else np.vstack([self.values, self.further])

    @property
    def corrected(self) -> bool:
        """Whether the estimate is a corrected mean."""
        return self.people is not None or self.sampled is not None

    @property
    def sample_note(self) -> str:
        """What to know of the sample behind a corrected mean, as a sentence without a full stop; empty if there is nothing."""
        if self.sampled is not None:
            factor = 100 if self.unit == "share" else 1
            low, high = (factor * end for end in self.at_all_times)
            if np.isnan(low):
                return f"{self.sampled.note}; no batch holds the whole measure, so that no interval holds at every look"
            return (
                f"{self.sampled.note}; however often you look, the interval {low:.1f} to {high:.1f} holds at every look"
            )
        if not self.unsure:
            return ""
        return (
            f"{self.unsure} randomly drawn questions are left out because people are unsure of a pair, so that the interval is "
            "right only if these are like the others"
        )

    @cached_property
    def at_all_times(self) -> tuple[float, float]:
        """The 95% interval of a corrected mean from labels of known propensity that holds at every look; otherwise NaN."""
        if self.sampled is None:
            return float("nan"), float("nan")
        return self.sampled.at_all_times(parse_measure(self.measure).bounds)

    def as_row(self) -> dict[str, Any]:
        """Return the score as a row of a table: its value and interval, and everything that made it."""
        return {
            "dataset": self.dataset,
            "corpus": self.corpus,
            "pipeline": self.pipeline,
            "measure": self.measure,
            **self.estimate._asdict(),
            "judged": self.judged,
            "labels": self.labels,
            "detector_version": self.detector_version,
            "grade": self.grade,
            "withheld": self.withheld,
        } | self._sample_row()

    def _sample_row(self) -> dict[str, Any]:
        if self.sampled is None:
            return {"unsure_questions": self.unsure} if self.unsure else {}
        found = self.sampled.estimated
        return {
            "batch": self.sampled.batch,
            "effective_n": found.effective,
            "heaviest_share": found.heaviest,
            "low_at_all_times": self.at_all_times[0],
            "high_at_all_times": self.at_all_times[1],
            "unsure": self.sampled.unsure,
            "waiting": self.sampled.waiting,
        }

    def judged_over(self, questions: npt.NDArray[np.bool_]) -> float:
        """Return judged@k over some questions, bool[n_questions]."""
        return share_labelled(self.pairs[questions])

    @property
    def shown_values(self) -> npt.NDArray[np.float64]:
        """The values of the questions, all NaN if the score is withheld."""
        return np.full(len(self.values), np.nan) if self.withheld else self.values

    @property
    def shown(self) -> Estimate:
        """The estimate as tables show it, with shares in percent."""
        value, low, high = (FACTORS[self.unit] * x for x in self.estimate[:3])
        return Estimate(value, low, high, self.estimate.n)


def without_questions(scores: Sequence[Score], left_out: Sequence[bool]) -> list[Score]:
    """Return the scores computed without the questions that are left out, bool[n_questions]."""
    kept = ~np.asarray(left_out, dtype=bool)
    remaining = []
    for score in scores:
        if score.sampled is not None:
            sampled = score.sampled.without(~kept)
            estimate = estimate_of(sampled.estimated, parse_measure(score.measure).bounds)
            values = np.where(kept, score.values, np.nan)
            further = None if score.further is None else np.where(kept, score.further, np.nan)
            remaining.append(replace(score, values=values, further=further, sampled=sampled, estimate=estimate))
            continue
        values = np.where(kept, score.values, np.nan)
        people = None if score.people is None else np.where(kept, score.people, np.nan)
        further = None if score.further is None else np.where(kept, score.further, np.nan)
        draws = None if score.posterior_draws is None else np.where(kept, score.posterior_draws, np.nan)
        bounds = parse_measure(score.measure).bounds
        if draws is not None:
            estimate = mean_of_draws(draws, bounds)
        elif people is not None:
            detectors = np.where(kept, score.detectors, np.nan)
            estimate = corrected_mean(people, detectors, bounds=bounds).estimate
        else:
            estimate = mean_with_interval(values, bounds=bounds)
        if score.withheld:
            estimate = Estimate(np.nan, np.nan, np.nan, estimate.n)
        remaining.append(
            replace(score, values=values, people=people, further=further, posterior_draws=draws, estimate=estimate)
        )
    return remaining


def macro_average(scores: Sequence[Score]) -> list[Score]:
    """Return the mean over data sets for each corpus, pipeline and measure (BERDS, table 3), as data set 'average'.

    NaN if the value of one data set is missing or withheld, because the mean of the others would not be comparable.
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
                np.concatenate([s.pairs for s in known]),
                unit=known[0].unit,
                withheld=next((s.withheld for s in members if s.withheld), ""),
                grade=known[0].grade,
            )
        )
    return averages
