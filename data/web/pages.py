"""The web as a corpus: the pages that a query finds on a day, stored so that the query can be repeated without a network."""

import hashlib
import json
import time
from datetime import UTC, date, datetime
from pathlib import Path

from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.files.locks import locked
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Passage
from berdseye.data.texts.passages import clean
from berdseye.data.web.days import as_day, may_search, today
from berdseye.data.web.fetch import Fetched, fetch_pages
from berdseye.data.web.page_store import Page, PageStore
from berdseye.data.web.providers import Hit, open_provider
from berdseye.data.web.reading import PageReader
from berdseye.data.web.report import Outcome, PageError, WebReport
from berdseye.data.web.settings import WebSettings, is_trusted

_SECONDS_A_READING = 5.0
_MOST_WORDS = 500_000  # the passages of a page with this many words still have ids below those of the next page


class NothingFoundError(UnavailableError):
    """The search succeeded, but found no usable page for the query."""


class WebPages:
    """The web pages stored in a folder, and searches for more with these settings.

    A search result is stored by day, provider, query, count, trusted endings and language. The ids of pages never change: a
    text at an address has one id, whenever and with whatever query it is found.
    """

    def __init__(self, folder: Path, settings: WebSettings) -> None:
        self.folder, self.settings = folder, settings
        self._store = PageStore(folder / "pages")

    def pages(self, ids: list[int]) -> list[Passage]:
        """The complete pages with these ids, in the order given; raises `StaleError` for an unknown id."""
        return self._store.pages(ids)

    def pages_for(self, query: str, day: str | None = None, progress: Progress = silent) -> list[Passage]:
        """The complete pages that a query finds, best hit first.

        A query that was already searched on `day` (like 2025-06-01; None means today in UTC) is answered from the folder.
        After midnight, a run keeps the day on which it began (`berdseye.data.web.days.begin_day`). Raises
        `UnavailableError` if the search fails or no page is usable, which is not stored, and `BadInputError` for any other
        day on which the query was not searched.
        """
        normal_query = _query(query)
        search_day = today() if day is None else as_day(day)
        path = self._report_file(normal_query, search_day)
        report = WebReport.read(path)
        if report is None:
            if not may_search(search_day):
                days = self.days(query)
                raise BadInputError(
                    f"The query '{normal_query}' was not searched on {search_day} with these settings.",
                    hint=f"Stored days are {', '.join(days[-5:])}." if days else "No day is stored for it.",
                )
            with locked(path.with_name(f".{path.stem}.lock")):  # concurrent searches for this query share one result
                report = WebReport.read(path)
                if report is None:
                    report = self._search(normal_query, progress)
                    report.write(path)
        return self._store.pages(report.ids)

    def report(self, query: str, day: str | None = None) -> WebReport | None:
        """The outcome of every page that the query found on `day` (None means today); None if it was not searched then."""
        return WebReport.read(self._report_file(_query(query), today() if day is None else as_day(day)))

    def days(self, query: str) -> list[str]:
        """The sorted days on which the query was searched with these settings."""
        name = self._report_file(_query(query), today()).name
        return sorted(path.parent.name for path in (self.folder / "answers").glob(f"*/{name}"))

    def _report_file(self, query: str, day: date) -> Path:
        used = self.settings
        what = [used.provider, query, used.count, sorted(set(used.trusted)), used.language]
        key = hashlib.blake2b(json.dumps(what).encode(), digest_size=16).hexdigest()
        return self.folder / "answers" / day.isoformat() / f"{key}.json"

    def _search(self, query: str, progress: Progress) -> WebReport:
        used = self.settings
        started_at = datetime.now(UTC).isoformat(timespec="seconds")
        search = open_provider(used).search(query, used.count)
        hits = {hit.url: hit for hit in search.hits}
        results: dict[str, Page | Outcome] = {
            url: Outcome(url, "untrusted") for url in hits if not is_trusted(url, used.trusted)
        }
        progress(len(results), "web pages", len(hits))
        end = time.monotonic() + used.seconds_a_question
        with PageReader() as reader:
            for source in fetch_pages([url for url in hits if url not in results], used):
                results[source.url] = self._read(source, hits[source.url], reader, end)
                progress(len(results), "web pages", len(hits))
        in_order = [results[url] for url in hits]
        read = [result for result in in_order if isinstance(result, Page)]
        if not read:
            raise _nothing_found(query, used.provider, [result for result in in_order if isinstance(result, Outcome)])
        ids = dict(zip(read, self._store.add(read), strict=True))
        outcomes = tuple(
            Outcome(url, "read", page=ids[result]) if isinstance(result, Page) else result
            for url, result in zip(hits, in_order, strict=True)
        )
        return WebReport(query, used.provider, started_at, search.unusable, outcomes)

    def _read(self, source: Fetched, hit: Hit, reader: PageReader, end: float) -> Page | Outcome:
        if source.html is None:
            return Outcome(source.url, source.reason, source.detail)
        if not is_trusted(source.final_url, self.settings.trusted):
            return Outcome(source.url, "untrusted", f"redirects to {source.final_url}")
        seconds_left = end - time.monotonic()
        if seconds_left <= 0:
            return Outcome(source.url, "out of time", "no time was left to read it")
        if source.plain:
            title, text = hit.title, clean(source.html)
        else:
            try:
                read = reader.read(source.html, min(seconds_left, _SECONDS_A_READING))
            except PageError as error:
                return Outcome(source.url, error.reason, error.detail)
            title, text = read.title or hit.title, read.text
        if not text:
            return Outcome(source.url, "no text")
        if len(text.split()) > _MOST_WORDS:
            return Outcome(source.url, "too large", f"has more than {_MOST_WORDS} words")
        return Page(source.final_url, clean(title), text)


def _nothing_found(query: str, provider: str, outcomes: list[Outcome]) -> NothingFoundError:
    if not outcomes:
        return NothingFoundError(
            f"The search provider {provider} found no page for '{query}'.", hint="Try another query."
        )
    counts = WebReport(query, provider, "", 0, tuple(outcomes))
    first = outcomes[0]
    return NothingFoundError(
        f"None of the {len(outcomes)} web pages found for '{query}' is usable: {counts}.",
        hint=f"The first one, {first.url}: {first.detail or first.reason}.",
    )


def _query(query: str) -> str:
    words = clean(query).split()
    if not words:
        raise BadInputError("The question is empty.", hint="Enter a question.")
    return " ".join(words)
