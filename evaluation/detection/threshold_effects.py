"""What a threshold does to a run: MRecall@k and Precision@k at every threshold, from the probabilities of its pairs.

Each question has one highest threshold at which its top k still covers its perspectives, and each passage one at which it still
supports any. Sorted, they give the measures at any threshold by a search, however many pairs there are.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.data.datasets import load_dataset
from berdseye.data.labels import LabelStore
from berdseye.data.run_keys import run_keys
from berdseye.data.runs import Run
from berdseye.data.workspace import Workspace
from berdseye.detectors.protocol import Detector, Floats
from berdseye.evaluation.intervals import Estimate, mean_with_interval

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RunChances:
    """`chances` float32[n_questions, k, m_max] of the pairs of a run's top k, NaN where nothing is stored or there is no such
    pair; `there` says which pairs there are; `counts` int64[n_questions] perspectives a question."""

    chances: Floats
    there: npt.NDArray[np.bool_]
    counts: npt.NDArray[np.int64]

    @property
    def missing(self) -> int:
        """Pairs that the detector was not asked about."""
        return int((np.isnan(self.chances) & self.there).sum())


def run_chances(workspace: Workspace, run: Run, detector: Detector, k: int) -> RunChances:
    """What a detector is known to say of a run's top k; nothing is asked. Raises `StaleError` as `run_keys` does."""
    questions = load_dataset(workspace, run.manifest.dataset)
    keys = run_keys(workspace, run, questions, k)[1]
    there = keys != b""
    chances: Floats = np.full(keys.shape, np.nan, dtype=np.float32)
    chances[there] = LabelStore(workspace).get(detector.name, keys[there].astype(str).tolist(), detector.version)
    return RunChances(chances, there, np.array([len(q.perspectives) for q in questions], dtype=np.int64))


def with_words(held: RunChances, labels: Doubles) -> Floats:
    """The chances with people's words put first: of `labels` (as `LabelledRun.labels`, of the same top k or deeper), 1 stays
    above every threshold, and 0 below."""
    said = labels[:, : held.chances.shape[1], : held.chances.shape[2]]
    return np.where(np.isnan(said), held.chances, np.where(said == 1, np.inf, -np.inf)).astype(np.float32)


class RunEffects:
    """MRecall@k and Precision@k of a run at any threshold; a pair without a probability supports nothing.

    As `evaluation.measures.coverage` computes them of the labels that the threshold gives; questions without perspectives
    do not count.
    """

    def __init__(self, chances: Floats, counts: npt.NDArray[np.int64], k: int) -> None:
        asked = counts > 0
        known = np.where(np.isnan(chances), -np.inf, chances)[asked, :k].astype(np.float32)
        needed = np.minimum(counts[asked], k)
        best = np.sort(known.max(axis=1, initial=-np.inf), axis=1)[:, ::-1]  # the highest chance of each perspective
        self.k = k
        self.covered_up_to = (
            np.take_along_axis(best, needed[:, None] - 1, axis=1)[:, 0] if best.size else best.sum(axis=1)
        )
        self.supporting_up_to = known.max(axis=2, initial=-np.inf)
        self._passages = np.sort(self.supporting_up_to, axis=None)
        self._questions = np.sort(self.covered_up_to)

    def at(self, threshold: float) -> dict[str, Estimate]:
        """Both measures with their intervals over questions."""
        edge = np.float32(threshold)
        supporting = (self.supporting_up_to >= edge).sum(axis=1) / self.k
        return {
            f"MRecall@{self.k}": mean_with_interval((self.covered_up_to >= edge).astype(np.float64)),
            f"Precision@{self.k}": mean_with_interval(supporting),
        }

    def curves(self, thresholds: Doubles) -> pd.DataFrame:
        """Both at many thresholds float64[n]: columns threshold and one a measure; NaN where no question counts."""
        edges, n = thresholds.astype(np.float32), len(self._questions)
        return pd.DataFrame(
            {
                "threshold": thresholds,
                f"MRecall@{self.k}": _at_least(self._questions, edges) / (n or np.nan),
                f"Precision@{self.k}": _at_least(self._passages, edges) / (n * self.k or np.nan),
            }
        )


def _at_least(rising: Floats, edges: Floats) -> Doubles:
    return (len(rising) - np.searchsorted(rising, edges, side="left")).astype(np.float64)
