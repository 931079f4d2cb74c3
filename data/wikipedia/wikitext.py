"""Plain text and links from wikitext, in one pass each, fast enough for every article of a dump.

Templates are not expanded: a dump does not contain what they would show. A few templates that stand for their own arguments are
replaced by these; links that only templates bring (navigation boxes) are unknown. Markup that does not close is text, as in
MediaWiki, and is counted.
"""

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from berdseye.data.texts.passages import safe
from berdseye.data.wikipedia.dump import ARTICLES, Site

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HIDDEN = (
    "ref|math|chem|gallery|timeline|score|syntaxhighlight|source|imagemap|graph|mapframe|templatestyles|style|script"
)
_UNREAD = re.compile(
    rf"<({_HIDDEN})\b[^<>]*/>|<({_HIDDEN})\b[^<>]*>(?:(?!<\2\b).)*?</\2\s*>", re.DOTALL | re.IGNORECASE
)
_OPENED = re.compile(rf"<(?:{_HIDDEN})\b[^<>]*>?", re.IGNORECASE)
_LINK = re.compile(r"\[\[([^\[\]|#<>{}\n]+)")
_HEADING_LINE = re.compile(r"^=.*$", re.MULTILINE)
_FIRST_HEADING = re.compile(r"^==[^=]|^={1,6}[^=\n].*=[ \t]*$", re.MULTILINE)
_TOKEN = re.compile(r"\{\{|\}\}|\[\[|\]\]|^[ \t:]*\{\||^[ \t]*\|\}(?!\})", re.MULTILINE)
_CLOSES = {"}}": "{{", "]]": "[[", "|}": "{|"}
_EXTERNAL = re.compile(r"\[(?:https?:|ftp:|mailto:)?//[^\s\[\]]*[ \t]*([^\[\]\n]*)\]")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
_QUOTES = re.compile(r"'{2,5}")
_MAGIC = re.compile(r"__[A-Z]{3,20}__")
_MARKS = re.compile(r"^[*#:;]+[ \t]*", re.MULTILINE)
_SPACES = re.compile(r"\s+")
_EMPTY_BRACKETS = re.compile(r" ?\( ?(?:[,;:–-] ?){0,8}\)")
_AFTER_OPENING, _BEFORE_CLOSING = re.compile(r"\((?: ?[,;]){1,8} ?"), re.compile(r"(?: ?[,;]){1,8} ?\)")
_PUNCTUATION = re.compile(r"\s+([,.;:)](?:\s|$))")
_LINKS_IN_ORDER = re.compile(rf"\{{\{{\s*sortname\s*\|([^{{}}]*)\}}\}}|{_LINK.pattern}", re.IGNORECASE)
_DEEPEST = 64
"""Nested marks beyond this depth are text, so that time stays linear in a hostile text."""
_ARGUMENT = {
    "lang": 1,
    "nowrap": 0,
    "nobr": 0,
    "transl": 1,
    "transliteration": 1,
    "small": 0,
    "abbr": 0,
    "em": 0,
    "strong": 0,
}
"""Templates that stand for one of their unnamed arguments, and the number of this argument."""
_NAMED = re.compile(r"\s*[a-z]{1,20}\s*=")
_FILES = {
    "file",
    "image",
    "category",
    "datei",
    "bild",
    "kategorie",
    "fichier",
    "catégorie",
    "archivo",
    "categoría",
    "imagen",
}
"""Namespaces whose links show no text, in the languages of the largest Wikipedias."""
_MARK = {"snd": " – ", "spaced ndash": " – ", "ndash": "–", "mdash": "—", "nbsp": " ", "·": " · ", "!": "|"}


class Plain(NamedTuple):
    """A text without markup, and how many marks in it do not close."""

    text: str
    unclosed: int


class Section(NamedTuple):
    """A part of a page: the headings above it, from the outermost to its own, and its wikitext up to the next heading."""

    headings: tuple[str, ...]
    wikitext: str


def introduction(wikitext: str) -> Plain:
    """The text before the first heading, as plain text in one line."""
    first = _FIRST_HEADING.search(wikitext)
    return plain(wikitext[: first.start()] if first else wikitext)


def plain(wikitext: str) -> Plain:
    """The text without comments, references, templates, tables, files and marks, in one line."""
    text, unclosed = _without_unread(wikitext)
    text, more = _without_nested(text)
    text = _EXTERNAL.sub(r"\1", text)
    text = _QUOTES.sub("", text)
    text = _MARKS.sub("", _MAGIC.sub("", text))
    text = html.unescape(_TAG.sub(" ", text)).replace("\u00ad", "").replace("\u200b", "")
    text = _SPACES.sub(" ", safe(text))
    if "(" in text:
        text = _EMPTY_BRACKETS.sub("", _BEFORE_CLOSING.sub(")", _AFTER_OPENING.sub("(", text)))
    return Plain(_PUNCTUATION.sub(r"\1", text).strip(), unclosed + more)


