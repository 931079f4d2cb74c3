"""The mark of a perspective on every page: a dot in its colour, its number, and the side it takes."""

from berdseye.data.records import Perspective
from berdseye.evaluation.charts import CATEGORIES, perspective_colour

# The colours of the sides are those of the charts: berdseye.evaluation.charts.STANCE_COLOURS.
_SIDES = {"supporting": ":blue-badge[supporting]", "opposing": ":orange-badge[opposing]"}
_READ_ON = 80
"""The share of the colour in percent, mixed with black, that gives white text a contrast of at least 4.5."""
_FADED, _TINT = 75, 22
"""The opacity in percent of the text of a chip that cannot be pressed, and of its colour if the label is yes."""
CHIP = "chip-"
"""The prefix of every chip's widget key."""


def perspective_mark(place: int) -> str:
    """Return Markdown of the perspective at `place` (from 0) of a question: its dot and number."""
    return f':color[●]{{foreground="{perspective_colour(place)}"}} **P{place + 1}**'


def side_badge(perspective: Perspective) -> str:
    """Return Markdown of the side that the perspective takes, with a leading space, or an empty text if it takes none."""
    return f" {_SIDES[perspective.stance]}" if perspective.stance in _SIDES else ""


def chip_key(place: int, rest: str) -> str:
    """Return the widget key of the chip of the perspective at `place`. The style `CHIPS` colours the chip by this key."""
    return f"{CHIP}{place + 1}-of{place % len(CATEGORIES)}-{rest}"


def _chip_style(place: int) -> str:
    chip = f'[class*="st-key-{CHIP}"][class*="-of{place}-"] button'
    colour = perspective_colour(place)
    dark = f"color-mix(in srgb, {colour} {_READ_ON}%, black)"
    return (
        f"{chip} {{ border-left: 4px solid {colour}; }} "
        f'{chip}[data-testid="stBaseButton-primary"]:not(:disabled) '
        f"{{ background-color: {dark}; border-color: {dark}; }} "
        f'{chip}[data-testid="stBaseButton-primary"]:disabled '
        f"{{ background-color: color-mix(in srgb, {colour} {_TINT}%, transparent); }} "
    )


_SMALL = (
    f'@media (min-width: 641px) {{ [class*="st-key-{CHIP}"] button '
    "{ min-height: 1.875rem; padding: 0 0.5rem; } "
    f'[class*="st-key-{CHIP}"] button p {{ font-size: 0.875rem; }} }} '
)
_READABLE = (
    f'[class*="st-key-{CHIP}"] button:disabled {{ color: color-mix(in srgb, currentColor {_FADED}%, transparent); }} '
)
CHIPS = _SMALL + _READABLE + "".join(_chip_style(place) for place in range(len(CATEGORIES)))
"""The style of the chips: filled with the perspective's colour if the label is yes, otherwise with an edge in that colour. They
are small, except on a telephone, where a thumb presses them. A chip that cannot be pressed, as for readers without a name, is
paler, but can be read."""
