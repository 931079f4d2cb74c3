"""The tables of a list article, in wikitext and in HTML: columns of names and the articles that their cells link to."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from berdseye.data.extras import needing
from berdseye.data.wikipedia.wikitext import Titles, plain, sections

if TYPE_CHECKING:
    from mwparserfromhell.nodes import Tag
    from mwparserfromhell.wikicode import Wikicode

_MARK = re.compile(r"^[ \t:]*(\{\|)|^[ \t]*(\|\})(?!\})|(<table\b)|(</table\s*>)", re.MULTILINE | re.IGNORECASE)
_LARGEST_SPAN, _MOST_CELLS = 1_000, 200_000
_LONGEST_TABLE, _MOST_ROWS = 2_000_000, 10_000
"""Larger tables are not read: the parser's time grows faster than the table."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HTML = re.compile(r"<(/?)(table|tr|td|th)\b([^<>]*)>", re.IGNORECASE)
_SPAN = re.compile(r"\b(colspan|rowspan)\s*=\s*[\"']?\s*(\d{1,6})\b", re.IGNORECASE | re.ASCII)
NOT_CLOSED = "the table does not close"
EMPTY_CELL = "a cell is empty"
NO_LINK = "a value links to no article"
NO_VALUES = "the column has no values"
NOT_READ = "the table cannot be read"


class Cell(NamedTuple):
    """A cell of a column: its text, and the title that its first link leads to ("" without a link)."""

    text: str
    title: str


class Column(NamedTuple):
    """A column of a list: the sections above its table, its header, its cells, and why it cannot be used ("" if it can).

    `table` is the number of the table in the article, from 1.
    """

    sections: tuple[str, ...]
    header: str
    table: int
    cells: tuple[Cell, ...]
    fault: str = ""


class _GridCell(NamedTuple):
    source: str
    heading: bool
    spans_row: bool = False


def columns(wikitext: str, titles: Titles, *, containing: str = "name") -> Iterator[Column]:
    """Yield the columns whose header contains a word, in the order of the article, those that cannot be used too.

    A table that does not close gives one column without cells and header. Raises `UnavailableError` without the extra
    `wikipedia`.
    """
    number = 0
    for section in sections(_COMMENT.sub("", wikitext)):
        headings = section.headings
        for source, closed in _tables(section.wikitext):
            number += 1
            if containing.casefold() not in source.casefold():
                continue
            if not closed:
                yield Column(headings, "", number, (), NOT_CLOSED)
                continue
            small = len(source) <= _LONGEST_TABLE and source.count("\n|-") <= _MOST_ROWS
            grid = _grid(source) if small else None
            if grid is None:
                yield Column(headings, "", number, (), NOT_READ)
                continue
            yield from _named(grid, headings, number, titles, containing)


def _named(
    grid: list[list[_GridCell]], headings: tuple[str, ...], number: int, titles: Titles, containing: str
) -> Iterator[Column]:
    rows = iter(grid)
    header: list[list[_GridCell]] = []
    values: list[list[_GridCell]] = []
    for row in rows:
        if not row or row[0].spans_row:  # a heading within the table
            continue
        if all(cell.heading for cell in row):
            header += [] if values else [row]
        else:
            values.append(row)
    for place in range(max((len(row) for row in header), default=0)):
        texts = dict.fromkeys(plain(row[place].source).text for row in header if place < len(row))
        name = " ".join(text for text in texts if text)
        if containing.casefold() not in name.casefold():
            continue
        sources = [row[place].source if place < len(row) else "" for row in values]
        cells = tuple(Cell(plain(source).text, titles.first_linked(source)) for source in sources)
        yield Column(headings, name, number, cells, _fault(cells))


def _fault(cells: tuple[Cell, ...]) -> str:
    if not cells:
        return NO_VALUES
    if any(not cell.text and not cell.title for cell in cells):
        return EMPTY_CELL
    return NO_LINK if any(not cell.title for cell in cells) else ""


