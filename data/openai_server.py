"""Reaching an OpenAI-compatible server, and saying in one line what it refuses.

The address and the key are read from OPENAI_BASE_URL and OPENAI_API_KEY; neither is stored, logged or shown.
"""

import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from berdseye.data.answer_bounds import UNPACKED, AnswerTooLongError, bounded
from berdseye.data.errors import BadInputError, BerdseyeError, UnavailableError

if TYPE_CHECKING:
    import openai

_LONGEST_ANSWER = 64 << 20
_OPENAI = "https://api.openai.com/v1"


def open_server(*, retries: int, timeout: float) -> "openai.OpenAI":
    """A client of the server; `timeout` in seconds. Raises where none is set, or its address is none."""
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


def told(error: Exception, model: str, otherwise: BerdseyeError, *, hint: str = "Try again later.") -> BerdseyeError:
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
