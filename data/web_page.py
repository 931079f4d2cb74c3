"""The readable part of a saved web page."""

from typing import NamedTuple

from data.passages import clean

_LOST_TOO_MUCH = 0.5


class PageText(NamedTuple):
    """What a page says: its title, its paragraphs a line each, and its address where the page gives one."""

    title: str
    text: str
    url: str


def read_page(html: bytes) -> PageText:
    """Title and main text of an HTML document, without navigation, notices and footers (trafilatura).

    Threads of posts look like boilerplate to the extractor, which then keeps one post; where it keeps less than half
    of what stands in the page's paragraphs, all paragraphs are taken.
    """
    import trafilatura  # takes more than a second, which only those who read pages should wait

    found = trafilatura.bare_extraction(html, include_comments=True, include_tables=False, favor_recall=True)
    metadata = trafilatura.extract_metadata(html)
    text = "" if found is None else "\n".join(part for part in (found.text, found.comments) if part)
    _, paragraphs, _ = trafilatura.baseline(html)
    if len(text) < _LOST_TOO_MUCH * len(paragraphs):
        text = paragraphs
    title = (metadata.title if metadata is not None else None) or ""
    url = (metadata.url if metadata is not None else None) or ""
    return PageText(clean(title), clean(text), url)
