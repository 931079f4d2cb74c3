"""People's word on whether answers name the dispute, and how well a measure of D.A. agrees with it (DebateQA, table 15)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef, roc_auc_score

from berdseye.annotation.agreement import agreement
from berdseye.data.errors import BadInputError
from berdseye.data.json_files import Row, read_rows


class DisputeLabel(NamedTuple):
    """What a person says of a system's answer to a question."""

    question_id: str
    system: str
    names_dispute: bool
    annotator: str


class DisputeAgreement(NamedTuple):
    """A measure against people on n answers: shares from 0 to 1, MCC from -1 to 1, NaN where labels leave it undefined."""

    accuracy: float
    f1: float
    auroc: float
    mcc: float
    n: int
    positive: float


def read_dispute_labels(path: Path) -> list[DisputeLabel]:
    """JSON Lines: `{"id", "system", "label": 0 | 1, "annotator"}`; raises `BadInputError` with file and line."""
    found: dict[tuple[str, str, str], DisputeLabel] = {}
    for line, row in read_rows(path):
        try:
            label = _label(row)
            if label[:2] + label[3:] in found:
                raise ValueError(f"{label.annotator or 'the annotator'} judges this answer twice")
        except ValueError as error:
            raise BadInputError(f"{error}.", where=path, line=line, hint="Correct this line.") from error
        found[label.question_id, label.system, label.annotator] = label
    if not found:
        raise BadInputError("The file holds no labels.", where=path, hint="See `berdseye study debateqa-meta --help`.")
    return list(found.values())


def majority(labels: Sequence[DisputeLabel]) -> tuple[dict[tuple[str, str], bool], int]:
    """What most people say of each answer, by question and system, and how many answers are left out as undecided."""
    votes: dict[tuple[str, str], Counter[bool]] = {}
    for label in labels:
        votes.setdefault((label.question_id, label.system), Counter())[label.names_dispute] += 1
    decided = {key: count[True] > count[False] for key, count in votes.items() if count[True] != count[False]}
    return decided, len(votes) - len(decided)


def fleiss_kappa(labels: Sequence[DisputeLabel]) -> tuple[float, int]:
    """Fleiss' kappa among people, and the number of answers that all of them labelled; NaN where it is undefined."""
    found = agreement(
        pd.DataFrame(
            [
                (f"{one.question_id}\x1f{one.system}", one.annotator or "?", str(int(one.names_dispute)))
                for one in labels
            ],
            columns=["item", "annotator", "label"],
        )
    )
    return found.fleiss_kappa, found.n_complete


def dispute_agreement(
    values: Mapping[tuple[str, str], float], people: Mapping[tuple[str, str], bool]
) -> DisputeAgreement:
    """Agreement on the answers, by question and system, that both have a value for; `values` of 0.5 and more are 1."""
    both = [key for key in people if not np.isnan(values.get(key, np.nan))]
    if not both:
        raise BadInputError(
            "No answer has both a person's label and a value.",
            hint="Systems in the labels are named as the answer sets are, and ids as the questions'.",
        )
    truth = np.array([people[key] for key in both])
    scores = np.array([values[key] for key in both])
    called = scores >= 0.5
    mixed = 0 < truth.sum() < len(truth)
    return DisputeAgreement(
        float(accuracy_score(truth, called)),
        float(f1_score(truth, called)) if truth.any() or called.any() else np.nan,
        float(roc_auc_score(truth, scores)) if mixed else np.nan,
        float(matthews_corrcoef(truth, called)) if mixed and 0 < called.sum() < len(called) else np.nan,
        len(both),
        float(truth.mean()),
    )


def _label(row: Row) -> DisputeLabel:
    for name in ("id", "system"):
        if row.get(name) in (None, "") or not isinstance(row[name], str | int):
            raise ValueError(f"no {name}")
    if row.get("label") not in (0, 1, True, False):
        raise ValueError("the label is neither 0 nor 1")
    return DisputeLabel(str(row["id"]), str(row["system"]), bool(row["label"]), str(row.get("annotator") or ""))
