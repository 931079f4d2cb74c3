"""The mistakes a detector is surest of: the first to read, for they are its blind spots or the labels' errors."""

import numpy as np
import pandas as pd

from berdseye.detectors.protocol import Floats
from berdseye.evaluation.detection.judged_pairs import JudgedPairs
from berdseye.evaluation.detection.operating_points import said_at

FALSE_ALARM, MISSED = "called supporting", "missed"
MISTAKES = (FALSE_ALARM, MISSED)


def confident_mistakes(judged: JudgedPairs, probabilities: Floats, threshold: float) -> pd.DataFrame:
    """Rows of `judged.table` that the detector has wrong, the surest first, with `mistake`, `probability` and `margin`.

    `margin` is how far the probability lies beyond the threshold, as a share of the way to 1 or 0, so that false alarms and
    misses compare.
    """
    said = said_at(probabilities, threshold)
    wrong = np.flatnonzero(said != judged.truth)
    chances = probabilities[wrong].astype(np.float64)
    room = np.where(said[wrong], 1 - threshold, threshold)
    margin = np.divide(np.abs(chances - threshold), room, out=np.ones(len(wrong)), where=room > 0)
    found = judged.table.iloc[wrong].assign(
        mistake=np.where(said[wrong], FALSE_ALARM, MISSED), probability=chances, margin=np.minimum(margin, 1.0)
    )
    return found.sort_values(["margin", "pair"], ascending=[False, True], ignore_index=True)
