"""The connection to an OpenAI-compatible server, and one-line messages for its errors.

The address and the key are read from OPENAI_BASE_URL and OPENAI_API_KEY; neither is stored, logged or shown. Responses are
limited in size and total time, and must not be compressed.
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
"""Request headers that forbid compressed responses, since a few compressed bytes may expand to gigabytes."""
_LONGEST_ANSWER = 64 << 20
_OPENAI = "https://api.openai.com/v1"


class AnswerTooLongError(httpx.TransportError):
    """A server sends more bytes than allowed, or a compressed response that was not requested."""


def bounded(most_bytes: int, seconds: float) -> Callable[[httpx.Response], None]:
    """A response hook for an `httpx.Client` that limits the size and the total time of each response while it is read.

    The client's own timeout applies between two pieces, so a server that sends a byte now and then never exceeds it. Raises
    `AnswerTooLongError` and `httpx.ReadTimeout`.
    """

    def hook(response: httpx.Response) -> None:
        packing = response.headers.get("content-encoding", "identity").strip().lower()
        if packing not in ("", "identity"):
            raise AnswerTooLongError(f"The response is compressed as {packing[:20]}.", request=response.request)
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
                raise AnswerTooLongError(f"The response is larger than {self._most:,} bytes.", request=self._request)
            if time.monotonic() > self._ends:
                raise httpx.ReadTimeout("The response does not end in time.", request=self._request)
            yield piece

    def close(self) -> None:
        self._stream.close()


def open_server(*, retries: int, timeout: float) -> "openai.OpenAI":
    """A client of the server; `timeout` is in seconds.

    Raises `UnavailableError` if no server is configured, `BadInputError` if its address is invalid.
    """
    with needing("A language model server"):
        import openai

    key, address = os.environ.get("OPENAI_API_KEY"), os.environ.get("OPENAI_BASE_URL")
    if not key and not address:
        raise UnavailableError(
            "No language model server is configured.",
            hint="Set OPENAI_API_KEY, or OPENAI_BASE_URL for your own server.",
        )
    if address and not address.startswith(("http://", "https://")):
        raise BadInputError("OPENAI_BASE_URL is not a web address.", hint="Write it like http://127.0.0.1:8000/v1.")
    # Redirects are not followed: they could send a prompt to any server, perhaps one inside this network.
    http = openai.DefaultHttpxClient(
        timeout=timeout,
        follow_redirects=False,
        event_hooks={"response": [bounded(_LONGEST_ANSWER, timeout)]},
    )
    # A user's own server often needs no key, but the library requires one.
    return openai.OpenAI(
        api_key=key or "none", max_retries=retries, timeout=timeout, http_client=http, default_headers=UNPACKED
    )


def server_place() -> str:
    """The host and path of the server, without a user name or password in the address."""
    address = urlsplit(os.environ.get("OPENAI_BASE_URL") or _OPENAI)
    return f"{address.netloc.rpartition('@')[2]}{address.path.rstrip('/')}"


def translate_error(
    error: Exception, model: str, otherwise: BerdseyeError, *, hint: str = "Try again later."
) -> BerdseyeError:
    """Convert an error of the library to an error with a one-line message; `hint` is used for temporary errors.

    `otherwise` is returned for responses that are not valid. The key is removed from every message of the server.
    """
    import openai

    where = server_place()
    match error:
        case openai.APIConnectionError() if isinstance(error.__cause__, AnswerTooLongError):
            return UnavailableError(str(error.__cause__), where=where, hint="Check OPENAI_BASE_URL.")
        case openai.APITimeoutError():
            return UnavailableError("The server did not respond in time.", where=where, hint=hint)
        case openai.APIConnectionError():
            return UnavailableError("The server cannot be reached.", where=where, hint="Check OPENAI_BASE_URL.")
        case openai.AuthenticationError() | openai.PermissionDeniedError():
            return UnavailableError("The server rejected the key.", where=where, hint="Check OPENAI_API_KEY.")
        case openai.NotFoundError():
            return BadInputError(
                f"The server has no model '{model}'.", where=where, hint="Check the name and OPENAI_BASE_URL."
            )
        case openai.RateLimitError():
            return UnavailableError("Too many requests, or no credit left.", where=where, hint=hint)
        case openai.APIStatusError(status_code=status) if status >= 500:
            return UnavailableError(f"The server failed with status {status}.", where=where, hint=hint)
        case openai.APIStatusError(status_code=status):
            return BadInputError(
                f"The server rejected the request with status {status}: {_one_line(error)}",
                where=where,
                hint="Try another model or shorter texts.",
            )
    return otherwise


def _one_line(error: "openai.APIStatusError") -> str:
    key = os.environ.get("OPENAI_API_KEY")
    message = error.body.get("message") if isinstance(error.body, dict) else None
    text = " ".join(str(message or error.message).split())
    return (text.replace(key, "…") if key else text)[:200]
