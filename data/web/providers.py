"""Who searches the web for us: serper.dev, or a SearXNG server.

Asking a search server for JSON, with patience when it says that it has too much to do.
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from itertools import count
from typing import Any, NamedTuple, Protocol

import httpx

from berdseye.data.errors import BadInputError, BerdseyeError, UnavailableError
from berdseye.data.web.addresses import ForbiddenAddressError, web_address
from berdseye.data.web.settings import WebSettings

_BUSY = (429, 500, 502, 503, 504)
_FIRST_WAIT = 0.5
_LIMIT = 10_000_000


def ask(provider: str, request: httpx.Request, seconds: float, refused: str = "") -> dict[str, Any]:
    """The JSON object that a search server answers with, within `seconds`.

    After 429 or 5xx it is asked again: when its Retry-After says so, else after 0.5, 1, 2 … seconds. Raises
    `UnavailableError` where that would take too long or nobody answers, `BerdseyeError` for an answer that is no JSON
    object. `refused` is what to do about 401 and 403.
    """
    deadline = time.monotonic() + seconds
    # Without the environment's settings no proxy that it happens to name reads the key.
    with httpx.Client(trust_env=False, verify=httpx.create_ssl_context()) as client:
        for attempt in count():
            status, headers, body = _answered(client, provider, request, deadline)
            if status not in _BUSY:
                break
            wait = _asked_to_wait(headers.get("retry-after", ""))
            wait = _FIRST_WAIT * 2**attempt if wait is None else wait
            if time.monotonic() + wait >= deadline:
                raise UnavailableError(
                    f"The search provider {provider} answers {status}"
                    f" ({'too many requests' if status == 429 else 'a fault of its own'})"
                    f"{f' and asks to wait {wait:.0f} seconds' if 'retry-after' in headers else ''}.",
                    hint="Ask again later, or for fewer results.",
                )
            time.sleep(wait)
    if status in (401, 403):
        raise UnavailableError(f"The search provider {provider} answers {status}: it does not let us in.", hint=refused)
    if status != 200:
        raise BerdseyeError(f"The search provider {provider} answers {status}.", hint="Is its address right?")
    return _json_object(provider, body)


def _answered(
    client: httpx.Client, provider: str, request: httpx.Request, deadline: float
) -> tuple[int, httpx.Headers, bytes]:
    left = max(deadline - time.monotonic(), 0.001)
    request.extensions["timeout"] = httpx.Timeout(left).as_dict()
    try:
        answer = client.send(request, stream=True)
        try:
            body = bytearray()
            for piece in answer.iter_bytes():
                body += piece
                if len(body) > _LIMIT:
                    raise BerdseyeError(f"The search provider {provider} answers with more than {_LIMIT} bytes.")
                if time.monotonic() > deadline:
                    raise httpx.ReadTimeout("its answer does not end")
        finally:
            answer.close()
    except httpx.TimeoutException as error:
        raise UnavailableError(
            f"The search provider {provider} did not answer in time.", hint="Ask again, or for fewer results."
        ) from error
    except (httpx.TransportError, httpx.DecodingError) as error:
        raise UnavailableError(
            f"The search provider {provider} cannot be reached: {error}.",
            hint="Is there a network, and is its address right?",
        ) from error
    return answer.status_code, answer.headers, bytes(body)


def _asked_to_wait(retry_after: str) -> float | None:
    """Seconds that a Retry-After header asks for (RFC 9110, section 10.2.3), None where it says nothing."""
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        return max(parsedate_to_datetime(retry_after).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return None


def _json_object(provider: str, body: bytes) -> dict[str, Any]:
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise BerdseyeError(
            f"The search provider {provider} answers with something else than a JSON object.",
            hint="Is its address right?",
        )
    return read


KEY = "SERPER_API_KEY"
_MOST_PAGES = 30


class Hit(NamedTuple):
    """A page that a search found."""

    url: str
    title: str
    snippet: str


class Hits(NamedTuple):
    """What a search found, best first, each address once; `unusable` counts hits without an http address."""

    hits: list[Hit]
    unusable: int


class SearchProvider(Protocol):
    """Answers a query with up to `count` hits; raises `BerdseyeError` that names the provider."""

    @property
    def name(self) -> str: ...

    def search(self, query: str, count: int) -> Hits: ...


class _Form(NamedTuple):
    """How a provider writes its results: under which names, and what to do where it lets nobody in."""

    results: str
    url: str
    title: str
    snippet: str
    refused: str


_SERPER = _Form("organic", "link", "title", "snippet", f"Is the key in {KEY} right, and is it paid for?")
_SEARXNG = _Form(
    *("results", "url", "title", "content"),
    refused="Add json to the formats under search: in the settings.yml of the server.",
)


@dataclass(frozen=True)
class Serper:
    """Google's results by serper.dev, in `seconds` for all pages of a search."""

    address: str
    key: str = field(repr=False)
    seconds: float
    language: str = ""
    name: str = "serper"

    def search(self, query: str, count: int) -> Hits:
        """The first `count` hits of a query."""

        def page(number: int) -> httpx.Request:
            asked = {"q": query, "num": min(count, 100), "page": number}
            if self.language:
                asked["hl"] = self.language.lower()
            return httpx.Request("POST", f"{self.address}/search", headers={"X-API-KEY": self.key}, json=asked)

        return _hits(self.name, page, _SERPER, count, self.seconds)


