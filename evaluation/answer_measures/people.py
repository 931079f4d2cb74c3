"""Agreement of measures of answers with people (DebateQA, tables 14 and 15): people's preferences between two answers with the
ratings of systems that follow from them, and people's labels of whether an answer names the dispute.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef, roc_auc_score

from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import Row, read_rows
from berdseye.evaluation.agreement.alignment import aligned
from berdseye.evaluation.agreement.pairwise import PairAgreement, pair_agreements
from berdseye.evaluation.agreement.together import agreement
from berdseye.evaluation.answer_measures.items import Doubles

Winner = Literal["a", "b", "tie"]
WINNERS: tuple[Winner, ...] = ("a", "b", "tie")
_ORDERS = 200
UNNAMED = "?"
"""The name of an annotator without a name."""


class Preference(NamedTuple):
    """A person's preference between the answers of two systems to a question."""

    question_id: str
    a: str
    b: str
    winner: Winner
    annotator: str


def read_preferences(path: Path) -> list[Preference]:
    """Read JSON Lines of `{"id", "a", "b", "winner": "a" | "b" | "tie", "annotator"}`; raises `BadInputError` with file and
    line."""
    first_lines: dict[tuple[str, str, frozenset[str]], int] = {}
    preferences = []
    for line, row in read_rows(path):
        try:
            preference = _preference(row)
            key = (preference.question_id, preference.annotator, frozenset((preference.a, preference.b)))
            if key in first_lines:
                raise ValueError(
                    f"{preference.annotator or 'The annotator'} already judges this pair in line {first_lines[key]}"
                )
        except ValueError as error:
            raise BadInputError(f"{error}.", where=path, line=line, hint="Correct this line.") from error
        first_lines[key] = line
        preferences.append(preference)
    if not preferences:
        raise BadInputError(
            "The file contains no preferences.", where=path, hint="See `berdseye study debateqa-meta --help`."
        )
    return preferences


