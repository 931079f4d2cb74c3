"""People's word on whether answers name the dispute, and how well a measure of D.A. agrees with it (DebateQA, table 15).

People's preferences between two answers, the ranking of systems they give, and how well measures agree with it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef, roc_auc_score

from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import Row, read_rows
from berdseye.evaluation.agreement.together import agreement
from berdseye.evaluation.answer_measures.items import Doubles

Winner = Literal["a", "b", "tie"]
WINNERS: tuple[Winner, ...] = ("a", "b", "tie")
_ORDERS = 200
_FEWEST = 3


class Preference(NamedTuple):
    """Which of two systems' answers to a question a person found better."""

    question_id: str
    a: str
    b: str
    winner: Winner
    annotator: str


class RankAgreement(NamedTuple):
    """Spearman's rho and Kendall's tau-b between a measure's order of n systems and people's; NaN where all are equal."""

    rho: float
    tau: float
    n: int


def read_preferences(path: Path) -> list[Preference]:
    """JSON Lines: `{"id", "a", "b", "winner": "a" | "b" | "tie", "annotator"}`; raises `BadInputError` with file and line."""
    found: dict[tuple[str, str, frozenset[str]], int] = {}
    preferences = []
    for line, row in read_rows(path):
        try:
            preference = _preference(row)
            key = (preference.question_id, preference.annotator, frozenset((preference.a, preference.b)))
            if key in found:
                raise ValueError(
                    f"{preference.annotator or 'the annotator'} judges this pair in line {found[key]} already"
                )
        except ValueError as error:
            raise BadInputError(f"{error}.", where=path, line=line, hint="Correct this line.") from error
        found[key] = line
        preferences.append(preference)
    if not preferences:
        raise BadInputError(
            "The file holds no preferences.", where=path, hint="See `berdseye study debateqa-meta --help`."
        )
    return preferences


def elo_ratings(preferences: Sequence[Preference], *, seed: int = 0) -> dict[str, float]:
    """Elo rating of each system, by evalica (K = 4, 400 points a factor of 10), the best first.

    Elo depends on the order of the games, so the ratings are the means over 200 seeded random orders; a tie counts half.
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


def rank_agreement(
    values: Mapping[str, float], ratings: Mapping[str, float], *, lower_is_better: bool
) -> RankAgreement:
    """Agreement of a measure's values with people's ratings over the systems that have both (DebateQA, table 14).

    Raises `BadInputError` for fewer than three systems.
    """
    both = [name for name in ratings if name in values and not np.isnan(values[name])]
    if len(both) < _FEWEST:
        raise BadInputError(
            f"Only {len(both)} systems have both answers and preferences.",
            hint="Systems in the preferences are named as the answer sets are; three are the fewest.",
        )
    ours: Any = np.array([values[name] for name in both]) * (-1.0 if lower_is_better else 1.0)
    theirs: Any = np.array([ratings[name] for name in both])
    if np.ptp(ours) == 0 or np.ptp(theirs) == 0:
        return RankAgreement(np.nan, np.nan, len(both))
    rho, tau = stats.spearmanr(ours, theirs), stats.kendalltau(ours, theirs)
    return RankAgreement(float(rho.statistic), float(tau.statistic), len(both))


def pair_accuracy(
    preferences: Sequence[Preference], values: Mapping[str, Mapping[str, float]], *, lower_is_better: bool
) -> Doubles:
    """For each preference that is no tie: 1 where the measure orders the two answers as the person did, 0.5 where it ties.

    `values` are those of each system by question; NaN where one of the two has none.
    """
    found = []
    for p in preferences:
        if p.winner == "tie":
            continue
        a, b = (values.get(name, {}).get(p.question_id, np.nan) for name in (p.a, p.b))
        ahead = (b - a) if lower_is_better else (a - b)
        wanted = ahead if p.winner == "a" else -ahead
        found.append(np.nan if np.isnan(wanted) else float((np.sign(wanted) + 1) / 2))
    return np.array(found, dtype=np.float64)


def _preference(row: Row) -> Preference:
    for name in ("id", "a", "b", "winner"):
        if row.get(name) in (None, "") or not isinstance(row[name], str | int):
            raise ValueError(f"no {name}")
    winner = str(row["winner"]).strip().lower()
    a, b = str(row["a"]), str(row["b"])
    if winner not in WINNERS:
        raise ValueError(f"the winner is '{row['winner']}', not a, b or tie")
    if a == b:
        raise ValueError("a and b are the same system")
    return Preference(str(row["id"]), a, b, winner, str(row.get("annotator") or ""))


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
