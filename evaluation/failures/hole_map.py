"""The hole map: every question and perspective of a run with the rank of the first passage that supports the perspective."""

import numpy as np
import pandas as pd

from berdseye.evaluation.labels.labelled_runs import LabelledRun

_WORDS = (0, 8, 12, 10**9)
LENGTHS = ("up to 8 words", "9 to 12 words", "13 words or more")


def hole_map(labelled: LabelledRun, k: int) -> pd.DataFrame:
    """Return one row for each perspective of each question, in the order of the data set.

    Columns: row (of the question in the data set), question_id, question, place (of the perspective, from 1), perspective,
    stance ('none' if the perspective takes no side), perspectives (number of perspectives of the question), length (of the
    question in words, as one of `LENGTHS`), rank (of the first passage that supports the perspective, NaN if none does), hole
    (whether no passage of the top k supports it), judged (share of the pairs in the top k that have a label).
    """
    ranks = labelled.first_ranks()
    rows, places = np.nonzero(ranks >= 0)
    top = labelled.labels[:, :k]
    depths = np.maximum((labelled.ids[:, :k] >= 0).sum(axis=1), 1)
    judged = (~np.isnan(top)).sum(axis=1) / depths[:, None]
    first = ranks[rows, places]
    questions = labelled.questions
    words = np.array([len(q.text.split()) for q in questions])
    length = np.array(LENGTHS)[np.searchsorted(_WORDS[1:-1], words)] if len(questions) else np.array([], dtype=str)
    counts = labelled.counts
    perspectives = [
        questions[row].perspectives[place] for row, place in zip(rows.tolist(), places.tolist(), strict=True)
    ]
    return pd.DataFrame(
        {
            "row": rows,
            "question_id": [questions[row].id for row in rows.tolist()],
            "question": [questions[row].text for row in rows.tolist()],
            "place": places + 1,
            "perspective": [p.text for p in perspectives],
            "stance": [p.stance or "none" for p in perspectives],
            "perspectives": counts[rows],
            "length": length[rows],
            "rank": np.where(first > 0, first, np.nan),
            "hole": (first == 0) | (first > k),
            "judged": judged[rows, places],
        }
    )
