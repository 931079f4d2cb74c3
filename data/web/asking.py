"""Asking a search server for JSON, with patience when it says that it has too much to do."""

import json
import time
from email.utils import parsedate_to_datetime
from itertools import count
from typing import Any

import httpx

from berdseye.data.errors import BerdseyeError, UnavailableError

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
