"""How a perspective is told from others wherever it stands: a dot of its colour, its number, and the side it takes."""

from berdseye.data.records import Perspective
from berdseye.evaluation.charts import CATEGORIES, perspective_colour

# As the charts colour sides: berdseye.evaluation.charts.STANCE_COLOURS.
_SIDES = {"supporting": ":blue-badge[supporting]", "opposing": ":orange-badge[opposing]"}
_READ_ON = 80
"""White is read on this share of the colour, in percent, the rest black (4.5 and more)."""


def perspective_mark(place: int) -> str:
    """Markdown of a question's perspective (0 the first): its dot and number."""
    return f':color[●]{{foreground="{perspective_colour(place)}"}} **P{place + 1}**'


def side_badge(perspective: Perspective) -> str:
    """Markdown of the side it takes, with a space before it; empty where it takes none."""
    return f" {_SIDES[perspective.stance]}" if perspective.stance in _SIDES else ""


CHIP = "chip-"
"""What the key of every chip begins with."""


def chip_key(place: int, rest: str) -> str:
    """The key of a button that says whether a passage supports the perspective, by which `CHIPS` colour it."""
    return f"{CHIP}{place + 1}-of{place % len(CATEGORIES)}-{rest}"


def _chip_style(place: int) -> str:
    chip = f'[class*="st-key-{CHIP}"][class*="-of{place}-"] button'
    colour = perspective_colour(place)
    dark = f"color-mix(in srgb, {colour} {_READ_ON}%, black)"
    return (
        f"{chip} {{ border-left: 4px solid {colour}; }} "
        f'{chip}[data-testid="stBaseButton-primary"]:not(:disabled) '
        f"{{ background-color: {dark}; border-color: {dark}; }} "
    )


CHIPS = "".join(_chip_style(place) for place in range(len(CATEGORIES)))
"""Style of the buttons: filled with the perspective's colour where they say yes, else with an edge of it."""
