"""The documentation as the app serves it: the Markdown files of the package, their parts, and the links between them.

The files are those that a reader finds in the repository: `docs/`, the README of each folder, and a few beside them. The package
contains them, so that they are there without a clone, too.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import groupby, takewhile
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from berdseye.data.errors import UnknownNameError

_ROOT = Path(str(files("berdseye")))
FIRST = "docs/README"
CONTENTS: Mapping[str, Mapping[str, str]] = {
    "Guide": {
        FIRST: "Every page",
        "docs/install": "Installing Berdseye",
        "docs/corpora": "Corpora and data sets",
        "docs/building": "Building data sets",
        "docs/judging": "Judging",
        "app/components/README": "Judging by hand",
        "annotation/README": "Label Studio",
        "docs/runs": "Runs",
        "docs/teams": "Teams and storage",
        "docs/workspace": "Settings, health and backups",
        "app/README": "People and roles",
        "docs/comparison": "Beside other tools",
    },
    "Reference": {
        "docs/glossary": "Glossary",
        "docs/sizes": "Every page at four sizes",
        "retrieval/README": "Retrieval",
        "detectors/README": "Detectors",
        "docs/detector-tables": "Tables about detectors",
        "evaluation/README": "Measures, tables and studies",
        "data/README": "Data",
        "docs/command-line": "The command line",
        "docs/python": "Berdseye from Python",
        "docs/plugins": "Plugins",
        "docs/security": "Security",
        "retrieval/cluster/README": "Searching a cluster",
        "detectors/weights/README": "The detectors that ship",
        "detectors/weights/experiments": "What was tried for stance",
        "docs/papers": "The papers, table by table",
        "evaluation/published/README": "Published figures",
        "README": "About Berdseye",
    },
}
"""The documents that the app shows, by group: the path of each without its ending, and its name in the list."""
DOCUMENTS: Mapping[str, str] = {path: title for group in CONTENTS.values() for path, title in group.items()}
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_HEADING = re.compile(r"^(#{1,6}) +(.+?)\s*$")
_PICTURE = re.compile(r"^!\[([^\]]*)\]\(([^)\s]+)\)\s*$")
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"(`[^`\n]+`)")


class Part(NamedTuple):
    """A part of a document, in its order: a heading with its level and anchor, a picture (`text` describes it), or text."""

    text: str
    level: int = 0
    anchor: str = ""
    picture: Path | None = None


def documentation_address(document: str, anchor: str = "") -> str:
    """Return the relative address of the Documentation page that shows a document, at a heading if one is named."""
    query = {"document": document} | ({"part": anchor} if anchor else {})
    return f"documentation?{urlencode(query)}"


@lru_cache
def size_of(picture: Path) -> tuple[int, int] | None:
    """Return the width and height of a picture in pixels, from the beginning of a PNG or a lossy WebP file; None for others."""
    with picture.open("rb") as file:
        beginning = file.read(30)
    if beginning[:8] == b"\x89PNG\r\n\x1a\n":
        return int.from_bytes(beginning[16:20]), int.from_bytes(beginning[20:24])
    if beginning[8:16] == b"WEBPVP8 ":
        return int.from_bytes(beginning[26:28], "little") & 0x3FFF, int.from_bytes(beginning[28:30], "little") & 0x3FFF
    return None


def anchor_of(heading: str) -> str:
    """Return the anchor of a heading, as GitHub forms it."""
    kept = re.sub(r"[^\w\- ]", "", heading.lower())
    return kept.replace(" ", "-")


def parts_of(document: str) -> tuple[Part, ...]:
    """Return the parts of a document of `DOCUMENTS`. Raises `UnknownNameError`."""
    if document not in DOCUMENTS:
        raise UnknownNameError("documentation page", document, list(DOCUMENTS))
    return _parts_of(document)


def headings_of(document: str) -> tuple[Part, ...]:
    """Return the headings of a document below its title."""
    return tuple(part for part in parts_of(document) if part.level)[1:]


@lru_cache(maxsize=len(DOCUMENTS))
def _parts_of(document: str) -> tuple[Part, ...]:
    return tuple(_read(document))


def _read(document: str) -> Iterator[Part]:
    times: dict[str, int] = {}
    lines: list[tuple[bool, str]] = []
    in_code = False
    for line in (_ROOT / f"{document}.md").read_text(encoding="utf-8").splitlines():
        fence = _FENCE.match(line) is not None
        in_code = in_code != fence
        heading, picture = (None, None) if in_code else (_HEADING.match(line), _PICTURE.match(line))
        if heading is None and picture is None:
            lines.append((in_code or fence or line.startswith("    "), line))
            continue
        if text := _text(lines, document):
            yield Part(text)
        lines = []
        if heading is not None:
            anchor = anchor_of(heading[2])
            times[anchor] = times.get(anchor, -1) + 1
            number = f"-{times[anchor]}" if times[anchor] else ""
            yield Part(heading[2], len(heading[1]), f"{anchor}{number}")
        elif picture is not None:
            yield Part(picture[1], picture=_ROOT / _path(document, picture[2]))
    if text := _text(lines, document):
        yield Part(text)


def _text(lines: Sequence[tuple[bool, str]], document: str) -> str:
    """Return lines, each with whether it is code, as one text. Code that is indented at its beginning is fenced, because
    Streamlit removes such spaces."""
    pieces = [
        (is_code, "\n".join(line for _, line in some)) for is_code, some in groupby(lines, key=lambda line: line[0])
    ]
    text = "\n".join(piece if is_code else _linked(piece, document) for is_code, piece in pieces).strip("\n")
    if not text.startswith("    "):
        return text
    code = list(takewhile(lambda line: line.startswith("    "), text.splitlines()))
    rest = text.splitlines()[len(code) :]
    return "\n".join(["```text", *(line[4:] for line in code), "```", *rest])


def _linked(text: str, document: str) -> str:
    """Return a text with its links leading to the pages of the app, and with dollar signs that begin no formula."""

    def link(found: re.Match[str]) -> str:
        label, address = found.groups()
        if re.match(r"https?://", address):
            return found[0]
        path, _, anchor = address.partition("#")
        target = _path(document, path).removesuffix(".md") if path else document
        return f"[{label}]({documentation_address(target, anchor)})" if target in DOCUMENTS else label

    pieces = _CODE.split(_LINK.sub(link, text))
    return "".join(piece if n % 2 else piece.replace("$", r"\$") for n, piece in enumerate(pieces))


def _path(document: str, relative: str) -> str:
    """Return the path below the package of what a document names relative to itself."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(document), relative))
