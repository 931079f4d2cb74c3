"""Made dumps of a wiki: seeded, of any size, with lists, their members, redirects, links, and markup that does not close.

Each list is of one kind of thing in one place, such as bridges in Velmora. Texts that confirm a member say so in the same words
everywhere (`confirms`), so that a scripted language model can answer as a careful reader would.
"""

import bz2
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

KINDS = ("bridges", "lakes", "castles", "stations", "museums", "towers", "churches", "parks", "schools", "mills")
VARIANTS = (
    "plain",
    "plain",
    "two columns",
    "html",
    "two sections",
    "empty cell",
    "plain value",
    "red link",
    "no name",
    "unclosed",
)
"""What the table of the list with the same number (modulo 10) is like; every 20th plain list has a very popular member."""
POPULAR = 60
"""Articles that link to a very popular member."""
_HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">
  <siteinfo>
    <sitename>Made wiki</sitename><dbname>madewiki</dbname><base>https://made.example/wiki/Main_Page</base>
    <generator>made</generator><case>first-letter</case>
    <namespaces>
      <namespace key="-1" case="first-letter">Special</namespace><namespace key="0" case="first-letter" />
      <namespace key="1" case="first-letter">Talk</namespace><namespace key="6" case="first-letter">File</namespace>
      <namespace key="10" case="first-letter">Template</namespace><namespace key="14" case="first-letter">Category</namespace>
    </namespaces>
  </siteinfo>
"""
_BROKEN = (
    "{{cite web|title=never closed", "[[never closed", "<ref>never closed", "'''''never closed", "<!-- never closed",
    "{| class=wikitable\n| never", "]] }} |} </ref>", "{{{{{{[[[[[[", "[[a|[[b|[[c", "<div><span",
)  # fmt: skip
_SYLLABLES = [
    "bel",
    "cor",
    "dra",
    "el",
    "fen",
    "gar",
    "hol",
    "is",
    "jor",
    "kal",
    "lum",
    "mar",
    "nor",
    "os",
    "pel",
    "quin",
    "ros",
    "sal",
    "tor",
    "ul",
    "vel",
    "wex",
    "yar",
    "zin",
]
_WORDS = [
    "the",
    "of",
    "and",
    "in",
    "a",
    "river",
    "valley",
    "old",
    "new",
    "built",
    "opened",
    "century",
    "north",
    "region",
    "stone",
    "road",
    "people",
    "early",
    "later",
    "market",
    "trade",
    "served",
    "restored",
    "known",
    "during",
    "after",
    "wall",
    "hill",
]


class MadeColumn(NamedTuple):
    """A column that should be found: its section, its members by title, and why it is discarded ("" if it is used)."""

    section: str
    column: str
    members: tuple[str, ...]
    discarded: str = ""


class MadeList(NamedTuple):
    """A list: its title, kind and place, and the columns that should be found."""

    title: str
    kind: str
    place: str
    columns: tuple[MadeColumn, ...]


class MadeDump(NamedTuple):
    """What a made dump contains: numbers of articles and redirects, its lists, and each redirect's target."""

    path: Path
    articles: int
    lists: tuple[MadeList, ...]
    redirects: dict[str, str]
    bytes: int


def confirms(text: str, member: str, kind: str, place: str) -> bool:
    """Whether a text says that the member is one of this kind in this place."""
    return re.search(rf"\b{re.escape(member)}\b[^.]* is one of the {kind} in {place}\b", text) is not None


def make_dump(path: Path, articles: int = 2_000, lists: int = 40, seed: int = 0, words: int = 120) -> MadeDump:
    """Write a dump; `words` is the length of an article's body. Equal arguments give equal bytes. A `.bz2` is compressed."""
    writer = _Writer(random.Random(seed), articles, lists, words)
    size = 0
    with bz2.open(path, "wb") if path.suffix == ".bz2" else path.open("wb") as file:
        for text in writer.pages():
            size += file.write(text.encode())
    return MadeDump(path, articles, tuple(writer.lists), writer.redirects, size)