@dataclass(frozen=True)
class SearXNG:
    """The results of a SearXNG server, whose settings must allow the format json, in `seconds` for all pages."""

    address: str
    seconds: float
    language: str = ""
    name: str = "searxng"

    def search(self, query: str, count: int) -> Hits:
        """The first `count` hits of a query."""

        def page(number: int) -> httpx.Request:
            asked = {"q": query, "format": "json", "pageno": str(number)}
            if self.language:
                asked["language"] = self.language
            return httpx.Request("GET", f"{self.address}/search", params=asked)

        return _hits(self.name, page, _SEARXNG, count, self.seconds)


def open_provider(settings: WebSettings) -> SearchProvider:
    """The provider of these settings; raises `BadInputError` where serper.dev is asked without a key."""
    if settings.provider == "searxng":
        return SearXNG(settings.search_address, settings.seconds_a_search, settings.language)
    key = os.environ.get(KEY, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise BadInputError(
            f"There is no key for serper.dev in {KEY}.",
            hint=f"Get one at serper.dev and set the environment variable {KEY}, or use a SearXNG server.",
        )
    return Serper(settings.search_address, key, settings.seconds_a_search, settings.language)


def _hits(provider: str, page: Callable[[int], httpx.Request], form: _Form, count: int, seconds: float) -> Hits:
    """Hits of page after page, until there are `count` or a page brings no new one."""
    found: dict[str, Hit] = {}
    unusable = 0
    end = time.monotonic() + seconds
    for number in range(1, _MOST_PAGES + 1):
        rows = ask(provider, page(number), end - time.monotonic(), form.refused).get(form.results)
        if not isinstance(rows, list):
            raise BerdseyeError(
                f"The search provider {provider} answers without a list of results.", hint="Is its address right?"
            )
        before = len(found)
        for row in rows:
            hit = _hit(row, form)
            if hit is None:
                unusable += 1
            else:
                found.setdefault(hit.url, hit)
        if len(found) >= count or len(found) == before:
            break
    if unusable and not found:
        raise BerdseyeError(f"None of the {unusable} results of the search provider {provider} holds a web address.")
    return Hits(list(found.values())[:count], unusable)


def _hit(row: Any, form: _Form) -> Hit | None:
    values = [row.get(name) for name in form[1:4]] if isinstance(row, dict) else [None] * 3
    url, title, snippet = (value if isinstance(value, str) else "" for value in values)
    try:
        return Hit(str(web_address(url)), title, snippet)
    except ForbiddenAddressError:
        return None
