"""Where Label Studio is, how to talk to it, and what its errors mean to a person.

Signing requests to Label Studio: with a legacy token, or with a personal access token and what it is exchanged for.
"""

import json
import os
import re
import time
from base64 import urlsafe_b64decode
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from filelock import FileLock, Timeout

from berdseye.annotation.label_studio.sdk import ApiError
from berdseye.annotation.label_studio.server import Credentials, running
from berdseye.data.errors import BadInputError, BerdseyeError, UnavailableError
from berdseye.data.extras import needing
from berdseye.data.language_models.server import UNPACKED, AnswerTooLongError, bounded
from berdseye.data.workspace import Workspace

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


_ANSWER_SECONDS = 600.0
_LONGEST_ANSWER = 2 << 30  # a project of 100,000 long tasks takes a tenth
_CONNECT_SECONDS = 10.0
_TRY_SECONDS = 20
_LOCK_SECONDS = 900.0
_HOW_TO_START = "Start it with `berdseye label-studio`, or set BERDSEYE_LABEL_STUDIO_URL to one that runs."
_HOW_TO_SIGN_IN = (
    "Set BERDSEYE_LABEL_STUDIO_TOKEN to a personal access token, or to the legacy token where the server allows those: "
    "both are on your account page in Label Studio (for the server of this workspace: unset BERDSEYE_LABEL_STUDIO_URL "
    "and BERDSEYE_LABEL_STUDIO_TOKEN)."
)


@dataclass(frozen=True)
class Connection:
    """A way to one server; `client` is the SDK's, `organization` the one its token belongs to, `account` whose it is.

    `own` holds the admin's credentials where Berdseye itself started the server in this workspace, and is None elsewhere.
    """

    url: str
    client: Any
    lock: FileLock
    organization: int | None = None
    account: str = ""
    personal: bool = False
    own: Credentials | None = field(default=None, repr=False)

    @property
    def folder(self) -> Path:
        """Where this workspace keeps what it knows of its Label Studio server."""
        return Path(self.lock.lock_file).parent

    def version(self) -> str:
        """The server's version."""
        with translated(self.url):
            return str(self.client.versions.get().release or "unknown")

    def time(self) -> datetime:
        """What the server's clock says, to the second: changes there are dated by it."""
        answer = self.client.users.with_raw_response.whoami()
        try:
            return parsedate_to_datetime(answer.headers["date"]).astimezone(UTC)
        except (KeyError, ValueError) as error:
            raise BerdseyeError(
                "Label Studio does not tell the time.",
                where=self.url,
                hint="A proxy in between may drop the header Date.",
            ) from error

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Hold the only right to change both sides, with errors of the server translated.

        Two at once would each act on a picture that the other is changing, and imports that race lose
        annotations.
        """
        try:
            self.lock.acquire(timeout=_LOCK_SECONDS)
        except Timeout as error:
            raise UnavailableError(
                "Another exchange with Label Studio has not ended.",
                where=self.lock.lock_file,
                hint="Try again later.",
            ) from error
        try:
            with translated(self.url):
                yield
        finally:
            self.lock.release()


def connect(workspace: Workspace) -> Connection:
    """A connection that has been tried.

    The address comes from BERDSEYE_LABEL_STUDIO_URL, else from the settings, else from the server that runs
    in the workspace. Raises `UnavailableError` when nothing answers there (yet), `BadInputError` for a wrong
    token or address.
    """
    folder = workspace.label_studio_folder
    url, token = _address_and_token(workspace, folder)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    auth = TokenAuth(url, token)
    client = _client(url, auth)
    with translated(url, folder):
        try:
            account = client.users.whoami(request_options={"timeout_in_seconds": _TRY_SECONDS})
        except (ValueError, TypeError) as error:  # JSON, but not what Label Studio says; the SDK checks nothing
            raise _another(url) from error
    if not isinstance(getattr(account, "id", None), int) or not isinstance(account.email, str):
        raise _another(url)
    lock = FileLock(folder / "exchange.lock")
    server = running(folder)
    own = server.credentials if server is not None and server.url == url else None
    return Connection(url, client, lock, account.active_organization, account.email, auth.personal, own)


@contextmanager
def translated(url: str, folder: Path | None = None) -> Iterator[None]:
    """Turn what the SDK raises into errors that a person can act on."""
    try:
        yield
    except ApiError as error:
        raise _refused(url, error) from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        # What is in between (a proxy, a sign-in page) answers with a page where the server would with JSON.
        raise _another(url) from error
    except AnswerTooLongError as error:
        raise UnavailableError(
            f"What answered is no Label Studio: {error}",
            where=url,
            hint="Check the address, and what stands in between.",
        ) from error
    except httpx.TimeoutException as error:
        raise UnavailableError(
            "Label Studio took too long to answer.", where=url, hint="Nothing is lost; try again."
        ) from error
    except httpx.TransportError as error:
        if folder is not None and running(folder) is not None:
            raise UnavailableError(
                "Label Studio is still starting.", where=url, hint="Try again in a minute."
            ) from error
        raise UnavailableError(
            "Label Studio does not answer; what was judged is safe here and can be sent later.",
            where=url,
            hint=_HOW_TO_START,
        ) from error
    except httpx.InvalidURL as error:
        raise BadInputError(f"The address of Label Studio cannot be used: {error}.", where=url) from error


def detail(error: ApiError) -> str:
    """What the server said, in one line, without headers and the token."""
    body = error.body
    if isinstance(body, dict):
        body = body.get("validation_errors") or body.get("detail") or body
    text = " ".join(str(body).split())
    token = os.environ.get("BERDSEYE_LABEL_STUDIO_TOKEN", "")
    return (text.replace(token, "…") if token else text)[:400]


def _another(url: str) -> BerdseyeError:
    return UnavailableError(
        "What answered is no Label Studio.", where=url, hint="Check the address, and what stands in between."
    )


def _refused(url: str, error: ApiError) -> BerdseyeError:
    status = error.status_code
    if status is not None and status < httpx.codes.MULTIPLE_CHOICES:  # the SDK could not read what was no refusal
        return _another(url)
    if status == httpx.codes.UNAUTHORIZED:
        return BadInputError("Label Studio refused the token.", where=url, hint=_HOW_TO_SIGN_IN)
    if status == httpx.codes.FORBIDDEN:
        return BadInputError(
            f"This account of Label Studio may not do that: {detail(error)}.", where=url, hint=_HOW_TO_SIGN_IN
        )
    if status in (httpx.codes.BAD_GATEWAY, httpx.codes.SERVICE_UNAVAILABLE, httpx.codes.GATEWAY_TIMEOUT):
        return UnavailableError(f"Label Studio is not up yet ({status}).", where=url, hint="Try again in a minute.")
    return BerdseyeError(
        f"Label Studio answered {status}: {detail(error)}", where=url, hint="Nothing is lost; try again."
    )


def server_url(workspace: Workspace) -> str:
    """Where Label Studio is, whether it answers or not; empty where none is named and none runs in the workspace."""
    server = running(workspace.label_studio_folder)
    return _shown(_named(workspace)).rstrip("/") or (server.url if server is not None else "")


def _named(workspace: Workspace) -> str:
    return os.environ.get("BERDSEYE_LABEL_STUDIO_URL") or str(workspace.settings["label_studio"]["url"])


def _shown(url: str) -> str:
    """An address as it may be shown: without a user and password, and without what stands behind the path."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{re.split('[?#]', rest)[0].rpartition('@')[2]}" if rest else url.rpartition("@")[2]


