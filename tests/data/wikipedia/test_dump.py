import bz2
import gzip
from pathlib import Path

import pytest

from berdseye.data.errors import BadInputError
from berdseye.data.wikipedia import dump as dump_module
from berdseye.data.wikipedia.dump import Dump, Page
from tests.data.wikipedia.made_dump import make_dump

_SITE = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/"><siteinfo><dbname>x</dbname>
<base>https://x.example/wiki/Main_Page</base><case>first-letter</case><namespaces><namespace key="0" />
<namespace key="6">File</namespace></namespaces></siteinfo>"""


def _write(folder: Path, body: str, head: str = _SITE) -> Path:
    path = folder / "dump.xml"
    path.write_text(f"{head}{body}</mediawiki>", encoding="utf-8")
    return path


def test_a_page_has_its_own_number_and_its_last_revision(tmp_path: Path) -> None:
    path = _write(
        tmp_path,
        "<page><title>A &amp; B</title><ns>0</ns><id>12</id><revision><id>5</id><contributor><id>9</id></contributor>"
        "<text>old</text></revision><revision><id>6</id><text>new &lt;b&gt;</text></revision></page>"
        '<page><title>C</title><ns>0</ns><id>13</id><redirect title="A &amp; B" /><revision><text>#REDIRECT [[A &amp; B]]</text>'
        "</revision></page><page><title>D</title><ns>0</ns><id>14</id><revision><model>json</model><text>{}</text></revision></page>",
    )
    dump = Dump(path)
    assert list(dump.pages()) == [
        Page(12, 0, "A & B", "", "new <b>"),
        Page(13, 0, "C", "A & B", "#REDIRECT [[A & B]]"),
        Page(14, 0, "D", "", ""),
    ]
    assert dump.site.namespaces == {"": 0, "file": 6}
    assert dump.site.url("Ärzte (a/b)") == "https://x.example/wiki/%C3%84rzte_(a/b)"
    assert dump.bytes_read == path.stat().st_size


@pytest.mark.parametrize("ending", [".xml", ".xml.bz2", ".xml.gz"])
def test_compressed_dumps_give_the_same_pages(tmp_path: Path, ending: str) -> None:
    plain = make_dump(tmp_path / "plain.xml", 200, 3).path
    pack = {
        ".xml": lambda b: b,
        ".xml.bz2": lambda b: bz2.compress(b[:5_000]) + bz2.compress(b[5_000:]),
        ".xml.gz": gzip.compress,
    }
    other = tmp_path / f"other{ending}"
    other.write_bytes(pack[ending](plain.read_bytes()))
    pages = list(Dump(other).pages())
    assert pages == list(Dump(plain).pages())
    assert len(pages) > 60


def test_a_document_type_is_refused_before_any_entity_is_read(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE m [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
    path = _write(tmp_path, "<page><title>&b;&f;</title></page>", f"{bomb}\n{_SITE}")
    with pytest.raises(BadInputError, match="document type declaration"):
        list(Dump(path).pages())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html><body/></html>", "not the dump of a MediaWiki"),
        (b"", "ends too early"),
        (f"{_SITE}<page><title>A</title>".encode(), "ends too early"),
        (f"{_SITE}<page><title>A</b></page>".encode(), "not valid XML: mismatched tag"),
        (f"{_SITE}<page><title>A</title><id>x</id></page></mediawiki>".encode(), "not a whole number"),
        (bz2.compress(b"<mediawiki>" + b"a" * 100_000)[:-20], "ends too early|damaged"),
        (b"BZh9not really", "damaged"),
        (b"\x00\x01\x02", "not valid XML"),
    ],
)
def test_broken_files_are_refused_with_the_reason(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "dump.xml"
    path.write_bytes(content)
    with pytest.raises(BadInputError, match=message):
        list(Dump(path).pages())


def test_a_page_without_end_is_cut_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump_module, "LONGEST_TEXT", 100)
    monkeypatch.setattr(dump_module, "_CHUNK", 64)
    long = "".join(
        f"<page><title>{t}</title><ns>0</ns><id>{n}</id><revision><text>{'word ' * size}</text></revision></page>"
        for n, (t, size) in enumerate([("A", 1_000), ("B", 2)], start=1)
    )
    first, second = Dump(_write(tmp_path, long)).pages()
    assert first.cut
    assert len(first.text) <= 100
    assert second == Page(2, 0, "B", "", "word word ")
