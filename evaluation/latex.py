"""Texts in LaTeX."""

import re

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def latex_text(text: object) -> str:
    """Return a text, or a number as text, with the characters escaped that are special in LaTeX."""
    return re.sub(r"[\\&%$#_{}~^<>]", lambda match: _LATEX.get(match[0], f"\\{match[0]}"), str(text))
