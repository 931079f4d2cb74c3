"""How objects read in a notebook."""

import html
from collections.abc import Mapping


def facts_html(title: str, told: Mapping[str, str]) -> str:
    """A table of facts, all texts escaped."""
    rows = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in told.items())
    return f"<table><caption>{html.escape(title)}</caption>{rows}</table>"
