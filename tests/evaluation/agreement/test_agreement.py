"""Agreement against published examples, against scikit-learn, and where it is undefined."""

from dataclasses import asdict
from math import isnan, nan
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from berdseye.data.errors import BadInputError
from berdseye.evaluation.agreement.pairwise import confusion
from berdseye.evaluation.agreement.together import agreement
from tests.annotation.made_pairs import long_form

LABELS = st.sampled_from(["supports", "does not support", "unsure"])
MAYBE = st.one_of(st.none(), LABELS)


def test_cohens_kappa_of_the_grant_proposals() -> None:
    # en.wikipedia.org/wiki/Cohen's_kappa, "Simple example": 50 proposals, both yes 20, only A yes 5, only B yes 10,
    # both no 15. p_o = 35/50 = 0.7; p_e = 25/50 * 30/50 + 25/50 * 20/50 = 0.5; kappa = (0.7 - 0.5) / (1 - 0.5) = 0.4.
    a = ["yes"] * 25 + ["no"] * 25
    b = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    [pair] = agreement(long_form(a, b)).pairs
    assert pair.cohen_kappa == pytest.approx(0.4)
    assert pair.raw == pytest.approx(0.7)
    assert pair.n == 50
    # Fleiss, Cohen and Everitt (1969) by hand, p_e = 0.5: var = [A + B - C] / (n (1 - p_e)^2) with
    # A = .4 (1 - 1.1 * .6)^2 + .3 (1 - .9 * .6)^2 = 0.04624 + 0.06348 = 0.10972,
    # B = .6^2 [.1 (.6 + .5)^2 + .2 (.4 + .5)^2] = .36 * (0.121 + 0.162) = 0.10188, C = (.4 - .5 * .6)^2 = 0.01;
    # var = 0.2016 / (50 * .25) = 0.016128; 0.4 -/+ 1.96 * 0.126996 = 0.1511 and 0.6489.
    # The interval, of another method, is near these.
    assert (pair.low, pair.high) == pytest.approx((0.1511, 0.6489), abs=0.04)


