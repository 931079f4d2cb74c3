"""Anchoring of simulated people whose pull towards the label they see is known: size and power of the test, and the figures."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from berdseye.evaluation.agreement.anchoring import EVERYONE, KAPPA, OVERRIDE, anchoring, arms_chart

VALUES = ("does not support", "supports")


def words(seed: int, pull: float, *, people: int = 4, questions: int = 25, each: int = 4) -> pd.DataFrame:
    """People right of 85% of the pairs, all alike more or less sure within a question; the detector is right of 75%. In the shown
    arm (half of the words) a person takes over the detector's label with the chance `pull`."""
    random = np.random.default_rng(seed)
    n = questions * each
    question = np.repeat(np.arange(questions), each)
    truth = random.random(n) < 0.4
    decision = np.where(random.random(n) < 0.75, truth, ~truth)
    hard = np.repeat(random.beta(6, 1, questions), each)
    found = []
    for person in range(people):
        own = np.where(random.random(n) < hard, truth, ~truth)
        shown = random.random(n) < 0.5
        says = np.where(shown & (random.random(n) < pull), decision, own)
        found.append(pd.DataFrame({
            "item": [f"i{i}" for i in range(n)], "annotator": f"p{person}", "question_id": question.astype(str),
            "label": np.array(VALUES)[says.astype(int)], "decision": np.array(VALUES)[decision.astype(int)],
            "arm": np.where(shown, "shown", "blind"),
        }))  # fmt: skip
    return pd.concat(found, ignore_index=True)


def everyone(rows: pd.DataFrame, draws: int = 499) -> pd.DataFrame:
    table = anchoring(rows, VALUES, draws=draws)
    return table[table["rater"] == EVERYONE].set_index("figure")


def rejected(pull: float, trials: int) -> dict[str, float]:
    """How often either figure's p is at most 5%, of so many experiments of 400 words."""
    p = [everyone(words(seed, pull, people=2, each=8), draws=99)["p"] for seed in range(trials)]
    return {figure: float(np.mean([one[figure] <= 0.05 for one in p])) for figure in (KAPPA, OVERRIDE)}


def test_figures_are_those_of_the_tables_by_hand_and_of_scikit_learn() -> None:
    rows = words(1, 0.3)
    found = everyone(rows)
    for arm in ("blind", "shown"):
        part = rows[rows["arm"] == arm]
        assert found.loc[KAPPA, arm] == pytest.approx(cohen_kappa_score(part["label"], part["decision"]))
        assert found.loc[OVERRIDE, arm] == pytest.approx((part["label"] != part["decision"]).mean())
        assert found.loc[OVERRIDE, f"n_{arm}"] == len(part)
        assert found.loc[KAPPA, f"{arm}_low"] < found.loc[KAPPA, arm] < found.loc[KAPPA, f"{arm}_high"]
    assert found.loc[KAPPA, "difference"] == pytest.approx(found.loc[KAPPA, "shown"] - found.loc[KAPPA, "blind"])
    assert found.loc[KAPPA, "low"] > 0 > found.loc[OVERRIDE, "high"]  # anchored: more alike, fewer overrides


def test_the_test_errs_as_rarely_as_it_says_where_seeing_changes_nothing() -> None:
    """Of 40 experiments without an effect at most 5% may be called one, within three errors."""
    assert max(rejected(0.0, 40).values()) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)


def test_it_finds_people_who_take_over_every_other_label() -> None:
    """400 words have a power above 90% to find that; of 12 experiments at least 10."""
    assert min(rejected(0.5, 12).values()) >= 10 / 12


@pytest.mark.slow
def test_size_and_power_over_many_experiments() -> None:
    size, small, large = rejected(0.0, 600), rejected(0.3, 200), rejected(0.5, 200)
    print(size, small, large)
    assert max(size.values()) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 600)
    assert small[OVERRIDE] < large[OVERRIDE]
    assert large[OVERRIDE] >= 0.9


def test_each_person_has_rows_and_holm_is_over_them() -> None:
    table = anchoring(words(2, 0.4), VALUES, draws=199)
    assert table["rater"].unique().tolist() == [EVERYONE, "p0", "p1", "p2", "p3"]
    alone = table[table["rater"] != EVERYONE]
    assert (alone["p_holm"] >= alone["p"]).all()
    assert alone["p_holm"].max() <= 1
    assert len(arms_chart(table).to_dict()["layer"]) == 2


def test_one_arm_alone_says_nothing() -> None:
    rows = words(3, 0.2)
    assert anchoring(rows[rows["arm"] == "blind"], VALUES).empty
    assert anchoring(rows.assign(decision=None), VALUES).empty
