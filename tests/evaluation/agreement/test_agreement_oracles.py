"""Coefficients and their intervals against published examples and peers."""

from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t
from sklearn.metrics import cohen_kappa_score, f1_score
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa
from statsmodels.stats.multitest import multipletests

from berdseye.data.statistics import holm
from berdseye.evaluation.agreement import coefficients
from berdseye.evaluation.agreement.alignment import aligned
from berdseye.evaluation.agreement.coefficients import ac1, patterns
from berdseye.evaluation.agreement.kappa import cohen_kappa
from berdseye.evaluation.agreement.pairwise import pair_agreements
from berdseye.evaluation.agreement.together import Statistic, together
from tests.annotation.made_pairs import long_form

FLEISS_1971 = [
    [0, 0, 0, 6, 0], [0, 3, 0, 0, 3], [0, 1, 4, 0, 1], [0, 0, 0, 0, 6], [0, 3, 0, 3, 0], [2, 0, 4, 0, 0],
    [0, 0, 4, 0, 2], [2, 0, 3, 1, 0], [2, 0, 0, 4, 0], [0, 0, 0, 0, 6], [1, 0, 0, 5, 0], [1, 1, 0, 4, 0],
    [0, 3, 3, 0, 0], [1, 0, 0, 5, 0], [0, 2, 0, 3, 1], [0, 0, 5, 0, 1], [3, 0, 0, 1, 2], [5, 1, 0, 0, 0],
    [0, 2, 0, 4, 0], [1, 0, 2, 0, 3], [0, 0, 0, 0, 6], [0, 1, 0, 5, 0], [0, 2, 0, 1, 3], [2, 0, 0, 4, 0],
    [1, 0, 0, 4, 1], [0, 5, 0, 1, 0], [4, 0, 0, 0, 2], [0, 2, 0, 4, 0], [1, 0, 5, 0, 0], [0, 0, 0, 0, 6],
]  # fmt: skip
"""Fleiss (1971), table 1: 30 patients, each diagnosed by six psychiatrists as one of five."""
FOUR_OBSERVERS = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
"""Krippendorff (2011), section C: four observers, twelve units; also irrCAC's cac.raw4raters. '.' is missing."""
ABSTRACTORS = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
"""Gwet's 100 pregnancies classified by two abstractors, irrCAC's cont3x3abstractors."""


def of_counts(counts: list[list[int]]) -> pd.DataFrame:
    rows = [
        (item, f"rater {rater:02d}", str(label))
        for item, row in enumerate(counts)
        for rater, label in enumerate(np.repeat(np.arange(len(row)), row))
    ]
    return pd.DataFrame(rows, columns=["item", "annotator", "label"])


def by_name(labels: pd.DataFrame, **options: int) -> dict[str, Statistic]:
    return {row.statistic: row for row in together(aligned(labels), **options)}


def said_by_four() -> pd.DataFrame:
    return long_form(*([None if v == "." else v for v in o] for o in FOUR_OBSERVERS))


def test_fleiss_1971() -> None:
    # Fleiss (1971): kappa = .430, P-bar = .5556.
    found = by_name(of_counts(FLEISS_1971))
    assert found["Fleiss' kappa"].value == pytest.approx(0.430, abs=5e-4)
    assert found["raw agreement"].value == pytest.approx(0.5556, abs=5e-5)
    assert (found["Fleiss' kappa"].n, found["Fleiss' kappa"].n_dropped) == (30, 0)
    assert found["Fleiss' kappa"].computed_by == "statsmodels"
    # (alpha - kappa) = (1 - kappa) / (number of labels): Krippendorff's correction for a small sample.
    assert found["Krippendorff's alpha"].value == pytest.approx(0.43024 + (1 - 0.43024) / 180, abs=5e-5)


def test_gwets_first_fifteen_patients() -> None:
    # irrCAC's overview, distrib.6raters, the first half of Fleiss's table: AC1 0.4448007 (0.264 to 0.625), Fleiss 0.4139265,
    # alpha 0.4204384, Brennan-Prediger 0.4388889, percent agreement 0.5511111.
    found = by_name(of_counts(FLEISS_1971[:15]))
    assert found["Gwet's AC1"].value == pytest.approx(0.4448007, abs=5e-8)
    assert (found["Gwet's AC1"].low, found["Gwet's AC1"].high) == pytest.approx((0.264, 0.625), abs=5e-4)
    assert found["Fleiss' kappa"].value == pytest.approx(0.4139265, abs=5e-8)
    assert found["Krippendorff's alpha"].value == pytest.approx(0.4204384, abs=5e-8)
    assert found["PABAK"].value == pytest.approx(0.4388889, abs=5e-8)
    assert found["raw agreement"].value == pytest.approx(0.5511111, abs=5e-8)