def test_fleiss_kappa_of_the_worked_example() -> None:
    # en.wikipedia.org/wiki/Fleiss'_kappa, "Worked example": 14 raters, 10 subjects, 5 categories; kappa = 0.210.
    counts = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    rows = [
        (item, f"rater {rater:02d}", str(label))
        for item, row in enumerate(counts)
        for rater, label in enumerate(np.repeat(np.arange(5), row))
    ]
    result = agreement(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
    assert result.fleiss_kappa == pytest.approx(0.210, abs=5e-4)
    assert (result.n_items, result.n_complete) == (10, 10)


def test_krippendorffs_alpha_with_missing_labels() -> None:
    # Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C: four observers, twelve units,
    # missing data; nominal alpha = 0.743. '.' is missing.
    observers = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    result = agreement(long_form(*([None if v == "." else v for v in o] for o in observers)))
    assert result.krippendorff_alpha == pytest.approx(0.743, abs=5e-4)


@settings(deadline=None)
@given(st.lists(st.tuples(LABELS, LABELS), min_size=2, max_size=40))
def test_cohens_kappa_is_scikit_learns(said: list[tuple[str, str]]) -> None:
    a, b = zip(*said, strict=True)
    [pair] = agreement(long_form(a, b)).pairs
    if len({*a, *b}) < 2:
        assert isnan(pair.cohen_kappa)
    else:
        assert pair.cohen_kappa == pytest.approx(cohen_kappa_score(a, b), abs=1e-12)
        assert isnan(pair.low) or -1 <= pair.low <= pair.cohen_kappa + 1e-12 <= pair.high + 2e-12 <= 1 + 3e-12


@settings(deadline=None)
@given(st.lists(st.tuples(MAYBE, MAYBE, MAYBE), min_size=1, max_size=15), st.randoms(use_true_random=False))
def test_items_are_aligned_by_name_whatever_the_order_of_rows(
    said: list[tuple[str | None, str | None, str | None]], random: Random
) -> None:
    frame = long_form(*zip(*said, strict=True))
    order = list(range(len(frame)))
    random.shuffle(order)
    np.testing.assert_equal(asdict(agreement(frame.iloc[order])), asdict(agreement(frame)))  # here NaN equals NaN


def test_position_means_nothing() -> None:
    # By item they agree on everything; read by position on nothing.
    frame = pd.DataFrame(
        [("1", "a", "x"), ("2", "a", "y"), ("2", "b", "y"), ("1", "b", "x")], columns=["item", "annotator", "label"]
    )
    result = agreement(frame)
    assert (result.pairs[0].cohen_kappa, result.krippendorff_alpha, result.fleiss_kappa) == (1, 1, 1)


def test_only_shared_items_count() -> None:
    result = agreement(long_form("xyxy", ["x", "y", None, "x"], [None, None, None, "y"]))
    assert {(p.a, p.b): (p.n, p.raw) for p in result.pairs[:2]} == {("a", "b"): (3, 2 / 3), ("a", "c"): (1, 1.0)}
    assert (result.n_items, result.n_complete) == (4, 1)


def test_one_label_only_is_undefined_and_no_error() -> None:
    result = agreement(long_form("xxx", "xxx"))
    [pair] = result.pairs
    assert pair.raw == 1
    assert pair.n == 3
    assert all(map(isnan, (pair.cohen_kappa, pair.low, pair.high, result.fleiss_kappa, result.krippendorff_alpha)))


def test_people_who_share_nothing_or_nobody_are_no_error() -> None:
    [pair] = agreement(long_form(["x", None], [None, "y"])).pairs
    assert pair.n == 0
    assert isnan(pair.raw)
    alone = agreement(long_form("xy"))
    assert alone.pairs == []
    assert isnan(alone.krippendorff_alpha)
    nobody = agreement(long_form())
    assert (nobody.pairs, nobody.n_items) == ([], 0)
    np.testing.assert_equal(nobody.fleiss_kappa, nan)


def test_one_who_always_says_the_same_has_kappa_zero() -> None:
    # p_o = p_e = 1/2, so that kappa = 0 however often the other varies.
    [pair] = agreement(long_form("xxxx", "xyxy")).pairs
    assert pair.cohen_kappa == pytest.approx(0)
    assert pair.raw == 0.5


@pytest.mark.parametrize("missing", ["item", "annotator", "label"])
def test_a_missing_column_is_named(missing: str) -> None:
    with pytest.raises(BadInputError, match=f"no column {missing}"):
        agreement(long_form("xy", "xy").drop(columns=missing))


@pytest.mark.parametrize("column", ["item", "annotator", "label"])
@pytest.mark.parametrize("empty", [None, nan, "", "  "])
def test_empty_cells_are_refused_with_their_row(column: str, empty: str | float | None) -> None:
    frame = long_form("xyx", "xyy").astype(object)
    frame.loc[[2, 4], column] = empty
    with pytest.raises(BadInputError, match="2 rows have an empty cell; the first is row 3"):
        agreement(frame)
    with pytest.raises(BadInputError, match="the first is row named"):
        agreement(frame.iloc[[2]].set_axis(["named"]))


def test_two_labels_of_one_person_on_one_item_are_refused() -> None:
    frame = long_form("xy", "xy")
    with pytest.raises(BadInputError, match="b labels item 'item 0001' twice"):
        agreement(pd.concat([frame, frame.iloc[[3]].assign(label="x")]))


def test_the_confusion_table_of_two_is_symmetric() -> None:
    frame = long_form("xxyyz", ["x", "y", "y", "x", None])
    table = confusion(frame, "a", "b", ("x", "y", "z"))
    assert table.loc["x", "y"] == 1
    assert table.to_numpy().tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 0]]
    assert (table.index.name, table.columns.name) == ("a", "b")
    uneven = long_form("xxxy", "xyyy")
    one, other = confusion(uneven, "a", "b", ("x", "y")), confusion(uneven, "b", "a", ("x", "y"))
    assert one.to_numpy().tolist() == [[1, 2], [0, 1]]
    pd.testing.assert_frame_equal(one, other.T, check_names=False)


def test_the_confusion_table_of_people_who_share_nothing_is_zero() -> None:
    assert confusion(long_form(["x", None], [None, "y"]), "a", "b", ("x", "y")).to_numpy().sum() == 0
