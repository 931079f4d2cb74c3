"""The mistakes a detector is surest of: the first to read, for they are its blind spots or the labels' errors.

Where a detector errs: what it says against the labels, by corpus, stance and data set.
"""

import numpy as np
import pandas as pd

from berdseye.detectors.protocol import Floats
from berdseye.evaluation.detection.operating_points import CELLS, FIGURES, Truth, cells_by_group, figures, said_at
from berdseye.evaluation.detection.pairs import GROUPINGS, JudgedPairs

UNKNOWN = "(not given)"


def confusion_table(judged: JudgedPairs, said: Truth) -> pd.DataFrame:
    """Pairs by label (rows) and by what is said (columns), both `supports` and `does not`."""
    tp, fp, fn, tn = cells_by_group(judged.truth, said, np.zeros(len(said), dtype=np.int64)).sum(axis=0).astype(int)
    names = ["supports", "does not"]
    return pd.DataFrame(
        [[tp, fn], [fp, tn]], index=pd.Index(names, name="label"), columns=pd.Index(names, name="detector")
    )


def confusion_by(judged: JudgedPairs, said: Truth, column: str) -> pd.DataFrame:
    """A row for each value of one of `GROUPINGS`, the most pairs first: value, n, questions, the four counts of `CELLS`, and
    precision, recall, f1 and accuracy, each with FIGURE_low and FIGURE_high over questions; NaN where undefined."""
    values = judged.table[column].replace("", UNKNOWN)
    rows = []
    for value, places in values.groupby(values).indices.items():
        cells = cells_by_group(judged.truth[places], said[places], judged.groups[places])
        found = figures(cells)
        rows.append(
            {"value": value, "n": len(places), "questions": len(cells)}
            | dict(zip(CELLS, cells.sum(axis=0).astype(int).tolist(), strict=True))
            | {
                f"{name}{end}": number
                for name in FIGURES
                for end, number in zip(("", "_low", "_high"), found[name][:3], strict=True)
            }
        )
    return pd.DataFrame(rows).sort_values(["n", "value"], ascending=[False, True], ignore_index=True)


def groupings(judged: JudgedPairs) -> list[str]:
    """The columns of `GROUPINGS` of which something is known."""
    return [column for column in GROUPINGS if (judged.table[column] != "").any()]


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
