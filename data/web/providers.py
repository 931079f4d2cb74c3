"""The web search providers: serper.dev, or a SearXNG server; a busy server is asked again after a while."""

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
KEY = "SERPER_API_KEY"
_MOST_PAGES = 30


def ask(provider: str, request: httpx.Request, seconds: float, refused: str = "") -> dict[str, Any]:
    """Send a request to a search server, and return the JSON object of its response within `seconds`.

    After 429 or 5xx, the request is repeated: after the time in Retry-After, or otherwise after 0.5, 1, 2 … seconds. Raises
    `UnavailableError` if that would take too long or there is no response, `BerdseyeError` if the response is not a JSON
    object. `refused` is the hint for 401 and 403.
    """
    deadline = time.monotonic() + seconds
    # `trust_env=False`, so that no proxy from the environment can read the key.
    with httpx.Client(trust_env=False, verify=httpx.create_ssl_context()) as client:
        for attempt in count():
            status, headers, body = _response(client, provider, request, deadline)
            if status not in _BUSY:
                break
            wait = _retry_seconds(headers.get("retry-after", ""))
            wait = _FIRST_WAIT * 2**attempt if wait is None else wait
            if time.monotonic() + wait >= deadline:
                raise UnavailableError(
                    f"The search provider {provider} returned status {status}"
                    f" ({'too many requests' if status == 429 else 'server error'})"
                    f"{f' and asks to wait {wait:.0f} seconds' if 'retry-after' in headers else ''}.",
                    hint="Try again later, or request fewer results.",
                )
            time.sleep(wait)
    if status in (401, 403):
        raise UnavailableError(f"The search provider {provider} denied access (status {status}).", hint=refused)
    if status != 200:
        raise BerdseyeError(f"The search provider {provider} returned status {status}.", hint="Check its address.")
    return _json_object(provider, body)


def _response(
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
                    raise BerdseyeError(
                        f"The response of the search provider {provider} is larger than {_LIMIT:,} bytes."
                    )
                if time.monotonic() > deadline:
                    raise httpx.ReadTimeout("its response does not end")
        finally:
            answer.close()
    except httpx.TimeoutException as error:
        raise UnavailableError(
            f"The search provider {provider} did not respond in time.", hint="Try again, or request fewer results."
        ) from error
    except (httpx.TransportError, httpx.DecodingError) as error:
        raise UnavailableError(
            f"The search provider {provider} cannot be reached: {error}.",
            hint="Check the network and the address of the provider.",
        ) from error
    return answer.status_code, answer.headers, bytes(body)


def _retry_seconds(retry_after: str) -> float | None:
    """The seconds to wait by a Retry-After header (RFC 9110, section 10.2.3); None if it is empty or invalid."""
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
            f"The response of the search provider {provider} is not a JSON object.",
            hint="Check its address.",
        )
    return read


class Hit(NamedTuple):
    """A search hit."""

    url: str
    title: str
    snippet: str


class Hits(NamedTuple):
    """The hits of a search, best first, without repeated addresses; `unusable` counts hits without an http address."""

    hits: list[Hit]
    unusable: int


class SearchProvider(Protocol):
    """A search provider: returns up to `count` hits of a query; raises `BerdseyeError` that names the provider."""

    @property
    def name(self) -> str: ...

    def search(self, query: str, count: int) -> Hits: ...


class _Form(NamedTuple):
    """The names of the fields in a provider's results, and the hint if it denies access."""

    results: str
    url: str
    title: str
    snippet: str
    refused: str


_SERPER = _Form("organic", "link", "title", "snippet", f"Check the key in {KEY} and its credit.")
_SEARXNG = _Form(
    *("results", "url", "title", "content"),
    refused="Add json to the formats under `search:` in the server's settings.yml.",
)


@dataclass(frozen=True)
class Serper:
    """Google's results from serper.dev; `seconds` is the time limit for all pages of a search."""

    address: str
    key: str = field(repr=False)
    seconds: float
    language: str = ""
    name: str = "serper"

    def search(self, query: str, count: int) -> Hits:
        """The first `count` hits of a query; raises `BerdseyeError` that names the provider."""

        def page(number: int) -> httpx.Request:
            parameters = {"q": query, "num": min(count, 100), "page": number}
            if self.language:
                parameters["hl"] = self.language.lower()
            return httpx.Request("POST", f"{self.address}/search", headers={"X-API-KEY": self.key}, json=parameters)

        return _hits(self.name, page, _SERPER, count, self.seconds)


@dataclass(frozen=True)
class SearXNG:
    """The results of a SearXNG server, whose settings must allow the format json; `seconds` limits all pages of a search."""

    address: str
    seconds: float
    language: str = ""
    name: str = "searxng"

    def search(self, query: str, count: int) -> Hits:
        """The first `count` hits of a query; raises `BerdseyeError` that names the provider."""

        def page(number: int) -> httpx.Request:
            parameters = {"q": query, "format": "json", "pageno": str(number)}
            if self.language:
                parameters["language"] = self.language
            return httpx.Request("GET", f"{self.address}/search", params=parameters)

        return _hits(self.name, page, _SEARXNG, count, self.seconds)


def open_provider(settings: WebSettings) -> SearchProvider:
    """The search provider of these settings; raises `BadInputError` for serper.dev without a key."""
    if settings.provider == "searxng":
        return SearXNG(settings.search_address, settings.seconds_a_search, settings.language)
    key = os.environ.get(KEY, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise BadInputError(
            f"The environment variable {KEY} has no valid key for serper.dev.",
            hint=f"Get a key at serper.dev and set {KEY}, or use a SearXNG server.",
        )
    return Serper(settings.search_address, key, settings.seconds_a_search, settings.language)


def _hits(provider: str, page: Callable[[int], httpx.Request], form: _Form, count: int, seconds: float) -> Hits:
    """The hits of successive result pages, until there are `count` or a page has no new one."""
    hits: dict[str, Hit] = {}
    unusable = 0
    end = time.monotonic() + seconds
    for number in range(1, _MOST_PAGES + 1):
        rows = ask(provider, page(number), end - time.monotonic(), form.refused).get(form.results)
        if not isinstance(rows, list):
            raise BerdseyeError(
                f"The response of the search provider {provider} has no list of results.", hint="Check its address."
            )
        before = len(hits)
        for row in rows:
            hit = _hit(row, form)
            if hit is None:
                unusable += 1
            else:
                hits.setdefault(hit.url, hit)
        if len(hits) >= count or len(hits) == before:
            break
    if unusable and not hits:
        raise BerdseyeError(f"None of the {unusable} results of the search provider {provider} has a web address.")
    return Hits(list(hits.values())[:count], unusable)


def _hit(row: Any, form: _Form) -> Hit | None:
    values = [row.get(name) for name in form[1:4]] if isinstance(row, dict) else [None] * 3
    url, title, snippet = (value if isinstance(value, str) else "" for value in values)
    try:
        return Hit(str(web_address(url)), title, snippet)
    except ForbiddenAddressError:
        return None