def _address_and_token(workspace: Workspace, folder: Path) -> tuple[str, str]:
    url = _named(workspace)
    if not url:
        server = running(folder)
        if server is None:
            raise UnavailableError(
                "Label Studio is not running; what was judged is safe here and can be sent later.",
                hint=_HOW_TO_START,
            )
        return server.url, server.token
    if not url.lower().startswith(("http://", "https://")):
        raise BadInputError("The address of Label Studio must begin with http:// or https://.", where=_shown(url))
    if _shown(url) != url:
        raise BadInputError(
            "The address of Label Studio holds more than a server and a path: a user, a password or a query.",
            where=_shown(url),
            hint="Leave that out; the token alone says who you are.",
        )
    token = os.environ.get("BERDSEYE_LABEL_STUDIO_TOKEN", "")
    if not token:
        raise BadInputError("There is no token for Label Studio.", where=url, hint=_HOW_TO_SIGN_IN)
    return url.rstrip("/"), token


def _client(url: str, auth: TokenAuth) -> Any:
    with needing("Talking to Label Studio"):
        from label_studio_sdk import LabelStudio  # takes a second: not before it is needed

    # Retries are ours, after a look-up: a repeated import makes its tasks twice. Keep-alive costs the
    # development server 40 ms a call. A proxy of the environment must not see what stays on this machine.
    local = (urlsplit(url).hostname or "") in ("127.0.0.1", "localhost", "::1")
    http = httpx.Client(
        timeout=httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS),
        headers={"Connection": "close", **UNPACKED},
        trust_env=not local,
        auth=auth,
        event_hooks={"response": [bounded(_LONGEST_ANSWER, _ANSWER_SECONDS)]},
    )
    # `auth` signs: the SDK's own refresh forgets the path of the address, and trusts the clock of this machine.
    return LabelStudio(base_url=url, api_key="signed-below", max_retries=0, httpx_client=http)