def test_krippendorff_2011_and_gwet_on_the_same_data() -> None:
    # Krippendorff (2011): nominal alpha = 0.743. irrCAC's overview, cac.raw4raters: AC1 0.77544 (standard error 0.14295, interval
    # 0.461 to 1), percent agreement 0.8181818.
    found = by_name(said_by_four())
    assert found["Krippendorff's alpha"].value == pytest.approx(0.743, abs=5e-4)
    assert (found["Krippendorff's alpha"].n, found["Krippendorff's alpha"].n_dropped) == (11, 1)
    gwet = found["Gwet's AC1"]
    assert gwet.value == pytest.approx(0.77544, abs=5e-6)
    assert (gwet.low, gwet.high) == pytest.approx((0.461, 1.0), abs=5e-4)
    assert gwet.n == 12
    pattern = patterns(aligned(said_by_four()).counts())
    assert float(ac1(pattern.counts, pattern.times.astype(float)).error) == pytest.approx(0.14295, abs=5e-6)
    assert found["raw agreement"].value == pytest.approx(0.8181818, abs=5e-8)


def test_gwets_two_abstractors() -> None:
    # irrCAC's overview, cont3x3abstractors: kappa 0.7964094 (0.68 to 0.913), AC1 0.8493305 (0.764 to 0.935), Brennan-Prediger
    # 0.835, percent agreement 0.89. Its interval of kappa is by Gwet's variance and symmetric; ours reaches further down.
    a = [str(i) for i in range(3) for j in range(3) for _ in range(ABSTRACTORS[i, j])]
    b = [str(j) for i in range(3) for j in range(3) for _ in range(ABSTRACTORS[i, j])]
    [pair] = pair_agreements(aligned(long_form(a, b)))
    assert pair.cohen_kappa == pytest.approx(0.7964094, abs=5e-8)
    assert (pair.low, pair.high) == pytest.approx((0.68, 0.913), abs=0.025)
    assert pair.low < 0.68
    assert pair.ac1 == pytest.approx(0.8493305, abs=5e-8)
    assert (pair.ac1_low, pair.ac1_high) == pytest.approx((0.764, 0.935), abs=1e-3)
    # Its form for tables divides by n where its form for raw labels (and this one) divides by n - 1: 0.04321747 is the former's.
    error = (pair.ac1_high - pair.ac1_low) / 2 / t.ppf(0.975, 99)
    assert error * (99 / 100) ** 0.5 == pytest.approx(0.04321747, abs=5e-8)
    assert (pair.pabak, pair.raw, pair.n) == pytest.approx((0.835, 0.89, 100))


def test_cohen_1960() -> None:
    # The 200 joint judgments of Cohen's articles: p_o = .70, p_e = .475, kappa = .225 / .525 = .429.
    table = np.array([[106, 10, 4], [22, 28, 10], [2, 12, 6]], dtype=float)
    kappa, low, high = cohen_kappa(table[None])
    assert kappa[0] == pytest.approx(0.429, abs=5e-4)
    peer = cohens_kappa(table)
    assert (low[0], high[0]) == pytest.approx(
        (peer.kappa_low, peer.kappa_upp), abs=0.01
    )  # 200 items: asymptotic enough


def test_kappas_interval_where_positives_are_rare() -> None:
    # Of 2,000 samples of 100 items, 5% positive, kappa .6, the asymptotic interval holds the true value in about 87%.
    both, apart = 0.05**2 + 0.6 * 0.05 * 0.95, 0.4 * 0.05 * 0.95
    drawn = np.random.default_rng(1).multinomial(100, [both, apart, apart, 1 - both - 2 * apart], size=2000)
    tables, times = np.unique(drawn, axis=0, return_counts=True)
    _, low, high = cohen_kappa(tables.reshape(-1, 2, 2).astype(float))
    assert times @ ((low <= 0.6) & (high >= 0.6)) / times[~np.isnan(low)].sum() > 0.93


def test_kappas_interval_of_raters_who_always_agree_reaches_below_one() -> None:
    value, low, high = cohen_kappa(np.array([[[2.0, 0.0], [0.0, 4.0]]]))
    assert (value[0], high[0]) == (1.0, 1.0)
    assert low[0] < 0.8


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.integers(0, 30), min_size=9, max_size=9), min_size=1, max_size=5))
def test_kappas_of_many_tables_are_those_of_statsmodels(cells: list[list[int]]) -> None:
    tables = np.array(cells, dtype=float).reshape(-1, 3, 3)
    for table, kappa, low, high in zip(tables, *cohen_kappa(tables), strict=True):
        marginals = np.concatenate([table.sum(axis=0), table.sum(axis=1)])
        if table.sum() == 0 or (marginals == table.sum()).any():
            continue
        peer = cohens_kappa(table)
        assert kappa == pytest.approx(peer.kappa, abs=1e-12)
        assert np.isnan([low, high]).all() if table.sum() < 5 else -1 <= low <= kappa <= high <= 1 and low < high


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=30))
def test_the_forms_that_are_resampled_are_those_of_the_libraries(rows: list[list[int]]) -> None:
    counts = np.array([row for row in rows if sum(row) > 1] or [[2, 0, 0]], dtype=np.int64)
    found = patterns(counts)
    times = found.times.astype(float)
    if (counts.sum(axis=0) > 0).sum() > 1:
        peer = krippendorff.alpha(value_counts=counts, level_of_measurement="nominal")
        assert float(coefficients.alpha(found.counts, times)) == pytest.approx(peer, abs=1e-9)
    four = counts[counts.sum(axis=1) == 4]
    if len(four) and (four.sum(axis=0) > 0).sum() > 1:
        own = patterns(four)
        value = float(coefficients.fleiss(own.counts, own.times.astype(float)))
        assert value == pytest.approx(fleiss_kappa(four), abs=1e-9)


