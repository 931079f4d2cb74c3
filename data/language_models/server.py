"""Reaching an OpenAI-compatible server, and saying in one line what it refuses.

The address and the key are read from OPENAI_BASE_URL and OPENAI_API_KEY; neither is stored, logged or shown.

Bounds on what a server may answer: how many bytes, how long the whole answer takes, and not in a packed form.
"""

import os
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from berdseye.data.errors import BadInputError, BerdseyeError, UnavailableError
from berdseye.data.extras import needing

if TYPE_CHECKING:
    import openai


UNPACKED = {"Accept-Encoding": "identity"}
"""Headers to ask with: a few packed bytes may unpack to gigabytes."""


class AnswerTooLongError(httpx.TransportError):
    """A server sends more than was agreed to, or sends it packed though it was not asked to."""


def bounded(most_bytes: int, seconds: float) -> Callable[[httpx.Response], None]:
    """A response hook of an `httpx.Client` that holds each answer to these bounds as it is read.

    The client's own timeout is one between two pieces, which a server that sends a byte now and then never exceeds. Raises
    `AnswerTooLongError` and `httpx.ReadTimeout`.
    """

    def hook(response: httpx.Response) -> None:
        packing = response.headers.get("content-encoding", "identity").strip().lower()
        if packing not in ("", "identity"):
            raise AnswerTooLongError(f"The answer is packed as {packing[:20]}.", request=response.request)
        assert isinstance(response.stream, httpx.SyncByteStream)
        response.stream = _Bounded(response.stream, response.request, most_bytes, seconds)

    return hook


class _Bounded(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, request: httpx.Request, most_bytes: int, seconds: float) -> None:
        self._stream, self._request, self._left = stream, request, most_bytes
        self._ends = time.monotonic() + seconds
        self._most = most_bytes

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._stream:
            self._left -= len(piece)
            if self._left < 0:
                raise AnswerTooLongError(f"The answer is longer than {self._most:,} bytes.", request=self._request)
            if time.monotonic() > self._ends:
                raise httpx.ReadTimeout("The answer does not end.", request=self._request)
            yield piece

    def close(self) -> None:
        self._stream.close()


_LONGEST_ANSWER = 64 << 20
_OPENAI = "https://api.openai.com/v1"


def open_server(*, retries: int, timeout: float) -> "openai.OpenAI":
    """A client of the server; `timeout` in seconds. Raises where none is set, or its address is none."""
    with needing("A language model server"):
        import openai

    key, address = os.environ.get("OPENAI_API_KEY"), os.environ.get("OPENAI_BASE_URL")
    if not key and not address:
        raise UnavailableError(
            "No language model server is set.",
            hint="Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own.",
        )
    if address and not address.startswith(("http://", "https://")):
        raise BadInputError("OPENAI_BASE_URL is no address.", hint="Write it like http://127.0.0.1:8000/v1.")
    # Redirects are not followed: a prompt would go to whatever server an answer names, one inside this network perhaps.
    http = openai.DefaultHttpxClient(
        timeout=timeout,
        follow_redirects=False,
        event_hooks={"response": [bounded(_LONGEST_ANSWER, timeout)]},
    )
    # Servers of one's own often take no key, but the library insists on one.
    return openai.OpenAI(
        api_key=key or "none", max_retries=retries, timeout=timeout, http_client=http, default_headers=UNPACKED
    )


def server_place() -> str:
    """Host and path of the server, without the user or password an address may hold."""
    address = urlsplit(os.environ.get("OPENAI_BASE_URL") or _OPENAI)
    return f"{address.netloc.rpartition('@')[2]}{address.path.rstrip('/')}"


def translate_error(
    error: Exception, model: str, otherwise: BerdseyeError, *, hint: str = "Try again later."
) -> BerdseyeError:
    """The library's error in one line, `otherwise` for answers that are none; `hint` is for what may pass.

    Where the server's words are shown, the key is taken out of them.
    """
    import openai

    where = server_place()
    match error:
        case openai.APIConnectionError() if isinstance(error.__cause__, AnswerTooLongError):
            return UnavailableError(str(error.__cause__), where=where, hint="Is OPENAI_BASE_URL the right server?")
        case openai.APITimeoutError():
            return UnavailableError("The server does not answer in time.", where=where, hint=hint)
        case openai.APIConnectionError():
            return UnavailableError("The server cannot be reached.", where=where, hint="Check OPENAI_BASE_URL.")
        case openai.AuthenticationError() | openai.PermissionDeniedError():
            return UnavailableError("The server refuses the key.", where=where, hint="Check OPENAI_API_KEY.")
        case openai.NotFoundError():
            return BadInputError(
                f"The server does not know '{model}'.", where=where, hint="Check the name and OPENAI_BASE_URL."
            )
        case openai.RateLimitError():
            return UnavailableError("Too many requests, or no credit left.", where=where, hint=hint)
        case openai.APIStatusError(status_code=status) if status >= 500:
            return UnavailableError(f"The server fails with status {status}.", where=where, hint=hint)
        case openai.APIStatusError(status_code=status):
            return BadInputError(
                f"The server refuses the request with status {status}: {_one_line(error)}",
                where=where,
                hint="Another model or shorter texts may do.",
            )
    return otherwise


def _one_line(error: "openai.APIStatusError") -> str:
    key = os.environ.get("OPENAI_API_KEY")
    said = error.body.get("message") if isinstance(error.body, dict) else None
    text = " ".join(str(said or error.message).split())
    return (text.replace(key, "…") if key else text)[:200]
