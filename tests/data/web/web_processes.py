"""What processes beside the test's own do."""

from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

from berdseye.data.records import Passage
from berdseye.data.web.page_store import Page, PageStore
from berdseye.data.web.pages import WebPages
from berdseye.data.web.settings import WebSettings


def many(asked: tuple[Path, int]) -> list[tuple[str, int]]:
    """Add twenty pages two at a time, some of which others add too; tells the id of each."""
    folder, start = asked
    store = PageStore(folder)
    found: list[tuple[str, int]] = []
    for n in range(start, start + 20, 2):
        pages = [Page(f"https://a.example/{m}", f"Title {m}", f"Text {m}") for m in (n, n + 1)]
        found += zip([page.url for page in pages], store.add(pages), strict=True)
    return found


def write_for_ever(folder: Path, told: Connection) -> None:
    """Add pages whose titles are their ids, and tell of them once they are added."""
    store = PageStore(folder)
    for n in count(step=2):
        told.send(store.add([Page(f"https://a.example/{m}", f"Title {m}", "Text " * 2000) for m in (n, n + 1)]))


def ask(asked: tuple[Path, WebSettings, str]) -> list[Passage]:
    """Ask the web a question."""
    folder, settings, question = asked
    return WebPages(folder, settings).pages_for(question)
