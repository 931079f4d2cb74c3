"""The model of Dawid and Skene against crowd-kit, and on labels whose truth is known."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

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


def table_of(codes: np.ndarray) -> pd.DataFrame:
    n, raters = codes.shape
    names = tuple(map(str, range(n))), tuple("abcdefg"[:raters])
    return people_table(dawid_skene(Aligned(*names, (AGAINST, SUPPORTS), codes.astype(np.int16)))).set_index(
        "annotator"
    )


@pytest.mark.parametrize(("n", "raters"), [(60, 3), (200, 2)])
def test_intervals_of_rates_near_one_hold_the_truth_about_as_often_as_they_say(n: int, raters: int) -> None:
    """Percentiles of bootstrap samples, which the intervals were before, held the specificity in 5 and 24% of these."""
    rates, held = {"sensitivity": 0.85, "specificity": 0.98}, []
    for seed in range(50):
        random = np.random.default_rng(seed)
        truth = random.random((n, 1)) < 0.35
        table = table_of(random.random((n, raters)) < np.where(truth, rates["sensitivity"], 1 - rates["specificity"]))
        held.append([((table[f"{k}_low"] <= rate) & (rate <= table[f"{k}_high"])).mean() for k, rate in rates.items()])
    assert (np.mean(held, axis=0) > 0.88).all()


def test_intervals_hold_rates_that_differ_and_missing_labels() -> None:
    held = []
    for seed in range(12):
        labels = made(250, seed)
        table = people_table(dawid_skene(labels), seed=seed).set_index("annotator").loc[list("abcde")]
        held += [(table.sensitivity_low <= SENSITIVITY) & (table.sensitivity_high >= SENSITIVITY)]
        held += [(table.specificity_low <= SPECIFICITY) & (table.specificity_high >= SPECIFICITY)]
    assert np.mean(held) > 0.88


def test_where_the_truth_is_plain_the_posterior_is_the_beta_of_the_errors() -> None:
    """Five people who agree leave no doubt about the truth of 22 positive and 38 negative pairs, of which one label is wrong."""
    codes = np.repeat(np.arange(60)[:, None] < 22, 5, axis=1)
    codes[30, 0] = True
    table = table_of(codes)
    for rater, wrong in (("a", 1), ("b", 0)):
        row = table.loc[rater]
        for kind, posterior in (("sensitivity", beta(23, 1)), ("specificity", beta(39 - wrong, 1 + wrong))):
            low, high = posterior.ppf((0.025, 0.975))
            assert (row[f"{kind}_low"], row[f"{kind}_high"]) == pytest.approx((low, high), abs=0.015)
            assert row[kind] == pytest.approx(posterior.mean(), abs=0.002)


def test_with_two_raters_the_posterior_is_that_of_weighted_draws_from_the_prior() -> None:
    counts = np.array([[24, 3], [6, 12]])  # the labels of the first and of the second rater
    first, second = (np.repeat([0, 0, 1, 1], counts.ravel()), np.repeat([0, 1, 0, 1], counts.ravel()))
    table = table_of(np.stack([first, second], axis=1))
    positive, up, other_up, down, other_down = np.random.default_rng(0).random((5, 400_000))
    says, other = np.stack([down, 1 - down, 1 - up, up]), np.stack([other_down, 1 - other_down, 1 - other_up, other_up])
    chance = [
        [(1 - positive) * says[i] * other[j] + positive * says[2 + i] * other[2 + j] for j in (0, 1)] for i in (0, 1)
    ]
    weight = np.exp((counts[:, :, None] * np.log(chance)).sum(axis=(0, 1))) * (up + other_up + down + other_down > 2)
    assert weight.sum() ** 2 / (weight**2).sum() > 1000  # as good as so many draws
    for kind, rater, values in (("sensitivity", "a", up), ("specificity", "a", down), ("specificity", "b", other_down)):
        order = np.argsort(values)
        ends = values[order][np.searchsorted(weight[order].cumsum() / weight.sum(), (0.025, 0.975))]
        assert table.loc[rater, [f"{kind}_low", f"{kind}_high"]].tolist() == pytest.approx(ends.tolist(), abs=0.05)


def test_who_shares_no_pair_is_unknown_and_others_keep_their_intervals() -> None:
    random = np.random.default_rng(0)
    truth = random.random((80, 1)) < 0.35
    codes = np.full((83, 6), -1)
    codes[:80, :5] = random.random((80, 5)) < np.where(truth, 0.85, 0.05)
    codes[:60, 3:5], codes[60:80, :3] = -1, -1  # two circles: three people on 60 pairs, two on 20
    codes[80:, 5] = [1, 0, 0]
    table = table_of(codes)
    ends = [f"{kind}_{end}" for kind in ("sensitivity", "specificity") for end in ("low", "high")]
    assert table.loc["f", ["shared", *ends]].tolist() == [0, 0, 1, 0, 1]
    assert table["shared"].loc[list("abcde")].tolist() == [60, 60, 60, 20, 20]
    assert (table.loc[list("abc"), "specificity_low"] > 0.7).all()
    assert (table.loc[list("de"), "specificity_low"] > 0.3).all()  # nobody exchanged the labels of the second circle


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
