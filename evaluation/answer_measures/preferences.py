"""People's preferences between two answers, the ranking of systems they give, and how well measures agree with it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import stats

from berdseye.data.errors import BadInputError
from berdseye.data.json_files import Row, read_rows
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
