"""Errors of a detector: confusion tables, overall and by corpus, stance and data set, and its most confident mistakes, which are
worth reading first because they are blind spots of the detector or errors of the labels.
"""

import numpy as np
import pandas as pd

from berdseye.detectors.protocol import Floats
from berdseye.evaluation.detection.operating_points import CELLS, FIGURES, Truth, cells_by_group, decisions_at, figures
from berdseye.evaluation.detection.pairs import GROUPINGS, JudgedPairs

UNKNOWN = "(not given)"
FALSE_ALARM, MISSED = "called supporting", "missed"
MISTAKES = (FALSE_ALARM, MISSED)


def confusion_table(judged: JudgedPairs, decisions: Truth) -> pd.DataFrame:
    """Count pairs by their label (rows) and the detector's `decisions` bool[n] (columns), each supports or does not."""
    tp, fp, fn, tn = (
        cells_by_group(judged.truth, decisions, np.zeros(len(decisions), dtype=np.int64)).sum(axis=0).astype(int)
    )
    names = ["supports", "does not"]
    return pd.DataFrame(
        [[tp, fn], [fp, tn]], index=pd.Index(names, name="label"), columns=pd.Index(names, name="detector")
    )


def confusion_by(judged: JudgedPairs, decisions: Truth, column: str) -> pd.DataFrame:
    """Return one row for each value of a column of `GROUPINGS`, the largest n first.

    Columns: value, n, questions, the four counts of `CELLS`, and precision, recall, f1 and accuracy, each with FIGURE_low and
    FIGURE_high over questions; NaN where undefined.
    """
    values = judged.table[column].replace("", UNKNOWN)
    rows = []
    for value, places in values.groupby(values).indices.items():
        cells = cells_by_group(judged.truth[places], decisions[places], judged.groups[places])
        estimates = figures(cells)
        rows.append(
            {"value": value, "n": len(places), "questions": len(cells)}
            | dict(zip(CELLS, cells.sum(axis=0).astype(int).tolist(), strict=True))
            | {
                f"{name}{end}": number
                for name in FIGURES
                for end, number in zip(("", "_low", "_high"), estimates[name][:3], strict=True)
            }
        )
    return pd.DataFrame(rows).sort_values(["n", "value"], ascending=[False, True], ignore_index=True)


def groupings(judged: JudgedPairs) -> list[str]:
    """Return the columns of `GROUPINGS` that have values."""
    return [column for column in GROUPINGS if (judged.table[column] != "").any()]


def confident_mistakes(judged: JudgedPairs, probabilities: Floats, threshold: float) -> pd.DataFrame:
    """Return the rows of `judged.table` that the detector gets wrong, the most confident first, with `mistake`, `probability` and
    `margin`.

    `margin` is the distance of the probability from the threshold, as a share of the distance to 1 or 0, so that false alarms and
    misses are comparable.
    """
    called = decisions_at(probabilities, threshold)
    wrong = np.flatnonzero(called != judged.truth)
    chosen = probabilities[wrong].astype(np.float64)
    room = np.where(called[wrong], 1 - threshold, threshold)
    margin = np.divide(np.abs(chosen - threshold), room, out=np.ones(len(wrong)), where=room > 0)
    mistakes = judged.table.iloc[wrong].assign(
        mistake=np.where(called[wrong], FALSE_ALARM, MISSED), probability=chosen, margin=np.minimum(margin, 1.0)
    )
    return mistakes.sort_values(["margin", "pair"], ascending=[False, True], ignore_index=True)
