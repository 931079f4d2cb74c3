"""A passage of which a person may take spans as evidence; the passage is text, never HTML."""

from importlib.resources import files

import streamlit as st

from annotation.evidence import Span, merged
from data.sentences import sentence_spans

_HTML = """<div class="berdseye-passage"></div>
<div class="berdseye-evidence-line"><button type="button"></button><span></span></div>"""
_HERE = files("app.components")
# In the page's own tree, not in a shadow of it: a selection there can be read in every browser.
_MOUNT = st.components.v2.component(
    "berdseye_passage",
    html=_HTML,
    css=(_HERE / "passage_text.css").read_text(encoding="utf-8"),
    js=(_HERE / "passage_text.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)
_KEY = "passage-text"


def passage_text(pair: str, text: str) -> None:
    """Draw the passage of a pair; what is taken of it is asked for with `taken_evidence`."""
    _MOUNT(
        key=_KEY,
        data={"pair": pair, "text": text, "sentences": [list(span) for span in sentence_spans(text)]},
        on_evidence_change=lambda: None,
    )


def taken_evidence(pair: str) -> tuple[Span, ...]:
    """The spans taken of this pair's passage, in order and apart."""
    said = (st.session_state.get(_KEY) or {}).get("evidence") or {}
    return merged(said["spans"]) if said.get("pair") == pair else ()
