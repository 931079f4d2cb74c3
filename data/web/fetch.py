"""Fetching web pages, many at a time, each with its own word on why it could not be had.

What sites allow robots to fetch (RFC 9309).
"""

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
from berdseye.data.web.html import decoded
from berdseye.data.web.report import PageError, Reason
from berdseye.data.web.settings import WebSettings

_LIMIT = 512_000  # RFC 9309, section 2.5, asks for at least 500 KiB
_EVERYTHING = ""


class Robots:
    """The robots.txt of each site, fetched once."""

    def __init__(self, client: PoliteClient) -> None:
        self._client = client
        self._rules: dict[str, Protego | PageError] = {}
        self._fetching: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)

    async def check(self, url: httpx.URL) -> None:
        """Raises `PageError` where the site forbids `url`, or cannot be asked (RFC 9309, section 2.3.1)."""
        site = f"{url.scheme}://{url.netloc.decode('ascii')}"
        async with self._fetching[site]:
            if site not in self._rules:
                self._rules[site] = await self._fetched(url)
        rules = self._rules[site]
        if isinstance(rules, PageError):
            raise PageError(rules.reason, rules.detail)
        if not rules.can_fetch(str(url), AGENT):
            raise PageError("robots.txt", "the site asks robots to stay away from this page")
        self._client.slow_down(url.host, rules.crawl_delay(AGENT) or 0.0)

    async def _fetched(self, url: httpx.URL) -> Protego | PageError:
        try:
            answer = await self._client.get(
                url.copy_with(raw_path=b"/robots.txt"), _LIMIT, before=_anywhere, readable=_anything
            )
        except TooManyRedirectsError:
            return Protego.parse(_EVERYTHING)
        except PageError as error:
            return PageError(error.reason, f"robots.txt: {error.detail}")
        if answer.status >= 500 or answer.status == 429:
            return PageError("robots.txt", f"the site answers {answer.status} when asked what robots may fetch")
        return Protego.parse(answer.body.decode("utf-8-sig", "replace"))


async def _anywhere(url: httpx.URL) -> None:
    del url


def _anything(content_type: str) -> None:
    del content_type


_HTML = ("text/html", "application/xhtml+xml", "")
_TEXT = ("text/plain", "text/markdown")


class Fetched(NamedTuple):
    """A page, or why there is none. `html` is its source (its text, where `plain`); `final_url` where it was found
    after redirects; `status` 0 where no answer came."""

    url: str
    final_url: str
    status: int
    html: str | None
    reason: Reason
    detail: str = ""
    plain: bool = False


class _Arrived(NamedTuple):
    """A page with its source still undecoded, which takes less room and leaves that work to who iterates."""

    page: Fetched
    body: bytes | None = None
    charset: str = ""


def fetched(urls: Sequence[str], settings: WebSettings) -> Iterator[Fetched]:
    """Every page of `urls` once, in the order in which they arrive.

    Nothing is raised for a page. After `seconds_a_question` those still missing are told as 'out of time'. Connections
    live in a thread of their own; leaving the iteration early ends them.
    """
    arrived: SimpleQueue[_Arrived | None] = SimpleQueue()
    with start_blocking_portal() as portal:
        work = portal.start_task_soon(_fetch_all, list(dict.fromkeys(urls)), settings, arrived.put)
        work.add_done_callback(lambda _: arrived.put(None))
        while (found := arrived.get()) is not None:
            page, body, charset = found
            yield page if body is None else page._replace(html=decoded(body, charset))
        work.result()


async def _fetch_all(urls: list[str], settings: WebSettings, tell: Callable[[_Arrived], None]) -> None:
    missing = dict.fromkeys(urls)

    async def fetch(url: str, client: PoliteClient, robots: Robots) -> None:
        found = await _page(url, client, robots, settings.bytes_a_page)
        del missing[url]
        tell(found)

    with anyio.move_on_after(settings.seconds_a_question):
        async with PoliteClient(settings) as client, anyio.create_task_group() as tasks:
            robots = Robots(client)
            for url in urls:
                tasks.start_soon(fetch, url, client, robots)
    for url in missing:
        tell(_without(url, "out of time", f"the {settings.seconds_a_question:g} seconds for the question were over"))


async def _page(url: str, client: PoliteClient, robots: Robots, limit: int) -> _Arrived:
    try:
        answer = await client.get(web_address(url), limit, before=robots.check, readable=_only_text)
    except PageError as error:
        return _without(url, error.reason, error.detail)
    except ForbiddenAddressError as error:
        return _without(url, "failed", f"the address {error}")
    except Exception as error:  # whatever a hostile server brings about must not cost the other pages
        return _without(url, "failed", f"{type(error).__name__}: {error}")
    found = str(answer.url)
    if not 200 <= answer.status < 300:
        return _without(url, "failed", f"the server answers {answer.status}", found, answer.status)
    if not answer.whole:
        return _without(url, "too large", f"has more than {limit} bytes", found, answer.status)
    if answer.body.startswith(b"%PDF-"):
        return _without(url, "not HTML", "is a PDF file", found, answer.status)
    page = Fetched(url, found, answer.status, None, "read", plain=answer.content_type in _TEXT)
    return _Arrived(page, answer.body, answer.charset)


def _without(url: str, reason: Reason, detail: str, found: str = "", status: int = 0) -> _Arrived:
    return _Arrived(Fetched(url, found or url, status, None, reason, detail))


def _only_text(content_type: str) -> None:
    if content_type not in (*_HTML, *_TEXT):
        kind = "a PDF file" if content_type == "application/pdf" else content_type[:60]
        raise PageError("not HTML", f"is {kind}")
