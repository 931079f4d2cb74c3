"""A passage in which a person can select spans as evidence. It is shown as text, never as HTML."""

from collections.abc import Sequence
from importlib.resources import files

import streamlit as st

from berdseye.annotation.judgments.recorded import Span, merged
from berdseye.data.texts.chunkers import sentence_spans

_HTML = """<div class="berdseye-passage"></div>
<div class="berdseye-evidence-line"><button type="button"></button><span></span></div>"""
_HERE = files("berdseye.app.components")
# Mounted in the page's own tree, not in a shadow tree: every browser can read a selection there.
_MOUNT = st.components.v2.component(
    "berdseye_passage",
    html=_HTML,
    css=(_HERE / "passage_text.css").read_text(encoding="utf-8"),
    js=(_HERE / "passage_text.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)
_KEY, _RESTORED = "passage-text", "restored_evidence"


def passage_text(pair: str, text: str) -> None:
    """Draw the passage of a pair. `taken_evidence` returns the evidence selected in it."""
    _MOUNT(
        key=_KEY,
        data={
            "pair": pair,
            "text": text,
            "sentences": [list(span) for span in sentence_spans(text)],
            "spans": [list(span) for span in taken_evidence(pair)],
        },
        on_evidence_change=lambda: None,
    )


def taken_evidence(pair: str) -> tuple[Span, ...]:
    """Return the spans selected in this pair's passage, sorted and without overlap."""
    chosen = (st.session_state.get(_KEY) or {}).get("evidence") or {}
    if chosen.get("pair") == pair:
        return merged(chosen["spans"])
    restored_pair, spans = st.session_state.get(_RESTORED, ("", ()))
    return merged(spans) if restored_pair == pair else ()


def restore_evidence(pair: str, spans: Sequence[Span]) -> None:
    """Show these spans as selected when the passage of the pair is next drawn."""
    st.session_state[_RESTORED] = (pair, tuple(spans))
