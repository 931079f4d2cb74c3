"""How often a detector agrees with gold labels on what a person reads first: the top passages of each question, in all corpora.

These pairs come from a search and all are shown, so that no choice of pairs makes the figure better than what a page shows.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from berdseye.data.datasets.stored import GOLD, load_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.labels import LabelStore
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Pair
from berdseye.data.runs.pairs import run_pairs
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import label, unsure_width
from berdseye.detectors.opinions import unsure_about
from berdseye.detectors.protocol import Detector, Floats

ALL = "all"
_FIGURES = ("agree", "unsure", "agree_sure", "wrong", "called", "true")
COLUMNS = ("dataset", "question", "pairs", *_FIGURES)
"""The columns of the table."""


def first_pages(
    workspace: Workspace, detector: Detector, runs: Iterable[Run], k: int, *, progress: Progress = silent
) -> pd.DataFrame:
    """Return one row for each question, and a last one of all pairs, of the pairs with a gold label in the first k passages of
    the runs. Figures are in percent.

    `pairs` is their number. `agree` is the share on which the detector's label is the gold label; `unsure` is the share whose
    probability is within the setting `unsure` of the threshold, `agree_sure` the agreement on the others, and `wrong` the share
    of all pairs on which the detector is not unsure and its label is not the gold label; `called` and `true` are the shares that
    the detector and the gold labels call supporting. A pair that several runs retrieve counts once. Raises `BadInputError` if no
    pair has a gold label.
    """
    store, unsure = LabelStore(workspace), unsure_width(workspace)
    rows, parts = [], []
    for (dataset, question), pairs in _by_question(workspace, runs, k).items():
        gold = store.get(GOLD, [pair.key for pair in pairs])
        known = np.flatnonzero(~np.isnan(gold)).tolist()
        if not known:
            continue
        p = label(store, detector, [pairs[place] for place in known], progress=progress)
        compared = np.stack([p, gold[known]])
        parts.append(compared)
        rows.append({"dataset": dataset, "question": question, **_figures(compared, detector.threshold, unsure)})
    if not rows:
        raise BadInputError(
            "No pair of these runs has a gold label.",
            hint="Name runs on a data set whose authors labelled passages, such as those of the demo.",
        )
    everything = _figures(np.concatenate(parts, axis=1), detector.threshold, unsure)
    return pd.DataFrame([*rows, {"dataset": ALL, "question": "", **everything}], columns=list(COLUMNS))


def _by_question(workspace: Workspace, runs: Iterable[Run], k: int) -> dict[tuple[str, str], Sequence[Pair]]:
    found: dict[tuple[str, str], dict[str, Pair]] = {}
    for run in runs:
        questions = load_dataset(workspace, run.manifest.dataset)
        pairs = run_pairs(workspace, run, questions, k)
        for pair, (place, _, _) in zip(pairs.pairs, pairs.places.tolist(), strict=True):
            found.setdefault((run.manifest.dataset, questions[place].id), {})[pair.key] = pair
    return {question: list(pairs.values()) for question, pairs in found.items()}


def _figures(compared: Floats, threshold: float, unsure: float) -> dict[str, float]:
    p, truth = compared[0], compared[1] >= 0.5
    called, near = p >= threshold, unsure_about(threshold, unsure, p)
    right = called == truth
    sure = right[~near].mean() if (~near).any() else np.nan
    shares = (right.mean(), near.mean(), sure, (~right & ~near).mean(), called.mean(), truth.mean())
    return {"pairs": len(p)} | {name: 100 * float(share) for name, share in zip(_FIGURES, shares, strict=True)}
