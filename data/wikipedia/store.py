"""What a dump contains, in a folder that can be asked: articles with introductions, redirects, lists, and who links to whom.

`read_dump` writes Parquet segments while it reads, so that an interrupted reading resumes, and then resolves redirects and links
with DuckDB within a fixed amount of memory. A folder holds:
- `articles/`: id, title and introduction; `lists/`: id, title and wikitext of the articles with titles such as "List of …";
- `redirects/`: title and target; `links/`: id of the linking article and linked title;
- `titles.parquet`: every title and alias that leads to an article; `inlinks.parquet`: target and source, once each, without
  links of an article to itself; `reading.json`: the dump, its wiki, and counts of what was read and what was broken.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from berdseye.data.errors import BadInputError, BerdseyeError, StaleError, UnavailableError
from berdseye.data.files.atomic import replacing, write_json, write_parquet
from berdseye.data.files.locks import locked
from berdseye.data.progress import Progress, silent
from berdseye.data.wikipedia.dump import ARTICLES, LIST_TITLE, Dump, Page, Site
from berdseye.data.wikipedia.wikitext import Titles, introduction

MEMORY = "1GB"
"""What DuckDB may use; more goes to temporary files in the folder."""
_SEGMENT_PAGES = 25_000
_COMPARED = 1 << 20
_HOPS = 4
"""Redirects of redirects that are followed."""
_SCHEMAS = {
    "articles": pa.schema([("id", pa.int64()), ("title", pa.string()), ("introduction", pa.string())]),
    "lists": pa.schema([("id", pa.int64()), ("title", pa.string()), ("wikitext", pa.string())]),
    "redirects": pa.schema([("title", pa.string()), ("target", pa.string())]),
    "links": pa.schema([("source", pa.int64()), ("target", pa.string())]),
}


@dataclass
class Counts:
    """What a reading found: pages of all kinds, and what of their markup was broken."""

    pages: int = 0
    articles: int = 0
    redirects: int = 0
    lists: int = 0
    links: int = 0
    no_introduction: int = 0
    unclosed: int = 0
    """Introductions with markup that does not close."""
    cut: int = 0
    """Pages that are too long to be read whole."""
    bytes: int = 0
    """Of XML, uncompressed."""


class Article(NamedTuple):
    """An article: its page number, title and introduction as plain text."""

    id: int
    title: str
    introduction: str


class ListArticle(NamedTuple):
    """An article with a list: its page number, title and wikitext."""

    id: int
    title: str
    wikitext: str


class Linking(NamedTuple):
    """An article that links to `target`, with the number of articles that link to it in turn."""

    target: int
    article: Article
    popularity: int


@dataclass(frozen=True)
class WikiStore:
    """A finished reading in a folder; open one with `open_store` or `read_dump`."""

    folder: Path
    site: Site
    counts: Counts = field(default_factory=Counts)

    def lists(self) -> Iterator[ListArticle]:
        """Yield the list articles by page number."""
        yield from (
            ListArticle(*row) for row in self._rows(f"SELECT id, title, wikitext FROM {self._all('lists')} ORDER BY id")
        )

    def articles_of(self, titles: Iterable[str]) -> dict[str, tuple[int, str]]:
        """The page number and title of the article that each title or alias leads to; titles that lead nowhere are left out."""
        asked = pa.table({"asked": pa.array(sorted(set(titles)), pa.string())})
        rows = self._rows(
            f"SELECT asked, t.id, a.title FROM asked JOIN {self._file('titles')} t ON t.title = asked "
            f"JOIN {self._all('articles')} a ON a.id = t.id ORDER BY asked",
            asked=asked,
        )
        return {name: (number, title) for name, number, title in rows}

    def popularity(self, articles: Iterable[int]) -> dict[int, int]:
        """How many other articles link to each article or an alias of it, by page number."""
        asked = _numbers(articles)
        rows = self._rows(
            f"SELECT asked, count(source) FROM asked LEFT JOIN {self._file('inlinks')} ON target = asked GROUP BY asked",
            asked=asked,
        )
        return dict(rows)

    def linking(self, articles: Iterable[int]) -> Iterator[Linking]:
        """Yield the articles with an introduction that link to each of the given ones, by target, then by page number."""
        rows = self._rows(
            f"SELECT target, a.id, a.title, a.introduction, p.links FROM asked JOIN {self._file('inlinks')} ON target = asked "
            f"JOIN {self._all('articles')} a ON a.id = source JOIN {self._file('popularity')} p ON p.id = a.id "
            "WHERE a.introduction <> '' ORDER BY target, a.id",
            asked=_numbers(articles),
        )
        yield from (Linking(target, Article(*article), links) for target, *article, links in rows)

    def articles(self, numbers: Iterable[int]) -> dict[int, Article]:
        """The articles with these page numbers; unknown ones are left out."""
        rows = self._rows(
            f"SELECT id, title, introduction FROM {self._all('articles')} JOIN asked ON id = asked ORDER BY id",
            asked=_numbers(numbers),
        )
        return {row[0]: Article(*row) for row in rows}

    def passages(self) -> Iterator[tuple[Article, int]]:
        """Yield every article with an introduction, by page number, with its popularity."""
        rows = self._rows(
            f"SELECT a.id, a.title, a.introduction, p.links FROM {self._all('articles')} a "
            f"JOIN {self._file('popularity')} p ON p.id = a.id WHERE a.introduction <> '' ORDER BY a.id"
        )
        yield from ((Article(*article), links) for *article, links in rows)

    def _rows(self, query: str, *, asked: pa.Table | None = None) -> Iterator[tuple[Any, ...]]:
        with _database(self.folder) as database:
            if asked is not None:
                database.register("asked", asked)
            found = database.execute(query)
            while rows := found.fetchmany(10_000):
                yield from rows

    def _all(self, kind: str) -> str:
        return _all(self.folder, kind)

    def _file(self, name: str) -> str:
        return f"read_parquet('{_quoted(self.folder / f'{name}.parquet')}')"


def open_store(folder: Path) -> WikiStore:
    """Open a finished reading; raises `UnavailableError` if there is none."""
    state = _state(folder)
    if not state.get("complete"):
        raise UnavailableError("No dump has been read here.", where=folder, hint="Read a dump first.")
    return WikiStore(folder, Site(**state["site"]), Counts(**state["counts"]))


def read_dump(
    path: Path,
    folder: Path,
    *,
    list_title: str = LIST_TITLE,
    segment: int = _SEGMENT_PAGES,
    progress: Progress = silent,
) -> WikiStore:
    """Read a dump into a folder, or open the folder if it holds this dump already.

    `list_title` begins the titles of lists, in the language of the wiki. An interrupted reading resumes after the last segment
    of `segment` pages, and ends with the same bytes. Raises `BadInputError` for a damaged dump and for one without articles,
    `StaleError` if the folder holds another dump, `BerdseyeError` while another process reads into this folder.
    """
    busy = BerdseyeError(
        "Another process is reading this dump.", where=folder, hint="Wait until it has finished, then try again."
    )
    with locked(folder.parent / f".{folder.name}.lock", busy=busy):
        return _read(path, folder, list_title, segment, progress)


def _read(path: Path, folder: Path, list_title: str, segment: int, progress: Progress) -> WikiStore:
    dump = Dump(path)
    source = {"dump": dump_digest(path), "list_title": list_title, "segment": segment}
    state = _state(folder)
    if state and state["source"] != source:
        raise StaleError(
            "The folder holds what was read of another dump, or with other settings.",
            where=folder,
            hint="Use another name, or remove the folder.",
        )
    if state.get("complete"):
        return open_store(folder)
    if not state:
        for name in _SCHEMAS:
            shutil.rmtree(folder / name, ignore_errors=True)
    _Reading(dump, folder, source, Counts(**state.get("counts", {})), progress).run()
    return open_store(folder)


class _Reading:
    """One reading while it is under way."""

    def __init__(self, dump: Dump, folder: Path, source: Mapping[str, Any], counts: Counts, progress: Progress) -> None:
        self.dump, self.folder, self.source, self.counts, self.progress = dump, folder, source, counts, progress
        self.titles: Titles | None = None
        self.segment: dict[str, list[list[Any]]] = {}

    def run(self) -> None:
        done, size = self.counts.pages, self.source["segment"]
        self._begin()
        for number, page in enumerate(self.dump.pages()):
            if number < done:
                continue
            self._add(page)
            if self.counts.pages % size == 0:
                self._write(self.counts.pages // size - 1)
        if self.counts.pages > done and self.counts.pages % size:
            self._write(self.counts.pages // size)
        if not self.counts.articles:
            raise BadInputError(
                "The dump contains no article.", where=self.dump.path, hint="Use a dump pages-articles.xml."
            )
        self._settle()
        self._keep(complete=True)

    def _begin(self) -> None:
        self.segment = {kind: [[] for _ in schema] for kind, schema in _SCHEMAS.items()}

    def _add(self, page: Page) -> None:
        if self.titles is None:
            self.titles = Titles(self.dump.site)
        counts = self.counts
        counts.pages += 1
        counts.cut += page.cut
        if page.namespace != ARTICLES:
            return
        if page.redirect:
            counts.redirects += 1
            self._row("redirects", page.title, self.titles.of(page.redirect))
            return
        text, unclosed = introduction(page.text)
        linked = sorted(self.titles.linked(page.text))
        counts.articles += 1
        counts.links += len(linked)
        counts.no_introduction += not text
        counts.unclosed += bool(unclosed)
        self._row("articles", page.id, page.title, text)
        sources, targets = self.segment["links"]
        sources.extend([page.id] * len(linked))
        targets.extend(linked)
        if page.title.startswith(self.source["list_title"]):
            counts.lists += 1
            self._row("lists", page.id, page.title, page.text)

    def _row(self, kind: str, *values: Any) -> None:
        for column, value in zip(self.segment[kind], values, strict=True):
            column.append(value)

    def _write(self, number: int) -> None:
        """Write a segment, then note that it is there: a segment that is not noted is written again."""
        for kind, columns in self.segment.items():
            table = pa.table(dict(zip(_SCHEMAS[kind].names, columns, strict=True)), schema=_SCHEMAS[kind])
            write_parquet(self.folder / kind / f"{number:06}.parquet", table)
        self._begin()
        self._keep()
        self.progress(self.counts.pages, "pages", None)

    def _keep(self, *, complete: bool = False) -> None:
        self.counts.bytes = self.dump.bytes_read
        site = self.dump.site._asdict()
        write_json(
            self.folder / "reading.json",
            {"source": self.source, "site": site, "counts": asdict(self.counts), "complete": complete},
        )

    def _settle(self) -> None:
        """Write where each title leads, and which article links to which."""
        self.progress(self.counts.pages, "pages read; resolving redirects and links", None)
        articles, redirects, links = (_all(self.folder, kind) for kind in ("articles", "redirects", "links"))
        with _database(self.folder) as database:
            database.execute(f"CREATE TEMP TABLE titles AS SELECT title, min(id) AS id FROM {articles} GROUP BY title")
            database.execute(
                f"CREATE TEMP TABLE aliases AS SELECT title, min(target) AS target FROM {redirects} GROUP BY title"
            )
            for _ in range(_HOPS):
                database.execute(
                    "INSERT INTO titles SELECT a.title, t.id FROM aliases a JOIN titles t ON t.title = a.target "
                    "WHERE a.title NOT IN (SELECT title FROM titles)"
                )
            self._copy(database, "titles", "SELECT title, id FROM titles ORDER BY title")
            self._copy(
                database,
                "inlinks",
                f"SELECT DISTINCT t.id AS target, l.source FROM {links} l JOIN titles t ON t.title = l.target "
                "WHERE t.id <> l.source ORDER BY t.id, l.source",
            )
            inlinks = f"read_parquet('{_quoted(self.folder / 'inlinks.parquet')}')"
            self._copy(
                database,
                "popularity",
                f"SELECT a.id, count(source) AS links FROM {articles} a LEFT JOIN {inlinks} ON target = a.id "
                "GROUP BY a.id ORDER BY a.id",
            )

    def _copy(self, database: duckdb.DuckDBPyConnection, name: str, query: str) -> None:
        with replacing(self.folder / f"{name}.parquet") as temporary:
            database.execute(f"COPY ({query}) TO '{_quoted(temporary)}' (FORMAT parquet, COMPRESSION zstd)")


@contextmanager
def _database(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    database = duckdb.connect(config={"memory_limit": MEMORY, "temp_directory": str(folder / "temporary")})
    try:
        database.execute("SET enable_progress_bar = false")  # it would write to the output of a command
        yield database
    except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
        raise UnavailableError(
            f"The stored dump cannot be read or written: {error}.",
            where=folder,
            hint="Check the free space, or remove the folder and read the dump again.",
        ) from error
    finally:
        database.close()


def _numbers(values: Iterable[int]) -> pa.Table:
    return pa.table({"asked": pa.array(sorted(set(values)), pa.int64())})


def _all(folder: Path, kind: str) -> str:
    return f"read_parquet('{_quoted(folder / kind)}/*.parquet')"


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def dump_digest(path: Path) -> str:
    """Return a hash of a dump's size, beginning and end, which takes no time for a dump of any size: 32 hex digits."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            begins = file.read(_COMPARED)
            file.seek(max(0, size - _COMPARED))
            ends = file.read(_COMPARED)
    except OSError as error:
        raise BadInputError(
            f"The dump cannot be read: {error.strerror or error}.", where=path, hint="Give the path of a dump."
        ) from error
    return hashlib.blake2b(b"%d " % size + begins + ends, digest_size=16).hexdigest()


def _state(folder: Path) -> dict[str, Any]:
    try:
        state: dict[str, Any] = json.loads((folder / "reading.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UnavailableError(
            f"The reading of the dump is damaged: {error}.",
            where=folder,
            hint="Remove the folder and read the dump again.",
        ) from error
    return state
