"""Signing requests to Label Studio: with a legacy token, or with a personal access token and what it is exchanged for."""

import json
import time
from base64 import urlsafe_b64decode
from collections.abc import Callable, Generator
from typing import Any

import httpx

from berdseye.data.errors import BadInputError

_MARGIN_SECONDS = 30.0


class TokenAuth(httpx.Auth):
    """Signs every request that its client makes.

    A personal access token (a JWT, Label Studio's default since 1.20) buys access tokens that last five minutes. A new one is
    bought before the old one ends, and when the server refuses one all the same: its clock may differ from ours. A refused
    request has done nothing, so that it is safe to repeat. `clock` tells the time in seconds.
    """

    requires_response_body = True

    def __init__(self, url: str, token: str, clock: Callable[[], float] = time.time) -> None:
        self._url, self._token, self._clock = url, token, clock
        self.personal = _claims(token) is not None
        self._access, self._until = "", 0.0

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Raises `BadInputError` where the personal access token itself is refused."""
        if not self.personal:
            request.headers["Authorization"] = f"Token {self._token}"
            yield request
            return
        bought = False
        if self._clock() > self._until - _MARGIN_SECONDS:
            yield from self._buy()
            bought = True
        request.headers["Authorization"] = f"Bearer {self._access}"
        answer = yield request
        if answer.status_code == httpx.codes.UNAUTHORIZED and not bought:
            yield from self._buy()
            request.headers["Authorization"] = f"Bearer {self._access}"
            yield request

    def _buy(self) -> Generator[httpx.Request, httpx.Response, None]:
        answer = yield httpx.Request("POST", f"{self._url}/api/token/refresh/", json={"refresh": self._token})
        if answer.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN, httpx.codes.BAD_REQUEST):
            raise BadInputError(
                "Label Studio refused the personal access token: it was revoked, has expired, or is another server's.",
                where=self._url,
                hint="Make a new one on your account page there, and set BERDSEYE_LABEL_STUDIO_TOKEN to it.",
            )
        try:
            access = answer.raise_for_status().json()["access"]
            if not isinstance(access, str) or not access.isascii() or not access.isprintable():
                raise TypeError("a token is a text of ASCII signs")
            lasts = _claims(access) or {}
            # By the server's own two moments: its clock may differ from ours.
            seconds = float(lasts.get("exp", 0)) - float(lasts.get("iat", 0))
        except (httpx.HTTPStatusError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise httpx.RemoteProtocolError(
                f"The exchange of the token was answered with {answer.status_code}.", request=answer.request
            ) from error
        self._access, self._until = access, self._clock() + max(0.0, seconds)


def _claims(token: str) -> dict[str, Any] | None:
    """What a JWT says, unverified; None for a token of another kind."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        found = json.loads(urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