def _tables(wikitext: str) -> Iterator[tuple[str, bool]]:
    """Yield the source of each outermost table, and whether it closes."""
    depth = start = 0
    for match in _MARK.finditer(wikitext):
        if match[1] or match[3]:
            start = start if depth else match.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield wikitext[start : match.end()].strip(" \t:"), True
    if depth:
        yield wikitext[start:], False


class _Source(NamedTuple):
    """A cell as it is written: its wikitext, and how many columns and rows it spans."""

    wikitext: str
    heading: bool
    wide: int = 1
    high: int = 1


def _grid(source: str) -> list[list[_GridCell]] | None:
    """The cells of a table by row and column, those that span several in each place; None if the table cannot be read."""
    grid: list[list[_GridCell]] = []
    hanging: dict[int, tuple[int, _GridCell]] = {}
    made = 0
    for sources in _html_rows(source) if source.startswith("<") else _wikitext_rows(source):
        row: list[_GridCell] = []
        waiting = list(reversed(sources))
        while waiting or any(place >= len(row) for place in hanging):
            place = len(row)
            if place in hanging:
                left, cell = hanging.pop(place)
                if left > 1:
                    hanging[place] = (left - 1, cell)
                row.append(cell)
            elif waiting:
                found = waiting.pop()
                alone = len(sources) == 1 and found.wide > 1 and not row
                cell = _GridCell(found.wikitext, found.heading, alone)
                for column in range(place, place + found.wide):
                    row.append(cell)
                    if found.high > 1:
                        hanging[column] = (found.high - 1, cell)
            else:
                row.append(_GridCell("", False))
        made += len(row)
        if made > _MOST_CELLS or len(row) > _LARGEST_SPAN:
            return None
        grid.append(row)
    return grid or None


def _wikitext_rows(source: str) -> Iterator[list[_Source]]:
    """Yield the cells of each row of a table in wikitext that has any."""
    with needing("Reading tables of Wikipedia"):
        import mwparserfromhell

        parsed = mwparserfromhell.parse(source, skip_style_tags=True)
    tables = _tags(parsed, "table")
    for row in [tables[0], *_tags(tables[0].contents, "tr")] if tables else ():
        # The cells before the first mark of a row are those of the table itself; a caption looks like a cell that begins with +.
        cells = _tags(row.contents, "td", "th")
        written = [
            _Source(str(tag.contents), _name(tag) == "th", _span(tag, "colspan"), _span(tag, "rowspan"))
            for tag in cells
        ]
        if found := [cell for cell in written if row is not tables[0] or not cell.wikitext.startswith("+")]:
            yield found


def _html_rows(source: str) -> Iterator[list[_Source]]:
    """Yield the cells of each row of a table in HTML; cells and rows may lack their end tags. Tables in cells are left out."""
    row: list[_Source] = []
    opened: tuple[bool, str, int] | None = None
    depth = 0
    for mark in _HTML.finditer(source):
        end, name = bool(mark[1]), mark[2].casefold()
        depth += (-1 if end else 1) if name == "table" else 0
        if depth > 1 or (name == "table" and depth == 1 and end):
            continue
        if opened:
            heading, attributes, start = opened
            spans = {key.casefold(): max(1, min(int(n), _LARGEST_SPAN)) for key, n in _SPAN.findall(attributes)}
            row.append(_Source(source[start : mark.start()], heading, spans.get("colspan", 1), spans.get("rowspan", 1)))
            opened = None
        if name in ("tr", "table") and row:
            yield row
            row = []
        if name in ("td", "th") and not end:
            opened = (name == "th", mark[3], mark.end())


def _tags(code: "Wikicode | None", *names: str) -> list["Tag"]:
    """The elements with one of these names directly in parsed wikitext."""
    nodes: list[Any] = code.nodes if code is not None else []
    return [node for node in nodes if hasattr(node, "tag") and _name(node) in names]


def _name(tag: "Tag") -> str:
    return str(tag.tag).strip().casefold()


def _span(tag: "Tag", name: str) -> int:
    """How many columns or rows a cell spans; 1 where the number is missing or invalid."""
    match = _SPAN.fullmatch(f"{name}={str(tag.get(name).value).strip()}") if tag.has(name) else None
    return max(1, min(int(match[2]), _LARGEST_SPAN)) if match else 1
