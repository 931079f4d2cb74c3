"""Bounds on what a server may answer: how many bytes, how long the whole answer takes, and not in a packed form."""

import time
from collections.abc import Callable, Iterator

import httpx

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
