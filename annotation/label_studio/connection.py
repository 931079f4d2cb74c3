"""The connection to a Label Studio server: its address, its lock, and its errors as errors of Berdseye.

Requests are signed with a legacy token, or with the access token that a personal access token is exchanged for.
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
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
from filelock import FileLock, Timeout

from berdseye.annotation.label_studio.server import Credentials, running
from berdseye.data.errors import BadInputError, BerdseyeError, UnavailableError
from berdseye.data.extras import needing
from berdseye.data.language_models.server import UNPACKED, AnswerTooLongError, bounded
from berdseye.data.workspace import Workspace

if TYPE_CHECKING:
    from label_studio_sdk.core.api_error import ApiError as ApiError
else:
    try:
        from label_studio_sdk.core.api_error import ApiError
    except ModuleNotFoundError as error:
        if error.name != "label_studio_sdk":
            raise

        class ApiError(Exception):
            """Never raised."""


_MARGIN_SECONDS = 30.0
_ANSWER_SECONDS = 600.0
_LONGEST_ANSWER = 2 << 30  # a project of 100,000 long tasks takes a tenth
_CONNECT_SECONDS = 10.0
_TRY_SECONDS = 20
_LOCK_SECONDS = 900.0
_HOW_TO_START = "Start it with `berdseye label-studio`, or set BERDSEYE_LABEL_STUDIO_URL to a running server."
_HOW_TO_SIGN_IN = (
    "Set BERDSEYE_LABEL_STUDIO_TOKEN to a personal access token, or to the legacy token if the server allows it: both are "
    "on your account page in Label Studio. To use the server of this workspace, unset BERDSEYE_LABEL_STUDIO_URL and "
    "BERDSEYE_LABEL_STUDIO_TOKEN."
)


class TokenAuth(httpx.Auth):
    """Signs every request of its client.

    A personal access token (a JWT, Label Studio's default since 1.20) is exchanged for access tokens that last five minutes.
    A new one is fetched before the old one expires, and also when the server refuses one early, since its clock may differ
    from this machine's. A refused request has no effect, so it is safe to repeat. `clock` returns the time in seconds.
    """

    requires_response_body = True

    def __init__(self, url: str, token: str, clock: Callable[[], float] = time.time) -> None:
        self._url, self._token, self._clock = url, token, clock
        self.personal = _claims(token) is not None
        self._access, self._until = "", 0.0

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Sign a request; raises `BadInputError` if the server refuses the personal access token itself."""
        if not self.personal:
            request.headers["Authorization"] = f"Token {self._token}"
            yield request
            return
        is_new = False
        if self._clock() > self._until - _MARGIN_SECONDS:
            yield from self._exchange()
            is_new = True
        request.headers["Authorization"] = f"Bearer {self._access}"
        answer = yield request
        if answer.status_code == httpx.codes.UNAUTHORIZED and not is_new:
            yield from self._exchange()
            request.headers["Authorization"] = f"Bearer {self._access}"
            yield request

    def _exchange(self) -> Generator[httpx.Request, httpx.Response, None]:
        answer = yield httpx.Request("POST", f"{self._url}/api/token/refresh/", json={"refresh": self._token})
        if answer.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN, httpx.codes.BAD_REQUEST):
            raise BadInputError(
                "Label Studio refused the personal access token: it was revoked, has expired, or is for another server.",
                where=self._url,
                hint="Create a new one on your account page there, and set BERDSEYE_LABEL_STUDIO_TOKEN to it.",
            )
        try:
            access = answer.raise_for_status().json()["access"]
            if not isinstance(access, str) or not access.isascii() or not access.isprintable():
                raise TypeError("a token is a string of ASCII characters")
            claims = _claims(access) or {}
            # Both times are the server's: its clock may differ from this machine's.
            seconds = float(claims.get("exp", 0)) - float(claims.get("iat", 0))
        except (httpx.HTTPStatusError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise httpx.RemoteProtocolError(
                f"Label Studio answered the exchange of the token with status {answer.status_code}.",
                request=answer.request,
            ) from error
        self._access, self._until = access, self._clock() + max(0.0, seconds)


def _claims(token: str) -> dict[str, Any] | None:
    """Return the claims of a JWT, unverified; None for a token of another kind."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, RecursionError):
        return None
    return claims if isinstance(claims, dict) else None


@dataclass(frozen=True)
class Connection:
    """A connection to one server: the SDK's `client`, and the `organization` and e-mail address (`account`) of its token.

    `own` contains the admin's credentials if Berdseye started the server in this workspace; otherwise it is None.
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
        """The folder where this workspace keeps the files of its Label Studio server."""
        return Path(self.lock.lock_file).parent

    def version(self) -> str:
        """Return the server's version."""
        with translated(self.url):
            return str(self.client.versions.get().release or "unknown")

    def time(self) -> datetime:
        """Return the time by the server's clock, to the second; it dates the changes there."""
        answer = self.client.users.with_raw_response.whoami()
        try:
            return parsedate_to_datetime(answer.headers["date"]).astimezone(UTC)
        except (KeyError, ValueError) as error:
            raise BerdseyeError(
                "The response of Label Studio has no valid Date header.",
                where=self.url,
                hint="Check whether a proxy in between removes the header.",
            ) from error

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Hold the lock of the exchange, and translate the server's errors.

        Two exchanges at once would each act on a state that the other is changing, and concurrent imports lose annotations.
        Raises `UnavailableError` if another exchange holds the lock for 15 minutes.
        """
        try:
            self.lock.acquire(timeout=_LOCK_SECONDS)
        except Timeout as error:
            raise UnavailableError(
                "Another exchange with Label Studio is still running.",
                where=self.lock.lock_file,
                hint="Try again later.",
            ) from error
        try:
            with translated(self.url):
                yield
        finally:
            self.lock.release()


def connect(workspace: Workspace) -> Connection:
    """Connect to Label Studio, and check the connection with one request.

    The address comes from BERDSEYE_LABEL_STUDIO_URL, otherwise from the settings, otherwise from the server that runs in the
    workspace. Raises `UnavailableError` if the server does not answer (yet), `BadInputError` for a wrong token or address.
    """
    folder = workspace.label_studio_folder
    url, token = _address_and_token(workspace, folder)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    auth = TokenAuth(url, token)
    client = _client(url, auth)
    with translated(url, folder):
        try:
            account = client.users.whoami(request_options={"timeout_in_seconds": _TRY_SECONDS})
        except (ValueError, TypeError) as error:  # JSON, but not that of Label Studio; the SDK checks nothing
            raise _not_label_studio(url) from error
    if not isinstance(getattr(account, "id", None), int) or not isinstance(account.email, str):
        raise _not_label_studio(url)
    lock = FileLock(folder / "exchange.lock")
    server = running(folder)
    own = server.credentials if server is not None and server.url == url else None
    return Connection(url, client, lock, account.active_organization, account.email, auth.personal, own)


@contextmanager
def translated(url: str, folder: Path | None = None) -> Iterator[None]:
    """Turn the SDK's exceptions into errors that a person can act on."""
    try:
        yield
    except ApiError as error:
        raise _refused(url, error) from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        # Something in between (a proxy, a sign-in page) answers with a page instead of JSON.
        raise _not_label_studio(url) from error
    except AnswerTooLongError as error:
        raise UnavailableError(
            f"The response is not from Label Studio: {error}",
            where=url,
            hint="Check the address, and any proxy or sign-in page in between.",
        ) from error
    except httpx.TimeoutException as error:
        raise UnavailableError(
            "Label Studio took too long to answer.", where=url, hint="No judgment is lost; try again."
        ) from error
    except httpx.TransportError as error:
        if folder is not None and running(folder) is not None:
            raise UnavailableError(
                "Label Studio is still starting.", where=url, hint="Try again in a minute."
            ) from error
        raise UnavailableError(
            "Label Studio does not answer. All judgments are safe in the workspace and can be pushed later.",
            where=url,
            hint=_HOW_TO_START,
        ) from error
    except httpx.InvalidURL as error:
        raise BadInputError(f"The address of Label Studio cannot be used: {error}.", where=url) from error


def detail(error: ApiError) -> str:
    """Return the server's message in one line, without headers and the token."""
    body = error.body
    if isinstance(body, dict):
        body = body.get("validation_errors") or body.get("detail") or body
    text = " ".join(str(body).split())
    token = os.environ.get("BERDSEYE_LABEL_STUDIO_TOKEN", "")
    return (text.replace(token, "…") if token else text)[:400]


def _not_label_studio(url: str) -> BerdseyeError:
    return UnavailableError(
        "The response is not from Label Studio.",
        where=url,
        hint="Check the address, and any proxy or sign-in page in between.",
    )


def _refused(url: str, error: ApiError) -> BerdseyeError:
    status = error.status_code
    if status is not None and status < httpx.codes.MULTIPLE_CHOICES:  # a success that the SDK could not read
        return _not_label_studio(url)
    if status == httpx.codes.UNAUTHORIZED:
        return BadInputError("Label Studio refused the token.", where=url, hint=_HOW_TO_SIGN_IN)
    if status == httpx.codes.FORBIDDEN:
        return BadInputError(
            f"This account of Label Studio lacks the permission: {detail(error)}.", where=url, hint=_HOW_TO_SIGN_IN
        )
    if status in (httpx.codes.BAD_GATEWAY, httpx.codes.SERVICE_UNAVAILABLE, httpx.codes.GATEWAY_TIMEOUT):
        return UnavailableError(
            f"Label Studio is not ready yet (status {status}).", where=url, hint="Try again in a minute."
        )
    return BerdseyeError(
        f"Label Studio answered with status {status}: {detail(error)}",
        where=url,
        hint="No judgment is lost; try again.",
    )


def server_url(workspace: Workspace) -> str:
    """Return the address of Label Studio, whether it answers or not; empty if none is set and none runs in the workspace."""
    server = running(workspace.label_studio_folder)
    return _shown(_named(workspace)).rstrip("/") or (server.url if server is not None else "")


def _named(workspace: Workspace) -> str:
    return os.environ.get("BERDSEYE_LABEL_STUDIO_URL") or str(workspace.settings["label_studio"]["url"])


def _shown(url: str) -> str:
    """Return an address that is safe to show: without user, password, query and fragment."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{re.split('[?#]', rest)[0].rpartition('@')[2]}" if rest else url.rpartition("@")[2]


def _address_and_token(workspace: Workspace, folder: Path) -> tuple[str, str]:
    url = _named(workspace)
    if not url:
        server = running(folder)
        if server is None:
            raise UnavailableError(
                "Label Studio is not running. All judgments are safe in the workspace and can be pushed later.",
                hint=_HOW_TO_START,
            )
        return server.url, server.token
    if not url.lower().startswith(("http://", "https://")):
        raise BadInputError("The address of Label Studio must begin with http:// or https://.", where=_shown(url))
    if _shown(url) != url:
        raise BadInputError(
            "The address of Label Studio contains a user, a password or a query; it may have a server and a path only.",
            where=_shown(url),
            hint="Remove them; the token alone identifies you.",
        )
    token = os.environ.get("BERDSEYE_LABEL_STUDIO_TOKEN", "")
    if not token:
        raise BadInputError("No token for Label Studio is set.", where=url, hint=_HOW_TO_SIGN_IN)
    return url.rstrip("/"), token


def _client(url: str, auth: TokenAuth) -> Any:
    with needing("Talking to Label Studio"):
        from label_studio_sdk import LabelStudio  # takes a second: not before it is needed

    # Berdseye retries by itself, after a look-up: a repeated import creates its tasks twice. Keep-alive costs the
    # development server 40 ms per call. A proxy named in the environment must not see local requests.
    local = (urlsplit(url).hostname or "") in ("127.0.0.1", "localhost", "::1")
    http = httpx.Client(
        timeout=httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS),
        headers={"Connection": "close", **UNPACKED},
        trust_env=not local,
        auth=auth,
        event_hooks={"response": [bounded(_LONGEST_ANSWER, _ANSWER_SECONDS)]},
    )
    # `auth` signs the requests: the SDK's own refresh drops the path of the address, and trusts this machine's clock.
    return LabelStudio(base_url=url, api_key="signed-below", max_retries=0, httpx_client=http)
