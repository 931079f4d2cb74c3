"""The pair after the present one, sent to the browser ahead, so that it is on the screen the moment a verdict is given.

The server stores the verdict meanwhile and then draws the page; only what it draws takes keys.
"""

from importlib.resources import files

import streamlit as st

from berdseye.annotation.judgments.log import PairRecord
from berdseye.app.components.keys import SKIP, VERDICTS
from berdseye.app.components.pair_card import GIVE

_HERE = files("berdseye.app.components")
_MOUNT = st.components.v2.component(
    "berdseye_next_pair",
    css=(_HERE / "next_pair.css").read_text(encoding="utf-8"),
    js=(_HERE / "next_pair.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def next_pair(pair: str, record: PairRecord | None) -> None:
    """Let the browser show `record` in the card of `pair` once that pair is judged or skipped; with None, it waits for the
    server."""
    texts = None
    if record is not None:
        texts = {
            "question": record.question,
            "perspective": record.perspective,
            "title": record.title or "Passage",
            "passage": record.passage,
            "source": f"{record.dataset} · {record.corpus}",
        }
    _MOUNT(key="next-pair", data={"pair": pair, "next": texts, "keys": [*VERDICTS, SKIP], "buttons": [GIVE, "skip-"]})
