"""A polite HTTP client: few concurrent requests, fewer per host, and limits on the time and size of every response."""

import zlib
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from types import TracebackType
from typing import NamedTuple, Self

import anyio
import httpcore
import httpx

from berdseye.data.web.addresses import ForbiddenAddressError, PrivateAddressError, PublicNetwork, web_address
from berdseye.data.web.report import PageError
from berdseye.data.web.settings import WebSettings

AGENT = "Berdseye"
_MOST_REDIRECTS = 5
_AT_ONCE_A_HOST = 2
_ACCEPT = "text/html, application/xhtml+xml, text/plain;q=0.8, */*;q=0.1"
Check = Callable[[httpx.URL], Awaitable[None]]


class TooManyRedirectsError(PageError):
    """A page redirects more often than the client follows."""


class Answer(NamedTuple):
    """A response: `body` is decompressed; `whole` is false if it was cut off at the size limit."""

    url: httpx.URL
    status: int
    content_type: str
    charset: str
    body: bytes
    whole: bool


@dataclass
class _Host:
    pause: float
    slots: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(_AT_ONCE_A_HOST))
    next_start: float = 0.0


class PoliteClient:
    """The connections of one search; proxies from the environment are ignored, since they could fetch private addresses."""

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        self._slots = anyio.Semaphore(settings.concurrency)
        self._hosts: defaultdict[str, _Host] = defaultdict(lambda: _Host(settings.seconds_between))
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=httpx.create_ssl_context(),
            max_connections=settings.concurrency,
            network_backend=PublicNetwork(allow_private=settings.allow_private),
        )
        self._headers: dict[bytes | str, bytes | str] = {
            "User-Agent": f"{AGENT}/{version('berdseye')} (+research)",
            "Accept": _ACCEPT,
            "Accept-Encoding": "gzip",
            **({"Accept-Language": settings.language} if settings.language else {}),
        }

    async def __aenter__(self) -> Self:
        await self._pool.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._pool.__aexit__(kind, error, trace)

    def slow_down(self, host: str, pause: float) -> None:
        """Wait at least `pause` seconds between two requests to a host."""
        self._hosts[host].pause = max(self._hosts[host].pause, pause)

    async def get(self, url: httpx.URL, limit: int, *, before: Check, readable: Callable[[str], None]) -> Answer:
        """Fetch `url` after up to five redirects, reading at most `limit` bytes.

        `before` checks every address on the way, `readable` the content type; both raise an error to refuse. Raises
        `PageError` for every failure, including a total time over `seconds_a_page`, which excludes waiting for a turn.
        """
        seconds_left = self._settings.seconds_a_page
        for _ in range(_MOST_REDIRECTS + 1):
            await before(url)
            async with self._turn(url.host):
                start = anyio.current_time()
                answer = await self._exchange(url, limit, seconds_left, readable)
                seconds_left -= anyio.current_time() - start
            if isinstance(answer, Answer):
                return answer
            url = answer
        raise TooManyRedirectsError("failed", f"redirects more than {_MOST_REDIRECTS} times")

    @asynccontextmanager
    async def _turn(self, name: str) -> AsyncIterator[None]:
        """Wait for a slot of the host, then for one of the client, so that a queue for one host does not block others."""
        host = self._hosts[name]
        async with host.slots:
            start = max(anyio.current_time(), host.next_start)
            host.next_start = start + host.pause
            await anyio.sleep_until(start)
            async with self._slots:
                yield

    async def _exchange(
        self, url: httpx.URL, limit: int, seconds: float, readable: Callable[[str], None]
    ) -> Answer | httpx.URL:
        address = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        timeouts = {
            "connect": self._settings.seconds_a_page / 3
        }  # leaves time for the next address if one does not respond
        try:
            with anyio.fail_after(seconds):
                async with self._pool.stream(
                    "GET", address, headers={"Host": url.netloc, **self._headers}, extensions={"timeout": timeouts}
                ) as response:
                    return await _read(url, response, limit, readable)
        except (TimeoutError, httpcore.TimeoutException) as error:
            raise PageError(
                "timed out", f"{error}" or f"took over {self._settings.seconds_a_page:g} seconds"
            ) from error
        except PrivateAddressError as error:
            raise PageError("private address", str(error)) from error
        except ForbiddenAddressError as error:
            raise PageError("failed", f"redirects to an address that {error}") from error
        except (httpcore.NetworkError, httpcore.ProtocolError, OSError, zlib.error) as error:
            raise PageError("failed", f"{type(error).__name__}: {error}") from error


async def _read(
    url: httpx.URL, response: httpcore.Response, limit: int, readable: Callable[[str], None]
) -> Answer | httpx.URL:
    """The response, or the address to which it redirects."""
    headers = httpx.Headers(response.headers)
    if response.status in (301, 302, 303, 307, 308) and "location" in headers:
        return web_address(headers["location"], url)
    content_type, _, parameters = headers.get("content-type", "").partition(";")
    content_type = content_type.strip().lower()
    charset = parameters.lower().partition("charset=")[2].partition(";")[0].strip(" \"'")
    if not 200 <= response.status < 300:
        return Answer(url, response.status, content_type, charset, b"", whole=True)
    readable(content_type)
    body, whole = await _body(response, headers.get("content-encoding", "").strip().lower(), limit)
    return Answer(url, response.status, content_type, charset, body, whole)


async def _body(response: httpcore.Response, packing: str, limit: int) -> tuple[bytes, bool]:
    """At most `limit` decompressed bytes, and whether they are all.

    Decompression works in bounded pieces, so that a small response that expands to gigabytes takes no extra memory.
    """
    if packing not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise PageError("failed", f"is compressed as {packing[:20]}, which was not requested")
    unpack = None if packing in ("", "identity") else zlib.decompressobj(zlib.MAX_WBITS | 32)
    body, received = bytearray(), 0
    async for piece in response.aiter_stream():
        received += len(piece)
        body += piece if unpack is None else unpack.decompress(piece, limit + 1 - len(body))
        if max(len(body), received) > limit:
            return bytes(body[:limit]), False
    if unpack is not None and received and not unpack.eof:
        raise PageError("failed", "its compressed content is truncated")
    return bytes(body), True
