"""Concurrent fetching of web pages that respects robots.txt (RFC 9309); every page that fails has its own reason."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import NamedTuple

import anyio
import httpx
from anyio.from_thread import start_blocking_portal
from protego import Protego

from berdseye.data.web.addresses import ForbiddenAddressError, web_address
from berdseye.data.web.client import AGENT, PoliteClient, TooManyRedirectsError
from berdseye.data.web.html import decode_page
from berdseye.data.web.report import PageError, Reason
from berdseye.data.web.settings import WebSettings

_LIMIT = 512_000  # RFC 9309, section 2.5, asks for at least 500 KiB
_EVERYTHING = ""
_HTML = ("text/html", "application/xhtml+xml", "")
_TEXT = ("text/plain", "text/markdown")


class Robots:
    """The robots.txt files of sites, each fetched once."""

    def __init__(self, client: PoliteClient) -> None:
        self._client = client
        self._rules: dict[str, Protego | PageError] = {}
        self._fetching: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)

    async def check(self, url: httpx.URL) -> None:
        """Raise `PageError` if the site forbids `url`, or if its robots.txt is unreachable (RFC 9309, section 2.3.1)."""
        site = f"{url.scheme}://{url.netloc.decode('ascii')}"
        async with self._fetching[site]:
            if site not in self._rules:
                self._rules[site] = await self._fetch(url)
        rules = self._rules[site]
        if isinstance(rules, PageError):
            raise PageError(rules.reason, rules.detail)
        if not rules.can_fetch(str(url), AGENT):
            raise PageError("robots.txt", "the site forbids robots to fetch this page")
        self._client.slow_down(url.host, rules.crawl_delay(AGENT) or 0.0)

    async def _fetch(self, url: httpx.URL) -> Protego | PageError:
        try:
            answer = await self._client.get(
                url.copy_with(raw_path=b"/robots.txt"), _LIMIT, before=_anywhere, readable=_anything
            )
        except TooManyRedirectsError:
            return Protego.parse(_EVERYTHING)
        except PageError as error:
            return PageError(error.reason, f"robots.txt: {error.detail}")
        if answer.status >= 500 or answer.status == 429:
            return PageError("robots.txt", f"the site returns status {answer.status} for its robots.txt")
        return Protego.parse(answer.body.decode("utf-8-sig", "replace"))


async def _anywhere(url: httpx.URL) -> None:
    del url


def _anything(content_type: str) -> None:
    del content_type


class Fetched(NamedTuple):
    """A fetched page, or the reason why it could not be fetched.

    `html` is its source, or its text if `plain`; `final_url` is its address after redirects; `status` is 0 without a response.
    """

    url: str
    final_url: str
    status: int
    html: str | None
    reason: Reason
    detail: str = ""
    plain: bool = False


class _Arrived(NamedTuple):
    """A page whose source is not decoded yet, which takes less memory and leaves decoding to the consumer."""

    page: Fetched
    body: bytes | None = None
    charset: str = ""


def fetch_pages(urls: Sequence[str], settings: WebSettings) -> Iterator[Fetched]:
    """Yield every page of `urls` once, in the order in which they arrive.

    No page raises an error. Pages still missing after `seconds_a_question` are yielded as 'out of time'. Connections live in
    a separate thread; leaving the iteration early ends them.
    """
    arrived: SimpleQueue[_Arrived | None] = SimpleQueue()
    with start_blocking_portal() as portal:
        work = portal.start_task_soon(_fetch_all, list(dict.fromkeys(urls)), settings, arrived.put)
        work.add_done_callback(lambda _: arrived.put(None))
        while (arrival := arrived.get()) is not None:
            page, body, charset = arrival
            yield page if body is None else page._replace(html=decode_page(body, charset))
        work.result()


async def _fetch_all(urls: list[str], settings: WebSettings, deliver: Callable[[_Arrived], None]) -> None:
    missing = dict.fromkeys(urls)

    async def fetch(url: str, client: PoliteClient, robots: Robots) -> None:
        arrival = await _page(url, client, robots, settings.bytes_a_page)
        del missing[url]
        deliver(arrival)

    with anyio.move_on_after(settings.seconds_a_question):
        async with PoliteClient(settings) as client, anyio.create_task_group() as tasks:
            robots = Robots(client)
            for url in urls:
                tasks.start_soon(fetch, url, client, robots)
    for url in missing:
        deliver(_without(url, "out of time", f"the time limit of {settings.seconds_a_question:g} seconds was reached"))


async def _page(url: str, client: PoliteClient, robots: Robots, limit: int) -> _Arrived:
    try:
        answer = await client.get(web_address(url), limit, before=robots.check, readable=_only_text)
    except PageError as error:
        return _without(url, error.reason, error.detail)
    except ForbiddenAddressError as error:
        return _without(url, "failed", f"the address {error}")
    except Exception as error:  # no error that a hostile server provokes may affect other pages
        return _without(url, "failed", f"{type(error).__name__}: {error}")
    final_url = str(answer.url)
    if not 200 <= answer.status < 300:
        return _without(url, "failed", f"the server returns status {answer.status}", final_url, answer.status)
    if not answer.whole:
        return _without(url, "too large", f"has more than {limit} bytes", final_url, answer.status)
    if answer.body.startswith(b"%PDF-"):
        return _without(url, "not HTML", "is a PDF file", final_url, answer.status)
    page = Fetched(url, final_url, answer.status, None, "read", plain=answer.content_type in _TEXT)
    return _Arrived(page, answer.body, answer.charset)


def _without(url: str, reason: Reason, detail: str, final_url: str = "", status: int = 0) -> _Arrived:
    return _Arrived(Fetched(url, final_url or url, status, None, reason, detail))


def _only_text(content_type: str) -> None:
    if content_type not in (*_HTML, *_TEXT):
        kind = "a PDF file" if content_type == "application/pdf" else content_type[:60]
        raise PageError("not HTML", f"is {kind}")
