"""Pages in the encoding they have, whatever they claim."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.web.html import decode_page

GERMAN = "Größe, Übermut und Maß – „gut“ für 5 € " * 5
JAPANESE = "日本語の文章です。議論は続く。" * 5
RUSSIAN = "Должны ли города запретить автомобили в центре? Мнения расходятся, и споры продолжаются. " * 5


@pytest.mark.parametrize(
    ("text", "encoding", "told", "meta"),
    [
        (GERMAN, "utf-8", "", ""),
        (GERMAN, "utf-8", "iso-8859-1", ""),
        (GERMAN, "utf-8", "", "windows-1252"),
        (GERMAN, "cp1252", "iso-8859-1", ""),
        (GERMAN, "cp1252", "utf-8", ""),
        (GERMAN, "cp1252", "utf-8", "windows-1252"),
        (GERMAN, "cp1252", "no-such-encoding", "latin1"),
        (JAPANESE, "shift_jis", "", "Shift_JIS"),
        (JAPANESE, "euc-jp", "EUC-JP", "shift_jis"),
        (JAPANESE, "iso-2022-jp", "iso-2022-jp", ""),
        (JAPANESE, "utf-16", "", ""),
        (JAPANESE, "utf-16-le", "utf-16le", ""),
        (JAPANESE, "utf-8-sig", "shift_jis", ""),
        (RUSSIAN, "koi8-r", "koi8-r", ""),
        (RUSSIAN, "cp1251", "", "windows-1251"),
        (RUSSIAN, "cp1251", "punycode", ""),
        (RUSSIAN, "utf-8", "hex", "utf-16"),
    ],
)
def test_the_text_is_found(text: str, encoding: str, told: str, meta: str) -> None:
    page = f'<html><head><meta charset="{meta}"></head><p>{text}</p></html>' if meta else f"<html><p>{text}</p></html>"
    assert decode_page(page.encode(encoding), told).removeprefix("\ufeff") == page


def test_the_old_form_of_the_declaration_counts() -> None:
    head = b'<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=ISO-8859-2">'
    assert decode_page(head + "Łódź".encode("iso-8859-2")).endswith("Łódź")


def test_a_few_broken_characters_cost_only_themselves() -> None:
    text = decode_page((GERMAN.encode() + b"\xff") * 3, "utf-8")
    assert text == (GERMAN + "\N{REPLACEMENT CHARACTER}") * 3


@given(st.binary(max_size=300), st.sampled_from(["", "utf-8", "gbk", "replacement", "x-user-defined", "utf-7", "\0"]))
def test_any_bytes_are_some_text(content: bytes, told: str) -> None:
    assert isinstance(decode_page(content, told), str)


@given(st.text(max_size=200))
def test_utf8_is_utf8(text: str) -> None:
    encoded = text.encode("utf-8", "ignore")
    if not encoded.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        assert decode_page(encoded, "windows-1252") == encoded.decode()
