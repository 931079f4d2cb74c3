"""Values as readers see them."""

from math import nan

import pandas as pd
import pytest

from berdseye.evaluation.measures import Unit
from berdseye.evaluation.measures.shown import scaled, shown


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.0, "share", "100.0%"),
        (2 / 3, "share", "66.7%"),
        (0.0, "share", "0.0%"),
        (3.25, "passages", "3.2"),
        (nan, "share", "–"),
    ],
)
def test_shares_are_in_percent_with_one_digit_and_passages_are_counted(value: float, unit: Unit, text: str) -> None:
    assert shown(value, unit) == text


def test_a_difference_has_a_sign_and_is_in_points() -> None:
    assert [shown(each, signed=True, bare=True) for each in (0.125, 0.0, -1.0)] == ["+12.5", "+0.0", "-100.0"]


def test_a_scaled_frame_leaves_the_raw_one_as_it_is() -> None:
    raw = pd.DataFrame({"name": ["a"], "value": [0.5]})
    assert scaled(raw, ["value"])["value"].tolist() == [50.0]
    assert scaled(raw, ["value"], "passages")["value"].tolist() == raw["value"].tolist() == [0.5]
