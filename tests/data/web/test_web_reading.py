"""Reading pages in a process that can be ended."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from web_servers import ARTICLE, page

from berdseye.data.errors import UnavailableError
from berdseye.data.web import reading
from berdseye.data.web.html import read_page
from berdseye.data.web.reading import PageReader
from berdseye.data.web.report import PageError

SLOW = "<p>" * 1_600_000


@pytest.fixture(scope="module")
def reader() -> Iterator[PageReader]:
    with PageReader() as started:
        yield started


def test_a_page_is_read_as_ever(reader: PageReader) -> None:
    for text in (ARTICLE, "Größe – “gut”, 日本語 and \U0001f600. " * 10, "\ud800 lone. " * 20):
        assert reader.read(page(text), 20.0) == read_page(page(text).encode("utf-8", "replace"))
    assert reader.read("", 20.0).text == ""


def test_a_page_made_to_be_slow_is_left_and_the_next_one_read(reader: PageReader) -> None:
    reader.read("", 20.0)
    start = time.monotonic()
    with pytest.raises(PageError, match=r"timed out: reading its HTML takes over 0\.5 seconds"):
        reader.read(SLOW, 0.5)
    assert time.monotonic() - start < 20
    assert ARTICLE.strip() in reader.read(page(ARTICLE), 20.0).text


@pytest.mark.parametrize(
    "html",
    ["<div>" * 500_000, "<b>x" * 500_000, "<table><tr><td>" * 200_000, "&#" * 500_000, "<" * 500_000, "\0" * 100_000],
    ids=["div", "b", "table", "entities", "brackets", "zeros"],
)
def test_strange_pages_end(reader: PageReader, html: str) -> None:
    with suppress(PageError):
        assert isinstance(reader.read(html, 3.0).text, str)
    assert reader.read(page(ARTICLE), 20.0).title == "Streets"


def test_a_process_that_was_killed_is_started_again(reader: PageReader) -> None:
    reader.read("", 20.0)
    assert reader._process is not None
    os.kill(reader._process.pid, signal.SIGKILL)
    reader._process.wait()
    assert reader.read(page(ARTICLE), 20.0).title == "Streets"


def test_no_process_is_left_behind() -> None:
    with PageReader() as reader:
        reader.read("", 20.0)
        process = reader._process
    assert process is not None
    assert process.poll() == -signal.SIGKILL


def test_a_folder_called_data_is_not_what_it_reads_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "__init__.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    with PageReader() as reader:
        assert reader.read(page(ARTICLE), 20.0).title == "Streets"


def test_a_process_that_does_not_start_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_COMMAND", [sys.executable, "-c", "raise SystemExit(1)"])
    with PageReader() as reader, pytest.raises(UnavailableError, match="does not start"):
        reader.read(page(ARTICLE), 20.0)
