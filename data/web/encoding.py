"""From the bytes of a web page to its text, whatever encoding it claims or has."""

import codecs
import re

from webencodings import UTF8, lookup

_DECLARED = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HEAD = 4096
_SAMPLE = 20_000


def decoded(content: bytes, charset: str = "") -> str:
    """The text of a page; `charset` is what its server says, if it says any.

    A byte order mark decides. Then UTF-8 is tried before what is declared, since other text is hardly ever valid
    UTF-8 by chance; then what server and page declare (labels as in the WHATWG Encoding Standard); then UTF-8 with a
    few broken characters replaced; then a guess (charset-normalizer).
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content.removeprefix(codecs.BOM_UTF8).decode(encoding, "replace")
    found = _DECLARED.search(content[:_HEAD])
    server, page = lookup(charset), lookup(found[1].decode("ascii") if found else "")
    declared = [encoding for encoding in (server, page) if encoding is not None]
    # What a page says of itself in ASCII is not UTF-16; what its server says may be.
    first = [e for e in declared if e.name == "iso-2022-jp" or (e is server and e.name.startswith("utf-16"))]
    for encoding in (*first, UTF8, *declared):
        try:
            return str(encoding.codec_info.decode(content, "strict")[0])
        except UnicodeError:
            continue
    return _guessed(content)


def _guessed(content: bytes) -> str:
    text = content.decode("utf-8", "replace")
    foreign = len(text) - len(text.encode("ascii", "ignore"))
    if text.count("\N{REPLACEMENT CHARACTER}") * 2 < foreign:
        return text
    from charset_normalizer import from_bytes  # only the few pages that declare nonsense need it

    best = from_bytes(content[:_SAMPLE]).best()
    return text if best is None else content.decode(best.encoding, "replace")