class _Writer:
    def __init__(self, draw: random.Random, articles: int, lists: int, words: int) -> None:
        self.draw, self.articles, self.words = draw, articles, words
        self.used: set[str] = set()
        self.lists: list[MadeList] = []
        self.redirects: dict[str, str] = {}
        self.bodies: dict[str, str] = {}
        self.number = 0
        for number in range(lists):
            self._add_list(number)
        while len(self.bodies) < articles:
            self.bodies[self._name()] = ""
        self.titles = list(self.bodies)
        for found in self.lists:
            if any("popular" in column.discarded for column in found.columns):
                star = found.columns[0].members[0]
                for title in self._without_body(POPULAR):
                    self.bodies[title] = f"'''{title}''' is a place not far from [[{star}]]."

    def _without_body(self, number: int) -> list[str]:
        free = [title for title in self.titles if not self.bodies[title]]
        assert len(free) >= number, "more articles are needed for so many lists"
        return free[:number]

    def pages(self) -> Iterator[str]:
        yield _HEAD
        aliases: dict[str, list[str]] = {}
        for alias, target in self.redirects.items():
            aliases.setdefault(target, []).append(alias)
        for title, body in self.bodies.items():
            whole = body if title.startswith("List of") else f"{body or self._opening(title)}\n\n{self._body(title)}"
            yield self._page(title, whole)
            for alias in aliases.get(title, ()):
                yield self._page(alias, f"#REDIRECT [[{title.replace(' ', '_')}]]\n\n{{{{R from move}}}}", target=title)
        yield self._page("Talk:" + self.titles[0], f"[[{self.titles[0]}]] is discussed here.", namespace=1)
        yield "</mediawiki>\n"

    def _page(self, title: str, text: str, *, namespace: int = 0, target: str = "") -> str:
        self.number += 1
        redirect = f'\n    <redirect title="{escape(target)}" />' if target else ""
        return (
            f"  <page>\n    <title>{escape(title)}</title>\n    <ns>{namespace}</ns>\n    <id>{self.number}</id>{redirect}\n"
            f"    <revision>\n      <id>{self.number + 10**6}</id>\n      <timestamp>2023-07-01T00:00:00Z</timestamp>\n"
            "      <contributor><username>A &amp; B</username><id>7</id></contributor>\n      <model>wikitext</model>\n"
            f'      <format>text/x-wiki</format>\n      <text bytes="{len(text)}" xml:space="preserve">{escape(text)}</text>\n'
            "    </revision>\n  </page>\n"
        )

    def _name(self) -> str:
        while True:
            name = "".join(self.draw.choices(_SYLLABLES, k=self.draw.randint(2, 4))).capitalize()
            if self.draw.random() < 0.5:
                name += " " + "".join(self.draw.choices(_SYLLABLES, k=2)).capitalize()
            if name not in self.used:
                self.used.add(name)
                return name

    def _add_list(self, number: int) -> None:
        kind, place, variant = KINDS[number // 2 % len(KINDS)], self._name(), VARIANTS[number % len(VARIANTS)]
        title = f"List of {kind} in {place}"
        self.bodies[place] = f"'''{place}''' is a region. Its best known {kind} are described in [[{title}]]."
        members = [self._member(kind, place) for _ in range(self.draw.randint(6, 12))]
        alias = next(a for a, target in self.redirects.items() if target == members[1])
        cells = [f"[[{m}]]" for m in members]
        cells[1] = f"''[[{alias}|The {members[1]}]]''<ref>[[Not a member]]</ref>"
        popular = number % 20 == 0
        discarded = "popular" if popular else ""
        match variant:
            case "two columns":
                people = [self._person(m) for m in members[:6]]
                rows = [[c, f"[[{p}]]", "1900"] for c, p in zip(cells[:6], people, strict=True)]
                text = f"== In order ==\n{_wiki_table(('Name', 'Name of the builder', 'Year'), rows)}"
                columns = [MadeColumn("In order", "Name", tuple(members[:6])),
                           MadeColumn("In order", "Name of the builder", tuple(people))]  # fmt: skip
            case "html":
                body = "".join(f"<tr><td>{n}</td><td>{c}</td></tr>\n" for n, c in enumerate(cells))
                text = f"<table class='wikitable'>\n<tr><th>No.</th><th>Official name</th></tr>\n{body}</table>"
                columns = [MadeColumn("", "Official name", tuple(members))]
            case "two sections":
                text = "== Standing ==\nThese stand.\n=== In use ===\n" + _wiki_table(
                    ("Name", "Year"), [[c, "1"] for c in cells[:3]]
                )
                text += "\n== Lost ==\n" + _wiki_table(("Year", "Name"), [["1", c] for c in cells[3:]])
                columns = [
                    MadeColumn("Standing » In use", "Name", tuple(members[:3])),
                    MadeColumn("Lost", "Name", tuple(members[3:])),
                ]
            case "empty cell" | "plain value" | "red link":
                spoilt = {
                    "empty cell": "",
                    "plain value": "no link here",
                    "red link": "[[Nothing of this name exists]]",
                }
                text = _wiki_table(("Name", "Year"), [*([c, "1"] for c in cells), [spoilt[variant], "2"]])
                columns = [MadeColumn("", "Name", tuple(members), variant)]
            case "no name":
                text, columns = _wiki_table(("Title", "Year"), [[c, "1"] for c in cells]), []
            case "unclosed":
                text, columns = _wiki_table(("Name", "Year"), [[c, "1"] for c in cells]).removesuffix("|}"), []
            case _:
                header = '! style="width:9em" | Name<br />(local)' if number % 3 == 0 else "! Name"
                text = _wiki_table(("Name", "Year"), [[c, "1"] for c in cells]).replace("! Name", header, 1)
                name = "Name (local)" if number % 3 == 0 else "Name"
                columns = [MadeColumn("", name, tuple(members), discarded)]
        self.bodies[title] = (
            f"This is a '''list of {kind} in [[{place}]]'''.\n\n{text}\n\n== See also ==\n* [[{place}]]"
        )
        self.lists.append(MadeList(title, kind, place, tuple(columns)))

    def _member(self, kind: str, place: str) -> str:
        name = self._name()
        self.redirects[f"{name} ({kind})"] = name
        box = (
            "{{Infobox thing\n| name = "
            + name
            + "\n| map = {{map|{{coord|1|2}}|[[x]]}}\n}}\n[[File:A.jpg|thumb|At [[dusk]]]]\n"
        )
        sure = self.draw.random() < 0.8
        said = f" is one of the {kind} in [[{place}]]" if sure else f" lies somewhere near [[{place}]]"
        self.bodies[name] = f"{box}'''{name}'''<ref name=a>A source, p. 1.</ref>{said}. {self._sentence()}"
        for _ in range(self.draw.randint(1, 3)):
            other = self._name()
            link = f"[[{name} ({kind})|{name}]]" if self.draw.random() < 0.3 else f"[[{name}]]"
            if self.draw.random() < 0.6:
                said = f"From it one sees {link}, which is one of the {kind} in [[{place}]]."
            else:
                said = f"It is a day's walk from {link}."
            self.bodies[other] = f"'''{other}''' is a village. {said}"
        return name

    def _person(self, work: str) -> str:
        name = self._name()
        self.bodies[name] = f"'''{name}''' was a builder. [[{work}]] was built by {name}."
        return name

    def _opening(self, title: str) -> str:
        return f"'''{title}''' (''{title.lower()}''; {{{{lang|xx|{title}}}}}) is a village. {self._sentence()}"

    def _sentence(self) -> str:
        return " ".join(self.draw.choices(_WORDS, k=self.draw.randint(8, 16))).capitalize() + "."

    def _body(self, title: str) -> str:
        parts, left = [], self.words
        while left > 0:
            sentence = self._sentence()
            left -= len(sentence.split())
            draw = self.draw.random()
            if draw < 0.5:
                sentence += (
                    f" See [[{self.draw.choice(self.titles)}]] and [[{self.draw.choice(self.titles)}#Past|this one]]."
                )
            if draw < 0.2:
                sentence += "<ref>{{cite web |url=https://example.org/a?b=c&d=e |title=A title |date=2001}}</ref>"
            parts.append(sentence)
        broken = self.draw.choice(_BROKEN) if self.draw.random() < 0.05 else ""
        return f"== History ==\n{' '.join(parts)}\n\n{broken}\n\n[[Category:{title[0]}]]"


def _wiki_table(headers: tuple[str, ...], rows: list[list[str]]) -> str:
    lines = ['{| class="wikitable sortable"', "|+ A caption", "|-", *(f"! {h}" for h in headers)]
    for row in rows:
        lines += ["|-", "| " + " || ".join(row)]
    return "\n".join([*lines, "|}"])
