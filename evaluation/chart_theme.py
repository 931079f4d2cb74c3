"""The colours of every chart, on pages and in files: told apart by colour-blind people, and seen on light and dark grounds.

`app/.streamlit/config.toml` has the same ones for what Streamlit colours by itself.
"""

import altair as alt

CATEGORIES = ("#2a78b8", "#d55e00", "#12936c", "#c0609b", "#a87808", "#7f6fd0", "#3a94c9", "#b0413e")
"""After Okabe and Ito's palette, its light ones darkened: each at least 3:1 against white and against the dark page."""
NEUTRAL = "#8a94a0"
STANCE_COLOURS = {"supporting": CATEGORIES[0], "opposing": CATEGORIES[1], "none": NEUTRAL}
SEQUENTIAL = (
    "#e3eef8",
    "#c3dbef",
    "#9dc4e4",
    "#74abd7",
    "#4d92c8",
    "#2a78b8",
    "#1c5f99",
    "#124878",
    "#0a3358",
    "#061f38",
)
DIVERGING = (
    "#a84700", "#d55e00", "#e58b45", "#f0b78a", "#f8dfcb", "#d3e4f2", "#9dc4e4", "#5c9fd0", "#2a78b8", "#1c5f99",
)  # fmt: skip


def perspective_colour(place: int) -> str:
    """The colour of a question's perspective (0 the first), the same wherever it is drawn."""
    return CATEGORIES[place % len(CATEGORIES)]


@alt.theme.register("berdseye", enable=True)
def _theme() -> alt.theme.ThemeConfig:
    return alt.theme.ThemeConfig(
        config={
            "range": {"category": list(CATEGORIES), "ramp": list(SEQUENTIAL), "diverging": list(DIVERGING)},
            "view": {"stroke": "transparent"},
            "axis": {"labelLimit": 320, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
            # The first and last name of a list stand beside their rows, as all others do.
            "axisY": {"labelFlush": False},
            "legend": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
        }
    )
