"""MACE and GLAD through crowd-kit, beside the model of Dawid and Skene (reliability.py)."""

from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.extras import needing
from berdseye.evaluation.agreement.alignment import SUPPORTS, Aligned

CrowdModel = Literal["mace", "glad"]
CROWD_MODELS: tuple[CrowdModel, ...] = get_args(CrowdModel)


class Crowd(NamedTuple):
    """A fitted model as two tables.

    `people` has the columns annotator and ability: for MACE the chance that the person does not guess (0 to 1), for GLAD the
    ability alpha (0: chance; negative: worse). `pairs` has the columns item and probability (of 'supports') and, for GLAD,
    difficulty: the inverse of its beta (above 0; larger is harder), otherwise None.
    """

    people: pd.DataFrame
    pairs: pd.DataFrame


def crowd_model(labels: Aligned, model: CrowdModel, *, seed: int = 0) -> Crowd:
    """Fit MACE (Hovy and others, NAACL 2013; variational) or GLAD (Whitehill and others, NIPS 2009) by crowd-kit's defaults.

    Raises `UnknownNameError` for another model, `BadInputError` if the labels are not of both kinds, and `UnavailableError` if
    the extra `crowd` is not installed.
    """
    if model not in CROWD_MODELS:
        raise UnknownNameError("model", model, CROWD_MODELS)
    with needing(model.upper()):
        from crowdkit.aggregation import GLAD, MACE
    item, rater = np.nonzero(labels.codes >= 0)
    supports = labels.codes[item, rater] == labels.values.index(SUPPORTS)
    if not supports.any() or supports.all():
        raise BadInputError("All labels are the same.", hint="These models need labels of both kinds.")
    # crowd-kit's MACE numbers workers and labels as they come and sums over them in sorted order: both must be the same. So a
    # rater who gave the label 0 comes first, with that label.
    first = int(rater[~supports][0])
    worker = np.where(rater == first, 0, rater + 1)
    votes = pd.DataFrame({"task": item, "worker": worker, "label": supports.astype(int)})
    votes = votes.sort_values(["worker", "label", "task"], ignore_index=True)
    difficulty: pd.Series | None = None
    if model == "mace":
        fitted = MACE(random_state=seed)
        probability = fitted.fit_predict_proba(votes)
        counts = np.asarray(fitted.spamming_)
        ability = pd.Series(counts[:, 1] / counts.sum(axis=1), index=pd.unique(votes["worker"]))
    else:
        fitted = GLAD(silent=True)
        probability = fitted.fit_predict_proba(votes)
        ability = pd.Series(fitted.alphas_)
        difficulty = pd.Series(np.exp(-fitted.betas_.to_numpy()), index=fitted.betas_.index)
    workers = [0 if rater == first else rater + 1 for rater in range(len(labels.raters))]
    people = pd.DataFrame({"annotator": labels.raters, "ability": ability.reindex(workers).to_numpy()})
    places = range(len(labels.items))
    pairs = pd.DataFrame(
        {
            "item": labels.items,
            "probability": probability[1].reindex(places).to_numpy(),
            "difficulty": None if difficulty is None else difficulty.reindex(places).to_numpy(),
        }
    )
    order = people.sort_values("ability", ascending=False, kind="stable").reset_index(drop=True)
    return Crowd(order, pairs)
