"""The dot, the chip and the badge of a perspective: its own colour on every page, on which white can be read."""

import re

import pytest

from berdseye.app.components.perspective_mark import CHIPS, chip_key, perspective_mark, side_badge
from berdseye.data.records import Perspective
from berdseye.evaluation.charts import CATEGORIES, perspective_colour

READ = 4.5
"""Contrast that WCAG 2.1 asks of text (1.4.3)."""


def luminance(channels: list[float]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("place", range(len(CATEGORIES)))
def test_white_is_read_on_a_chip_that_says_yes(place: int) -> None:
    [(colour, share)] = set(
        re.findall(rf'-of{place}-"\][^{{]*\{{ background-color: color-mix\(in srgb, (#\w+) (\d+)%, black', CHIPS)
    )
    assert colour == perspective_colour(place)
    mixed = [int(colour[at : at + 2], 16) / 255 * int(share) / 100 for at in (1, 3, 5)]
    assert 1.05 / (luminance(mixed) + 0.05) >= READ


@pytest.mark.parametrize("page", [(1.0, 1.0, 1.0), (0.1, 0.1, 0.1)])
def test_a_chip_that_cannot_be_pressed_is_read_on_a_light_and_a_dark_page(page: tuple[float, float, float]) -> None:
    (faded,) = (int(share) / 100 for share in re.findall(r"currentColor (\d+)%", CHIPS))
    text = [round(1 - channel) for channel in page]  # black on light pages, white on dark ones
    for colour, share in set(re.findall(r"color-mix\(in srgb, (#\w+) (\d+)%, transparent", CHIPS)):
        tint = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        behind = [int(share) / 100 * t + (1 - int(share) / 100) * p for t, p in zip(tint, page, strict=True)]
        shown = [faded * t + (1 - faded) * b for t, b in zip(text, behind, strict=True)]
        light, dark = sorted((luminance(shown), luminance(behind)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= READ


def test_a_mark_and_a_chip_have_the_colour_of_the_charts() -> None:
    for place in (0, 1, len(CATEGORIES)):
        assert perspective_colour(place) in perspective_mark(place)
        assert f"**P{place + 1}**" in perspective_mark(place)
    many = [chip_key(place, "web-bm25-1") for place in range(3 * len(CATEGORIES))]
    assert len(set(many)) == len(many)
    assert many[len(CATEGORIES)].startswith(f"chip-{len(CATEGORIES) + 1}-of0-")


def test_a_perspective_of_no_side_has_no_badge() -> None:
    assert side_badge(Perspective("Trams suffice.")) == ""
    assert "opposing" in side_badge(Perspective("Shops need cars.", "opposing"))
