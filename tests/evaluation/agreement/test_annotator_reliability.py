"""The model of Dawid and Skene against crowd-kit, and on labels whose truth is known."""

import numpy as np
import pandas as pd
import pytest

from berdseye.data.errors import BadInputError
from berdseye.evaluation.agreement.alignment import AGAINST, SUPPORTS, Aligned
from berdseye.evaluation.agreement.crowd_models import crowd_model
from berdseye.evaluation.agreement.reliability import dawid_skene, pairs_table, people_table

SENSITIVITY, SPECIFICITY = np.array([0.9, 0.85, 0.7, 0.95, 0.6]), np.array([0.95, 0.8, 0.9, 0.85, 0.6])


def made(n: int, seed: int = 0) -> Aligned:
    random = np.random.default_rng(seed)
    truth = random.random((n, 1)) < 0.4
    says = random.random((n, 5)) < np.where(truth, SENSITIVITY, 1 - SPECIFICITY)
    codes = np.where(random.random((n, 5)) < 0.8, says, -1).astype(np.int16)
    codes[~(codes >= 0).any(axis=1), 0] = 0
    return Aligned(tuple(f"i{i}" for i in range(n)), tuple("abcde"), (AGAINST, SUPPORTS), codes)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_fit_is_the_one_of_crowd_kit() -> None:
    crowdkit = pytest.importorskip("crowdkit.aggregation")
    labels = made(300)
    item, rater = np.nonzero(labels.codes >= 0)
    votes = pd.DataFrame({"task": item, "worker": rater, "label": labels.codes[item, rater].astype(int)})
    oracle = crowdkit.DawidSkene(n_iter=400, tol=1e-12).fit(votes)
    fit = dawid_skene(labels, prior=0)
    assert fit.probability == pytest.approx(oracle.probas_[1].sort_index().to_numpy(), abs=1e-3)
    assert fit.sensitivity == pytest.approx([oracle.errors_.loc[(r, 1), 1] for r in range(5)], abs=1e-3)
    assert fit.specificity == pytest.approx([oracle.errors_.loc[(r, 0), 0] for r in range(5)], abs=1e-3)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    held = []
    for seed in range(12):
        labels = made(250, seed)
        table = people_table(dawid_skene(labels), resamples=60, seed=seed).set_index("annotator").loc[list("abcde")]
        held += [(table.sensitivity_low <= SENSITIVITY) & (table.sensitivity_high >= SENSITIVITY)]
        held += [(table.specificity_low <= SPECIFICITY) & (table.specificity_high >= SPECIFICITY)]
    assert np.mean(held) > 0.85


def test_the_next_label_comes_from_who_tells_most_and_contested_pairs_need_reliable_people() -> None:
    labels = made(400)
    fit = dawid_skene(labels)
    table = pairs_table(fit).set_index("item").loc[list(labels.items)]
    assert (table["ask"].isna() == (labels.codes >= 0).all(axis=1)).all()
    asked = [(n, labels.raters.index(who)) for n, who in enumerate(table["ask"]) if isinstance(who, str)]
    assert all(labels.codes[n, rater] < 0 for n, rater in asked)
    assert (table["gain"] >= 0).all()
    assert (table["gain"] <= table["entropy"] + 1e-12).all()
    good = labels.codes[:, :4]  # the fifth is near chance
    yes, n = (good == 1).sum(axis=1), (good >= 0).sum(axis=1)
    assert (table["contested"].to_numpy() == ((n >= 3) & (3 * np.minimum(yes, n - yes) >= n))).all()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_mace_and_glad_rank_the_guesser_last() -> None:
    pytest.importorskip("crowdkit.aggregation")
    labels = made(60)
    for model in ("mace", "glad"):
        found = crowd_model(labels, model)  # type: ignore[arg-type]
        assert found.people["annotator"].iloc[-1] == "e", model
        assert found.pairs["probability"].between(0, 1).all()
        assert np.corrcoef(found.pairs["probability"], dawid_skene(labels).probability)[0, 1] > 0.8


def test_no_labels_are_an_error() -> None:
    with pytest.raises(BadInputError, match="no labels"):
        dawid_skene(Aligned((), (), (AGAINST, SUPPORTS), np.zeros((0, 0), dtype=np.int16)))
