"""Lists of Wikipedia, and their members: columns of names in the tables of articles such as "List of …" (D-MERIT, section 2.1).

A column is used if each of its values links to an article, and none of these articles is referred to by more than 10,000 others.
The member that a value names is the first article that it links to.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from berdseye.data.errors import BadInputError
from berdseye.data.extras import require
from berdseye.data.wikipedia.dump import LIST_TITLE
from berdseye.data.wikipedia.tables import NO_LINK, Column, columns
from berdseye.data.wikipedia.wikitext import Titles
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.steps import Option, Step
from berdseye.evaluation.construction.stored import gone
from berdseye.evaluation.construction.working import Working

if TYPE_CHECKING:
    from berdseye.data.wikipedia.store import WikiStore

BETWEEN = " » "
"""Separates the levels of a hierarchy: the article, its sections, the column."""
OPTIONS = (
    Option("list_title", LIST_TITLE, "What the titles of lists begin with, in the language of the wiki."),
    Option("column", "name", "A word in the headers of the columns to take."),
    Option(
        "most_references", 10_000, "Leave out a list if more articles than this link to one of its members.", least=1
    ),
)


def wiki_of(working: Working) -> "WikiStore":
    """Return what the dump contains. It is read once for all constructions of a workspace, into a folder that backups leave out.

    Raises `BadInputError` unless there is one source, `StaleError` if it is gone, and what `read_dump` raises.
    """
    from berdseye.data.wikipedia.store import dump_digest, read_dump

    if len(working.sources) != 1:
        raise BadInputError("The construction reads one dump.", hint="Give one --source FILE.")
    ((source, path),) = working.sources.items()
    if not path.exists():
        raise gone(source, path)
    title = str(working.settings["list_title"])
    folder = working.workspace.folder / "generated" / ".wikipedia" / f"{dump_digest(path)}-{_stem(title)}"
    return read_dump(path, folder, list_title=title, progress=working.progress)


def read_lists(working: Working) -> list[Row]:
    """Return a row for each article with a list."""
    require("Reading lists of Wikipedia", "mwparserfromhell")
    wiki = wiki_of(working)
    return [
        Row(str(found.id), {"title": found.title}).with_origin("sources", page=found.id, url=wiki.site.url(found.title))
        for found in wiki.lists()
    ]


def _columns(working: Working, rows: Sequence[Row]) -> list[Row]:
    wiki, wanted = wiki_of(working), {row.id: row for row in rows}
    titles = Titles(wiki.site)
    made: list[Row] = []
    for number, article in enumerate(wiki.lists(), start=1):
        if (row := wanted.get(str(article.id))) is not None:
            found = list(columns(article.wikitext, titles, containing=str(working.settings["column"])))
            made += [_of_column(row, place, column) for place, column in enumerate(found, start=1)]
            made += [] if found else [row.reject("no column of names")]
            working.progress(number, "lists", wiki.counts.lists)
    return made


def _of_column(row: Row, place: int, column: Column) -> Row:
    title = str(row.fields["title"])
    fields: Mapping[str, Any] = {
        "title": title,
        "hierarchy": BETWEEN.join(filter(None, [title, *column.sections, column.header])),
        "linked": list(dict.fromkeys(cell.title for cell in column.cells if cell.title)),
        "values": len(column.cells),
    }
    made = Row(f"{row.id}-{place}", fields, row.origin).with_origin("lists", table=column.table, header=column.header)
    if not column.fault:
        return made
    first = next((n for n, cell in enumerate(column.cells, start=1) if not cell.title), None)
    return made.reject(column.fault if first is None else f"{column.fault}: row {first} of the table")


def _members(working: Working, rows: Sequence[Row]) -> list[Row]:
    wiki, most = wiki_of(working), int(working.settings["most_references"])
    known = wiki.articles_of(title for row in rows for title in row.fields["linked"])
    popularity = wiki.popularity(number for number, _ in known.values())
    made = []
    for row in rows:
        linked = row.fields["linked"]
        members = dict(known[title] for title in linked if title in known)
        popular = {title: popularity[number] for number, title in members.items() if popularity[number] > most}
        row = row.with_fields(
            members=[
                {"page": number, "title": title, "popularity": popularity[number]} for number, title in members.items()
            ]
        )
        if absent := [title for title in linked if title not in known]:
            row = row.reject(f"{NO_LINK}: '{absent[0]}' does not exist")
        elif popular:
            title, count = max(popular.items(), key=lambda one: one[1])
            row = row.reject(f"a member has more than {most:,} references: {title} has {count:,}")
        made.append(row)
    return made


def _stem(title: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in title.strip().casefold()) or "all"


LISTS = Step(
    "lists",
    "columns whose values all link to an article",
    run=_columns,
    needs=("hierarchy", "linked"),
)
MEMBERS = Step(
    "members",
    "lists whose members can be searched",
    run=_members,
    needs=("hierarchy", "members"),
    printed=2_500,
    place="D-MERIT, section 2.2 (about)",
)
