"""Verdicts by swipe on a touch screen: to the right the first verdict, to the left the second one, with a hint above the
buttons.

A swipe presses the button of the verdict, so that it has the guards, the undo and the speed of the button.
"""

from collections.abc import Sequence
from importlib.resources import files

import streamlit as st

from berdseye.annotation.batches.stored import Task
from berdseye.app.components.keys import VERDICTS
from berdseye.app.components.pair_card import GIVE, Choice

SWIPED: tuple[Task, ...] = ("judge", "verify")
"""The tasks whose first verdict means yes and whose second means no; neither of two answers does, and a check may have more."""
_HERE = files("berdseye.app.components")
_HTML = """<div class="berdseye-swipe-hint" aria-hidden="true"><span></span><span>swipe</span><span></span></div>
<div class="berdseye-swipe-says" aria-hidden="true" hidden></div>"""
# Mounted in the page's own tree, because its style is also about the card, which is outside it.
_MOUNT = st.components.v2.component(
    "berdseye_swipe",
    html=_HTML,
    css=(_HERE / "swipe.css").read_text(encoding="utf-8"),
    js=(_HERE / "swipe.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def swipe(choices: Sequence[Choice]) -> None:
    """Let a swipe across the card of the pair press the button of the first or of the second choice. Draw it in the container
    `verdicts`, as the buttons."""
    yes, no, *_ = choices
    _MOUNT(
        key="swipe",
        data={
            "right": yes.label,
            "left": no.label,
            "rightButton": f"st-key-{GIVE}{VERDICTS[0]}-",
            "leftButton": f"st-key-{GIVE}{VERDICTS[1]}-",
        },
    )
