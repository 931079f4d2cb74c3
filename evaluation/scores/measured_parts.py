"""The parts of a measure that need some labels at once, and what a batch draws of them.

A measure's mean over questions is a sum of parts: Precision@k needs one passage with all perspectives, every other measure
(MRecall@k among them) one question. A batch corrects a measure without bias if what it draws as a whole holds each part whole.
If a batch draws single pairs, a passage with several perspectives is judged only in part, and the share of judged pairs says
nothing unbiased of "any perspective" or "every perspective"; there is no estimate then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from berdseye.annotation.batches.draws import Unit
from berdseye.evaluation.labels.labelled_runs import LabelledRun
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.measures import Measure

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
OUTSIDE = -2
"""The unit of a pair that is not in a batch; -1 is that of one in it which it never draws."""
_PARTS: Mapping[str, Unit] = {"Precision": "passage"}
_MONOTONE = ("Precision", "MRecall", "Coverage", "ToCover")


def part_of(measure: Measure) -> Unit:
    """Return what each part of a measure needs all labels of."""
    return _PARTS.get(measure.name, "question")


@dataclass(frozen=True)
class Parts:
    """The parts of a measure of a run, and the units of a batch that hold them.

    `questions` and `units` int64[n_parts] (units -1: none, all labels are fixed); values by the detectors
    float64[n_detectors, n_parts] and by people's labels (unknown pairs: not supporting; the least; the largest)
    float64[n_parts]. `split` bool[n_parts]: its pairs are drawn one by one; `outside` int64[n_parts]: how many of its pairs
    are not in the batch, and not judged.
    """

    questions: Ints
    units: Ints
    detectors: Doubles
    people: Doubles
    low: Doubles
    high: Doubles
    bounds: tuple[float, float]
    split: Bools
    outside: Ints

    @property
    def drawable(self) -> Bools:
        """Which parts the batch draws as a whole, bool[n_parts]."""
        return np.asarray((self.units >= 0) & ~self.split & (self.outside == 0))

    @property
    def fixed(self) -> Bools:
        """Which parts the batch never draws, because other labels are all that there is of them, bool[n_parts]."""
        return np.asarray((self.units < 0) & (self.outside == 0))

    @property
    def known(self) -> Bools:
        """Which parts people's labels determine, bool[n_parts]."""
        return np.asarray(self.low == self.high)


def parts_of(measure: Measure, detectors: Sequence[LabelledRun], people: LabelledRun, units: Ints) -> Parts:
    """Return the parts of a measure; `units` int64[n_questions, k, m_max] are those of the pairs in a batch."""
    real = detectors[0].keys != b""
    unknown = real & np.isnan(people.labels)
    yes = people.labels == 1
    # What the batch does not draw is known by people's labels, and is no matter of a detector.
    said = [np.where((units < 0) & ~unknown, yes, one.labels == 1) & real for one in detectors]
    arrays = (*said, yes, yes & real, yes | unknown)
    missing = real & unknown & (units == OUTSIDE)
    if part_of(measure) == "passage":
        questions, ranks = np.nonzero(real.any(axis=2))
        values = [labels.any(axis=2)[questions, ranks] / measure.k for labels in arrays]
        of_part, bounds = units[questions, ranks], (0.0, 1 / measure.k)
        outside = missing.sum(axis=2)[questions, ranks]
    else:
        questions = np.arange(len(real))
        values = [_values(measure, people, labels) for labels in arrays]
        of_part, bounds = units.reshape(len(questions), -1), measure.bounds
        if measure.name not in _MONOTONE:
            open_parts = unknown.any(axis=(1, 2))
            values[-2], values[-1] = (np.where(open_parts, end, values[-3]) for end in measure.bounds)
        outside = missing.sum(axis=(1, 2))
    highest = np.maximum(of_part.max(axis=1, initial=-1), -1)
    split = ((of_part >= 0) & (of_part != highest[:, None])).any(axis=1)
    low, high = np.minimum(values[-2], values[-1]), np.maximum(values[-2], values[-1])
    return Parts(
        questions, highest, np.array(values[:-3], dtype=np.float64), values[-3].astype(float), low, high, bounds,
        split, outside.astype(np.int64),
    )  # fmt: skip


def _values(measure: Measure, run: LabelledRun, labels: Bools) -> Doubles:
    depths = (run.ids >= 0).sum(axis=1)
    return measure.values(Support(labels, run.counts, depths, np.ones_like(labels)))
