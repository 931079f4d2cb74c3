"""Reading the XML dump of a MediaWiki, page by page.

A dump is `pages-articles.xml`, plain or compressed with bzip2 or gzip. Memory does not grow with it. The reader refuses document
type declarations, so nothing in a file can define entities or refer to other files.
"""

import bz2
import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple, cast
from xml.parsers import expat

from berdseye.data.errors import BadInputError

ARTICLES = 0
"""The namespace of articles."""
LIST_TITLE = "List of "
"""What the titles of lists begin with in the English Wikipedia."""
LONGEST_TEXT = 16_000_000
"""Characters of a page that are read; MediaWiki stores pages of up to 2 MB."""
_CHUNK = 1 << 20
_AGAIN = "Download the dump again, and compare its checksum with the published one."
_PAGE = {"title", "ns", "id"}
_WANTED = {"title", "ns", "id", "text", "model", "base", "case", "namespace", "dbname"}


class Page(NamedTuple):
    """A page at its last revision in the dump; `redirect` is the title that a redirect leads to, otherwise empty.

    `cut`: whether the text is longer than `LONGEST_TEXT`, whose rest was not read.
    """

    id: int
    namespace: int
    title: str
    redirect: str
    text: str
    cut: bool = False


class Site(NamedTuple):
    """What a dump says of its wiki: its name, the address of a page, its namespaces by name in lower case, and whether the first
    letter of a title is always a capital."""

    name: str = ""
    base: str = ""
    namespaces: Mapping[str, int] = {}
    first_letter: bool = True

    def url(self, title: str) -> str:
        """The address of a page, or "" if the dump does not name any."""
        from urllib.parse import quote

        start, slash, _ = self.base.rpartition("/")
        return f"{start}{slash}{quote(title.replace(' ', '_'), safe=':/()!,')}" if slash else ""


class Dump:
    """A dump file; `pages` reads it from the start, and `site` and `bytes_read` grow with the reading."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.site = Site()
        self.bytes_read = 0
        """Bytes of XML, uncompressed."""

    def pages(self) -> Iterator[Page]:
        """Yield all pages in the order of the file.

        Raises `BadInputError` with the line where the file is not XML, ends early, or has a document type declaration, and if
        it is not a dump.
        """
        handler = _Handler(self)
        self.bytes_read = 0
        with self._open() as file:
            while chunk := self._read(file):
                self.bytes_read += len(chunk)
                handler.parse(chunk)
                yield from handler.taken()
        handler.parse(b"", last=True)
        yield from handler.taken()

    def _open(self) -> IO[bytes]:
        try:
            with self.path.open("rb") as file:
                begins = file.read(3)
            if begins == b"BZh":
                return cast(IO[bytes], bz2.open(self.path))
            return cast(IO[bytes], gzip.open(self.path)) if begins.startswith(b"\x1f\x8b") else self.path.open("rb")
        except OSError as error:
            raise BadInputError(
                f"The dump cannot be read: {error.strerror or error}.", where=self.path, hint="Give the path of a dump."
            ) from error

    def _read(self, file: IO[bytes]) -> bytes:
        try:
            return file.read(_CHUNK)
        except (OSError, EOFError, ValueError) as error:
            raise BadInputError(f"The file is damaged: {error}.", where=self.path, hint=_AGAIN) from error


class _Handler:
    """Collects the pages that the parser has finished."""

    def __init__(self, dump: Dump) -> None:
        self.dump = dump
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.buffer_size = _CHUNK
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._data
        self.done: list[Page] = []
        self.depth = 0
        self.collecting = self.cut = False
        self.parts: list[str] = []
        self.length = 0
        self.fields: dict[str, str] = {}
        self.in_page = self.in_contributor = False
        self.namespaces: dict[str, int] = {}
        self.key = ""

    def parse(self, chunk: bytes, *, last: bool = False) -> None:
        try:
            self.parser.Parse(chunk, last)
        except expat.ExpatError as error:
            ended = "The dump ends too early" if last else "The dump is not valid XML"
            reason = expat.errors.messages.get(error.code, "unknown")
            raise BadInputError(f"{ended}: {reason}.", where=self.dump.path, line=error.lineno, hint=_AGAIN) from error

    def taken(self) -> list[Page]:
        done, self.done = self.done, []
        return done

    def _refuse(self, *_: object) -> None:
        raise BadInputError(
            "The file has a document type declaration, which no dump has.",
            where=self.dump.path,
            line=self.parser.CurrentLineNumber,
            hint="Use a dump of a MediaWiki as it was published.",
        )

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        self.depth += 1
        if self.depth == 1 and name != "mediawiki":
            raise BadInputError(
                f"This is not the dump of a MediaWiki: its first element is <{name[:40]}>.",
                where=self.dump.path,
                hint="Give a file pages-articles.xml, plain or as .bz2 or .gz.",
            )
        if name == "page":
            self.in_page, self.fields = True, {}
            self.cut = False
        elif name == "redirect" and self.in_page:
            self.fields["redirect"] = attributes.get("title", "")
        elif name in _WANTED and not (name in _PAGE and self.depth != 3):
            self.collecting, self.length = True, 0
            self.key = attributes.get("key", "")
            if name == "text":
                self.cut = False

    def _data(self, text: str) -> None:
        if self.collecting:
            self.length += len(text)
            if self.length <= LONGEST_TEXT:
                self.parts.append(text)
            else:
                self.cut = True

    def _end(self, name: str) -> None:
        self.depth -= 1
        if self.collecting:
            self.collecting = False
            text = "".join(self.parts)
            self.parts.clear()
            if self.in_page:
                self.fields[name] = text
            elif name == "namespace":
                if self.key.lstrip("-").isdecimal():
                    self.namespaces[text.casefold()] = int(self.key)
            else:
                self.fields[name] = text
        elif name == "siteinfo":
            site = self.fields
            self.dump.site = Site(
                site.get("dbname", ""), site.get("base", ""), self.namespaces, site.get("case", "") != "case-sensitive"
            )
        elif name == "page":
            self.in_page = False
            page = self.fields
            number, namespace = page.get("id", ""), page.get("ns", "0")
            if not (number.isdecimal() and namespace.lstrip("-").isdecimal() and page.get("title")):
                raise BadInputError(
                    "A page has no title, or its number is not a whole number.",
                    where=self.dump.path,
                    line=self.parser.CurrentLineNumber,
                    hint=_AGAIN,
                )
            text = page.get("text", "") if page.get("model", "wikitext") == "wikitext" else ""
            self.done.append(Page(int(number), int(namespace), page["title"], page.get("redirect", ""), text, self.cut))
