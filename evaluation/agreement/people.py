"""The models of annotators on the judgments of a workspace."""

from typing import Literal

import pandas as pd

from berdseye.annotation.judgments.log import Judgments
from berdseye.evaluation.agreement.alignment import AGAINST, SUPPORTS, Aligned, Rule, aligned, counted
from berdseye.evaluation.agreement.crowd_models import CROWD_MODELS, CrowdModel, crowd_model
from berdseye.evaluation.agreement.labels import stored_labels
from berdseye.evaluation.agreement.reliability import dawid_skene, pairs_table, people_table

Model = Literal["dawid-skene"] | CrowdModel
MODELS: tuple[Model, ...] = ("dawid-skene", *CROWD_MODELS)


def reliability_table(
    judgments: Judgments, model: Model = "dawid-skene", *, pairs: bool = False, demo: bool = True
) -> pd.DataFrame:
    """Return the people, or with `pairs` the pairs, of a model of the present judgments, without 'unsure' and skipped pairs.

    The columns are those of `people_table` and `pairs_table`, or of `Crowd`. `demo` False omits the simulated annotators.
    Raises `BadInputError` without judgments, and `UnavailableError` if the extra of the model is not installed.
    """
    labels = _labels(judgments, demo=demo)
    if model == "dawid-skene":
        fit = dawid_skene(labels)
        return pairs_table(fit) if pairs else people_table(fit)
    found = crowd_model(labels, model)
    return found.pairs if pairs else found.people


def contested_pairs(judgments: Judgments, *, demo: bool = True) -> pd.DataFrame:
    """Return the contested pairs of `pairs_table`, most uncertain first, with their perspective and passage."""
    found = pairs_table(dawid_skene(_labels(judgments, demo=demo)))
    found = found[found["contested"]].sort_values("entropy", ascending=False, kind="stable")
    records = judgments.pair_records(found["item"].tolist()) if len(found) else {}
    texts = [records[key] for key in found["item"]]
    columns = found[["item", "n", "probability"]].reset_index(drop=True)
    return columns.assign(perspective=[r.perspective for r in texts], passage=[r.passage for r in texts])


def _labels(judgments: Judgments, *, demo: bool) -> Aligned:
    return aligned(counted(stored_labels(judgments, demo=demo), Rule()).labels, (AGAINST, SUPPORTS))