def test_agreement_on_one_label_of_two_is_f1() -> None:
    a, b = "xxyyxyxxyy", "xyyyxxxxyx"
    [pair] = pair_agreements(aligned(long_form(a, b)), positive="x")
    assert pair.positive == pytest.approx(f1_score(list(a), list(b), pos_label="x"))
    assert pair.negative == pytest.approx(f1_score(list(a), list(b), pos_label="y"))
    assert pair.positive_low < pair.positive < pair.positive_high
    both = by_name(long_form(a, b))
    assert both["positive agreement (y)"].value == pytest.approx(pair.negative)


def test_two_people_on_the_stances_of_perspectrum(shared_data: Path) -> None:
    path = shared_data / "perspectrum" / "two_annotators_stance.csv"
    if not path.is_file():
        pytest.skip("Perspectrum's two annotators are not at hand")
    rows = pd.read_csv(path, keep_default_na=False, dtype=str)
    item = rows["claim_id"] + "/" + rows["perspective_id"]
    both = [
        pd.DataFrame({"item": item, "annotator": name, "label": rows[f"rel{n}"]})
        for name, n in (("first", 1), ("second", 2))
    ]
    labels = pd.concat([both[0], both[1].sample(frac=1, random_state=0)], ignore_index=True)  # position means nothing
    labels = labels[labels["label"].str.strip() != ""]
    side = aligned(labels, duplicates="last")
    assert len(side.values) == 5
    shared = rows[~item.duplicated(keep="last") & (rows["rel1"] != "") & (rows["rel2"] != "")]
    [pair] = pair_agreements(side)
    assert pair.n == len(shared)
    assert pair.cohen_kappa == pytest.approx(cohen_kappa_score(shared["rel1"], shared["rel2"]), abs=1e-12)
    counts = side.counts()
    twice = counts[counts.sum(axis=1) == 2]
    found = by_name(labels.drop_duplicates(["item", "annotator"], keep="last"))
    assert found["Fleiss' kappa"].value == pytest.approx(fleiss_kappa(twice))
    peer = krippendorff.alpha(value_counts=twice, level_of_measurement="nominal")
    assert found["Krippendorff's alpha"].value == pytest.approx(peer)
    for row in found.values():
        assert row.low < row.value < row.high


def test_the_bootstrap_is_as_wide_as_the_analytic_interval() -> None:
    # Of 400 items; Fleiss' kappa of two raters is nearly Cohen's, whose interval is known.
    rng = np.random.default_rng(3)
    truth = rng.random(400) < 0.4
    said = [np.where(rng.random(400) < 0.15, ~truth, truth) for _ in range(2)]
    labels = long_form(*(["yes" if v else "no" for v in column] for column in said))
    [pair] = pair_agreements(aligned(labels))
    found = by_name(labels, resamples=4000)["Fleiss' kappa"]
    assert (found.low, found.high) == pytest.approx((pair.low, pair.high), abs=0.01)


def test_questions_that_agree_within_widen_the_interval() -> None:
    labels = long_form("xxxxyyyyxxxxyyyy" * 4, "xxxxyyyyyyyyxxxx" * 4)
    side = aligned(labels)
    items = {row.statistic: row for row in together(side)}["raw agreement"]
    whole = {row.statistic: row for row in together(side, questions=np.arange(64) // 8)}["raw agreement"]
    assert whole.value == items.value == 0.5
    assert whole.high - whole.low > 1.5 * (items.high - items.low)
    assert "questions" in whole.interval


def test_holm_is_that_of_statsmodels() -> None:
    random = np.random.default_rng(5)
    for n in (1, 2, 7, 40):
        p = random.beta(0.3, 2, n).tolist()
        assert holm(p) == pytest.approx(multipletests(p, method="holm")[1].tolist())
    corrected = holm([0.01, np.nan, 0.04])
    assert (corrected[0], corrected[2]) == (0.02, 0.04)
    assert np.isnan(corrected[1])
