"""The web as a corpus: what a question finds there on one day, kept so that it can be asked again without a network."""

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
from berdseye.data.web.fetch import Fetched, fetched
from berdseye.data.web.page_store import Page, PageStore
from berdseye.data.web.providers import Hit, open_provider
from berdseye.data.web.reading import PageReader
from berdseye.data.web.report import Outcome, PageError, WebReport
from berdseye.data.web.settings import WebSettings, is_trusted

_SECONDS_A_READING = 5.0
_MOST_WORDS = 500_000  # cut into passages, these still get ids below the next page's


class NothingFoundError(UnavailableError):
    """The search works, and has no page for this query that can be used."""


class WebPages:
    """The web pages of a folder, searched with these settings.

    An answer is kept by day, provider, query, count, trusted endings and language. Pages keep their ids for ever, and
    the same text at the same address has the same id whenever and for whatever query it was found.
    """

    def __init__(self, folder: Path, settings: WebSettings) -> None:
        self.folder, self.settings = folder, settings
        self._store = PageStore(folder / "pages")

    def pages(self, ids: list[int]) -> list[Passage]:
        """The pages of these ids, whole, in their order; raises `StaleError` for an id that is not held."""
        return self._store.pages(ids)

    def pages_for(self, query: str, day: str | None = None, progress: Progress = silent) -> list[Passage]:
        """The pages a query finds, whole, best hit first.

        What was asked on `day` (as 2025-06-01; today in UTC if None) before is answered from the folder. Raises
        `UnavailableError` where the search fails or none of the pages can be used, which is not kept, and
        `BadInputError` for another day on which it was not asked.
        """
        asked, today = _query(query), _today()
        wanted = today if day is None else _day(day)
        path = self._report_file(asked, wanted)
        report = WebReport.read(path)
        if report is None:
            if wanted != today:
                days = self.days(query)
                raise BadInputError(
                    f"'{asked}' was not asked of the web on {wanted} with these settings.",
                    hint=f"It was asked on {', '.join(days[-5:])}." if days else "It was never asked with them.",
                )
            with locked(path.with_name(f".{path.stem}.lock")):  # who asks the same meanwhile gets the same answer
                report = WebReport.read(path)
                if report is None:
                    report = self._ask(asked, progress)
                    report.write(path)
        return self._store.pages(report.ids)

    def report(self, query: str, day: str | None = None) -> WebReport | None:
        """What became of every page found on `day` (today if None), None where it was not asked then."""
        return WebReport.read(self._report_file(_query(query), _today() if day is None else _day(day)))

    def days(self, query: str) -> list[str]:
        """The days on which a query was asked with these settings, sorted."""
        name = self._report_file(_query(query), _today()).name
        return sorted(path.parent.name for path in (self.folder / "answers").glob(f"*/{name}"))

    def _report_file(self, query: str, day: date) -> Path:
        used = self.settings
        what = [used.provider, query, used.count, sorted(set(used.trusted)), used.language]
        key = hashlib.blake2b(json.dumps(what).encode(), digest_size=16).hexdigest()
        return self.folder / "answers" / day.isoformat() / f"{key}.json"

    def _ask(self, query: str, progress: Progress) -> WebReport:
        used = self.settings
        asked = datetime.now(UTC).isoformat(timespec="seconds")
        found = open_provider(used).search(query, used.count)
        hits = {hit.url: hit for hit in found.hits}
        results: dict[str, Page | Outcome] = {
            url: Outcome(url, "untrusted") for url in hits if not is_trusted(url, used.trusted)
        }
        progress(len(results), "web pages", len(hits))
        end = time.monotonic() + used.seconds_a_question
        with PageReader() as reader:
            for source in fetched([url for url in hits if url not in results], used):
                results[source.url] = self._read(source, hits[source.url], reader, end)
                progress(len(results), "web pages", len(hits))
        in_order = [results[url] for url in hits]
        read = [result for result in in_order if isinstance(result, Page)]
        if not read:
            raise _nothing(query, used.provider, [result for result in in_order if isinstance(result, Outcome)])
        ids = dict(zip(read, self._store.add(read), strict=True))
        outcomes = tuple(
            Outcome(url, "read", page=ids[result]) if isinstance(result, Page) else result
            for url, result in zip(hits, in_order, strict=True)
        )
        return WebReport(query, used.provider, asked, found.unusable, outcomes)

    def _read(self, source: Fetched, hit: Hit, reader: PageReader, end: float) -> Page | Outcome:
        if source.html is None:
            return Outcome(source.url, source.reason, source.detail)
        if not is_trusted(source.final_url, self.settings.trusted):
            return Outcome(source.url, "untrusted", f"redirects to {source.final_url}")
        left = end - time.monotonic()
        if left <= 0:
            return Outcome(source.url, "out of time", "there was no time left to read it")
        if source.plain:
            title, text = hit.title, clean(source.html)
        else:
            try:
                read = reader.read(source.html, min(left, _SECONDS_A_READING))
            except PageError as error:
                return Outcome(source.url, error.reason, error.detail)
            title, text = read.title or hit.title, read.text
        if not text:
            return Outcome(source.url, "no text")
        if len(text.split()) > _MOST_WORDS:
            return Outcome(source.url, "too large", f"has more than {_MOST_WORDS} words")
        return Page(source.final_url, clean(title), text)


def _nothing(query: str, provider: str, outcomes: list[Outcome]) -> NothingFoundError:
    if not outcomes:
        return NothingFoundError(f"The search provider {provider} finds nothing for '{query}'.")
    counts = WebReport(query, provider, "", 0, tuple(outcomes))
    first = outcomes[0]
    return NothingFoundError(
        f"None of the {len(outcomes)} web pages found for '{query}' can be used: {counts}.",
        hint=f"The first, {first.url}: {first.detail or first.reason}.",
    )


def _query(query: str) -> str:
    words = clean(query).split()
    if not words:
        raise BadInputError("The question is empty.", hint="Ask something.")
    return " ".join(words)


def _day(day: str) -> date:
    try:
        return date.fromisoformat(day)
    except ValueError as error:
        raise BadInputError(f"'{day}' is no day.", hint="Write it as 2025-06-01.") from error


def _today() -> date:
    return datetime.now(UTC).date()