def sections(wikitext: str) -> Iterator[Section]:
    """Yield the parts of a page in order, the one before the first heading included."""
    path: list[tuple[int, str]] = []
    start = 0
    for line in _HEADING_LINE.finditer(wikitext):
        heading = line.group().rstrip()
        level = min(len(heading) - len(heading.lstrip("=")), len(heading) - len(heading.rstrip("=")), 6)
        if not level or not heading.strip("= \t"):
            continue
        yield Section(tuple(title for _, title in path), wikitext[start : line.start()])
        path = [(n, title) for n, title in path if n < level]
        path.append((level, plain(heading[level:-level]).text))
        start = line.end()
    yield Section(tuple(title for _, title in path), wikitext[start:])


class Titles:
    """The titles of articles that links lead to, in the form in which a dump has them."""

    def __init__(self, site: Site) -> None:
        self._namespaces = {name for name, number in site.namespaces.items() if number != ARTICLES and name}
        self._first_letter = site.first_letter
        self._known: dict[str, str] = {}

    def of(self, target: str) -> str:
        """The title that a link's target names, without a section; "" for what is not an article."""
        known = self._known.get(target)
        if known is None:
            if len(self._known) >= 200_000:
                self._known.clear()
            known = self._known[target] = self._of(target)
        return known

    def _of(self, target: str) -> str:
        text = html.unescape(target) if "&" in target else target
        title = " ".join(text.partition("#")[0].replace("_", " ").strip(" :\t").split())
        before, colon, _ = title.partition(":")
        if not title or (colon and before.strip().casefold() in self._namespaces):
            return ""
        return title[0].upper() + title[1:] if self._first_letter else title

    def linked(self, wikitext: str) -> set[str]:
        """The titles of all articles that a page links to, in its text, tables and the arguments of templates."""
        if "<!--" in wikitext:
            wikitext = _COMMENT.sub("", wikitext)
        of = self.of
        titles = {of(target) for target in set(_LINK.findall(wikitext))}
        titles.discard("")
        return titles

    def first_linked(self, wikitext: str) -> str:
        """The title of the first article that a short text links to outside references; "" if there is none.

        The template `sortname` counts as a link, since lists of people use it for one.
        """
        text, _ = _without_unread(wikitext)
        for match in _LINKS_IN_ORDER.finditer(text):
            title = self.of(_sortname(match[1]) if match[1] is not None else match[2])
            if title:
                return title
        return ""


def _sortname(arguments: str) -> str:
    """What {{sortname|First|Last|Target}} links to; "" with `nolink`."""
    parts = [part.strip() for part in arguments.split("|")]
    if any(re.fullmatch(r"nolink\s*=.*", part) for part in parts):
        return ""
    unnamed = [part for part in parts if "=" not in part]
    return unnamed[2] if len(unnamed) > 2 and unnamed[2] else " ".join(unnamed[:2])


def _without_unread(text: str) -> tuple[str, int]:
    """The text without comments and elements that are no running text, and how many of these do not close."""
    unclosed = 0
    if "<" in text:
        if "<!--" in text:
            unclosed += text.count("<!--") > text.count("-->")
            text = _COMMENT.sub("", text)
        text = _UNREAD.sub("", text)
        text, opened = _OPENED.subn("", text)
        unclosed += opened
    return text, unclosed


def _without_nested(text: str) -> tuple[str, int]:
    """The text with templates and tables removed and links replaced by what they show, and how many of these do not close.

    One pass with a stack, so that time is linear in the text however deep it nests.
    """
    stack: list[tuple[str, list[str]]] = []
    out: list[str] = []
    place = unclosed = 0
    for match in _TOKEN.finditer(text):
        token = match.group().strip(" \t:")
        out.append(text[place : match.start()])
        place = match.end()
        opening = _CLOSES.get(token)
        if opening is None and len(stack) < _DEEPEST:
            stack.append((token, out))
            out = []
        elif any(kind == opening for kind, _ in stack):
            while True:
                kind, before = stack.pop()
                inside = "".join(out)
                if kind == opening:
                    before.append(_shown(kind, inside))
                    out = before
                    break
                unclosed += 1
                before.append(inside)
                out = before
        else:
            unclosed += 1
    out.append(text[place:])
    while stack:
        kind, before = stack.pop()
        unclosed += 1
        before.append(_rest(kind, "".join(out)))
        out = before
    return "".join(out), unclosed


def _shown(kind: str, inside: str) -> str:
    """What a link shows, or a template that stands for its argument; nothing for other templates and tables."""
    if kind == "[[":
        target, _, label = inside.partition("|")
        namespace, colon, _ = target.partition(":")
        return "" if colon and namespace.strip().casefold() in _FILES else label or target.lstrip(":")
    if kind == "{|":
        return ""
    name, *arguments = inside.split("|")
    key = name.strip().casefold()
    if key in _MARK:
        return _MARK[key]
    if key == "convert":
        return " ".join(argument.strip() for argument in arguments[:2])
    place = 0 if key.startswith("lang-") else _ARGUMENT.get(key)
    unnamed = [argument for argument in arguments if not _NAMED.match(argument)] if place is not None else []
    return unnamed[place].strip() if place is not None and place < len(unnamed) else ""


def _rest(kind: str, inside: str) -> str:
    """What remains of a mark that never closes: a template or a table ends at the first empty line; a link is text."""
    return inside if kind == "[[" else inside.partition("\n\n")[2]