def elo_ratings(preferences: Sequence[Preference], *, seed: int = 0) -> dict[str, float]:
    """Compute the Elo rating of each system by evalica (K = 4; 400 points are a factor of 10), the best first.

    Elo depends on the order of the games, so the ratings are means over 200 seeded random orders; a tie counts half.
    """
    import evalica

    outcomes = {"a": evalica.Winner.X, "b": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    systems = sorted({name for p in preferences for name in (p.a, p.b)})
    rng = np.random.default_rng(seed)
    sums = np.zeros(len(systems))
    for _ in range(_ORDERS):
        games = [preferences[n] for n in rng.permutation(len(preferences))]
        rated = evalica.elo([p.a for p in games], [p.b for p in games], [outcomes[p.winner] for p in games])
        sums += rated.scores.reindex(systems).to_numpy(dtype=np.float64)
    ratings = {name: float(s) / _ORDERS for name, s in zip(systems, sums, strict=True)}
    return dict(sorted(ratings.items(), key=lambda rated: -rated[1]))


def pair_accuracy(
    preferences: Sequence[Preference], values: Mapping[str, Mapping[str, float]], *, lower_is_better: bool
) -> Doubles:
    """Return, for each preference that is not a tie, 1 if the measure orders the two answers as the person does, 0.5 for equal
    values, and 0 otherwise.

    `values` holds the values of each system by question; the result is NaN if one of the two has no value.
    """
    agreements = []
    for p in preferences:
        if p.winner == "tie":
            continue
        a, b = (values.get(name, {}).get(p.question_id, np.nan) for name in (p.a, p.b))
        ahead = (b - a) if lower_is_better else (a - b)
        wanted = ahead if p.winner == "a" else -ahead
        agreements.append(np.nan if np.isnan(wanted) else float((np.sign(wanted) + 1) / 2))
    return np.array(agreements, dtype=np.float64)


def _preference(row: Row) -> Preference:
    for name in ("id", "a", "b", "winner"):
        if row.get(name) in (None, "") or not isinstance(row[name], str | int):
            raise ValueError(f"The field '{name}' is missing")
    winner = str(row["winner"]).strip().lower()
    a, b = str(row["a"]), str(row["b"])
    if winner not in WINNERS:
        raise ValueError(f"The winner must be a, b or tie, got '{row['winner']}'")
    if a == b:
        raise ValueError(f"a and b are the same system, '{a}'")
    return Preference(str(row["id"]), a, b, winner, str(row.get("annotator") or ""))


class DisputeLabel(NamedTuple):
    """A person's label of whether a system's answer to a question names the dispute."""

    question_id: str
    system: str
    names_dispute: bool
    annotator: str


class DisputeAgreement(NamedTuple):
    """Agreement of a measure with people on n answers: shares from 0 to 1, MCC from -1 to 1, NaN if undefined for these
    labels."""

    accuracy: float
    f1: float
    auroc: float
    mcc: float
    n: int
    positive: float


def read_dispute_labels(path: Path) -> list[DisputeLabel]:
    """Read JSON Lines of `{"id", "system", "label": 0 | 1, "annotator"}`; raises `BadInputError` with file and line."""
    labels: dict[tuple[str, str, str], DisputeLabel] = {}
    for line, row in read_rows(path):
        try:
            label = _label(row)
            if label[:2] + label[3:] in labels:
                raise ValueError(f"{label.annotator or 'The annotator'} judges this answer twice")
        except ValueError as error:
            raise BadInputError(f"{error}.", where=path, line=line, hint="Correct this line.") from error
        labels[label.question_id, label.system, label.annotator] = label
    if not labels:
        raise BadInputError(
            "The file contains no labels.", where=path, hint="See `berdseye study debateqa-meta --help`."
        )
    return list(labels.values())


def majority(labels: Sequence[DisputeLabel]) -> tuple[dict[tuple[str, str], bool], int]:
    """Return the majority label of each answer, by question and system, and the number of answers left out as undecided."""
    votes: dict[tuple[str, str], Counter[bool]] = {}
    for label in labels:
        votes.setdefault((label.question_id, label.system), Counter())[label.names_dispute] += 1
    decided = {key: count[True] > count[False] for key, count in votes.items() if count[True] != count[False]}
    return decided, len(votes) - len(decided)


def fleiss_kappa(labels: Sequence[DisputeLabel]) -> tuple[float, int]:
    """Compute Fleiss' kappa among people (NaN if undefined), and the number of answers that all people labelled."""
    result = agreement(_decisions(labels, {}))
    return result.fleiss_kappa, result.n_complete


def decision_agreements(
    labels: Sequence[DisputeLabel], measures: Mapping[str, Mapping[tuple[str, str], float]]
) -> list[PairAgreement]:
    """Compute the agreement of every two raters' decisions on the answers that both judge (DebateQA): people, by their labels,
    and measures, by their values of answers by question and system.

    Values of 0.5 and more count as 1; NaN is no decision. `raw` is the share of equal decisions.
    """
    frame = _decisions(labels, measures)
    return pair_agreements(aligned(frame, ("0", "1")), "1") if len(frame) else []


def _decisions(labels: Sequence[DisputeLabel], measures: Mapping[str, Mapping[tuple[str, str], float]]) -> pd.DataFrame:
    """Return the decisions of people and measures in long form, as the coefficients of agreement read them."""
    rows = [(one.question_id, one.system, one.annotator or UNNAMED, one.names_dispute) for one in labels]
    rows += [
        (question, system, name, value >= 0.5)
        for name, values in measures.items()
        for (question, system), value in values.items()
        if not np.isnan(value)
    ]
    return pd.DataFrame(
        [(f"{question}\x1f{system}", rater, str(int(decision))) for question, system, rater, decision in rows],
        columns=["item", "annotator", "label"],
    )


def dispute_agreement(
    values: Mapping[tuple[str, str], float], people: Mapping[tuple[str, str], bool]
) -> DisputeAgreement:
    """Compute the agreement on the answers, by question and system, for which both have a value; `values` of 0.5 and more count
    as 1.

    Raises `BadInputError` if no answer has both.
    """
    both = [key for key in people if not np.isnan(values.get(key, np.nan))]
    if not both:
        raise BadInputError(
            "No answer has both a person's label and a value.",
            hint="In the labels, use the names of the sets of answers and the ids of the questions.",
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
            raise ValueError(f"The field '{name}' is missing")
    if row.get("label") not in (0, 1, True, False):
        raise ValueError(f"The label must be 0 or 1, got {row.get('label')!r}")
    return DisputeLabel(str(row["id"]), str(row["system"]), bool(row["label"]), str(row.get("annotator") or ""))
