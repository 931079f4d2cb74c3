"""Untrusted text for Streamlit's Markdown: shown literally, optionally with highlighted spans."""

import re
from collections.abc import Iterable
from typing import NamedTuple

_SPECIAL = re.compile(r"([!-/:-@\[-`{-~])")
# Streamlit replaces " -> ", " -- ", " >= " and the like by other characters, and ":streamlit:" by a picture, escaped or not.
# It also turns addresses that begin with http:// or www. and e-mail addresses into links.
_REDRAWN = re.compile(
    r"(?<![^\s\ufeff])[-<>~](?=(?:->|[-=>])(?![^\s\ufeff]))|:(?=streamlit:|//)|www(?=\.)|[\w.+-](?=@[\w-])",
    re.IGNORECASE,
)
JOINER = "\u2060"
# Matched anywhere: lists, quotations and notes can contain code blocks, too, and entities can spell a language's name.
_FENCE = re.compile(r"(?:`{3,}|~{3,})(?=[ \t]*[^\s`~])")


def escaped(text: str) -> str:
    """Escape `text`, so that Markdown, HTML, LaTeX, emoji codes and links in it are shown literally.

    An invisible word joiner separates characters that Streamlit would otherwise replace by others or by a link.
    """
    parted = _REDRAWN.sub(rf"\g<0>{JOINER}", re.sub(r"\s+", " ", text))
    return _SPECIAL.sub(r"\\\1", parted)


def with_code(text: str) -> str:
    """Return the escaped text with the parts between backquotes, such as commands, as code."""
    parts = enumerate(text.split("`"))
    return "".join(f"`{part}`" if place % 2 else escaped(part) for place, part in parts)


def highlighted(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return the escaped text with the spans (start, end) highlighted. The spans are sorted and do not overlap."""
    parts: list[str] = []
    end = 0
    for start, stop in spans:
        parts += [escaped(text[end:start]), f":yellow-background[{escaped(text[start:stop])}]"]
        end = stop
    return "".join([*parts, escaped(text[end:])])


class Mark(NamedTuple):
    """A span [start, end) of a text, the colour behind it, and the note after it, such as the number of a perspective."""

    start: int
    end: int
    colour: str
    note: str


def annotated(text: str, marks: Iterable[Mark]) -> str:
    """Return the escaped text with marks. The marks are sorted and do not overlap."""
    parts: list[str] = []
    end = 0
    for mark in marks:
        inside = f':color[{escaped(text[mark.start : mark.end])}]{{background="{mark.colour}"}}'
        parts += [escaped(text[end : mark.start]), inside, f" :small[**{escaped(mark.note)}**]"]
        end = mark.end
    return "".join([*parts, escaped(text[end:])])


def web_address(url: str) -> str:
    """Return `url` if it is a plain http or https address that is safe in Markdown, otherwise an empty text."""
    return url if re.fullmatch(r"https?://[^\s<>\"'()\[\]\\]+", url) else ""


def without_pictures(markdown: str) -> str:
    """Return Markdown written by people of the workspace with every picture turned into a link, so that none is fetched.

    A word joiner separates the characters that begin a picture: a backslash would cancel one that is already there. A joiner
    also precedes the language of a code block: for mermaid, Streamlit would draw a diagram and fetch the pictures in it.
    """
    return _FENCE.sub(rf"\g<0>{JOINER}", markdown.replace("![", f"!{JOINER}["))
