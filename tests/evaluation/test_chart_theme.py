"""Colours can be seen on both grounds, and the app has those that files have."""

import tomllib
from itertools import combinations
from pathlib import Path

import pytest

from berdseye.evaluation.charts import CATEGORIES, DIVERGING, NEUTRAL, SEQUENTIAL, perspective_colour

WHITE, DARK = "#ffffff", "#0e1117"  # the grounds of Streamlit's two themes
SEEN = 3.0  # WCAG 2.2, 1.4.11: what a graphic needs to be understood


def luminance(colour: str) -> float:
    """Relative luminance of sRGB, by the definition of WCAG 2.2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ground", [WHITE, DARK])
@pytest.mark.parametrize("colour", [*CATEGORIES, NEUTRAL])
def test_colours_are_seen(colour: str, ground: str) -> None:
    assert contrast(colour, ground) >= SEEN


def test_colours_differ_and_perspectives_keep_theirs() -> None:
    assert all(a != b for a, b in combinations((*CATEGORIES, NEUTRAL), 2))
    assert [perspective_colour(n) for n in range(len(CATEGORIES))] == list(CATEGORIES)
    assert perspective_colour(len(CATEGORIES)) == CATEGORIES[0]


def test_the_app_has_the_same_colours() -> None:
    settings = tomllib.loads(
        (Path(__file__).parents[2] / "app" / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    )
    theme = settings["theme"]
    assert theme["chartCategoricalColors"] == list(CATEGORIES)
    assert theme["chartSequentialColors"] == list(SEQUENTIAL)
    assert theme["chartDivergingColors"] == list(DIVERGING)


def test_ramps_grow_darker() -> None:
    lights = [luminance(c) for c in SEQUENTIAL]
    assert lights == sorted(lights, reverse=True)
