"""Untrusted text for Streamlit's Markdown: shown to the letter, with some words highlighted."""

import re
from collections.abc import Iterable

_SPECIAL = re.compile(r"([!-/:-@\[-`{-~])")
# Streamlit draws " -> ", " -- ", " >= " and the like as other signs, and ":streamlit:" as a picture, escaped or not.
# It also makes links of addresses: of those that begin with http:// or www., and of e-mail addresses.
_REDRAWN = re.compile(
    r"(?<![^\s\ufeff])[-<>~](?=(?:->|[-=>])(?![^\s\ufeff]))|:(?=streamlit:|//)|www(?=\.)|[\w.+-](?=@[\w-])",
    re.IGNORECASE,
)
JOINER = "\u2060"
# Wherever it stands: lists, quotations and notes hold blocks too, and entities spell names as well as letters do.
_FENCE = re.compile(r"(?:`{3,}|~{3,})(?=[ \t]*[^\s`~])")


def escaped(text: str) -> str:
    """`text` so that Markdown, HTML, LaTeX, emoji codes and links in it are shown as they were written.

    An invisible word joiner parts the signs that Streamlit would draw as others, or as a link.
    """
    parted = _REDRAWN.sub(rf"\g<0>{JOINER}", re.sub(r"\s+", " ", text))
    return _SPECIAL.sub(r"\\\1", parted)


def highlighted(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Escaped text with the spans (start, end), in order and apart, on a coloured ground."""
    parts: list[str] = []
    end = 0
    for start, stop in spans:
        parts += [escaped(text[end:start]), f":yellow-background[{escaped(text[start:stop])}]"]
        end = stop
    return "".join([*parts, escaped(text[end:])])


def web_address(url: str) -> str:
    """`url` if it is a web address and nothing worse, else an empty text."""
    return url if re.fullmatch(r"https?://[^\s<>\"'()\[\]\\]+", url) else ""


def without_pictures(markdown: str) -> str:
    """Markdown that someone here wrote, of which no picture is fetched from elsewhere: each is left as a link.

    A joiner parts the signs that begin a picture: a backslash before them would undo one that stands there already. It also
    stands before the language of a block of code: of mermaid, Streamlit would draw a diagram, and fetch the pictures in it.
    """
    return _FENCE.sub(rf"\g<0>{JOINER}", markdown.replace("![", f"!{JOINER}["))
