"""The server's checks before any page runs: host names, the origin of the request, and in team mode the person; and the address
of the start page.

Pages check rights themselves. These checks cover what no page sees: WebSockets opened by other sites, files held for download,
uploads, and the other routes of Streamlit. `ROUTES` lists every one of these routes that is not public.
"""

import hashlib
import json
import threading
from collections import OrderedDict
from functools import lru_cache
from http.cookies import CookieError
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.runtime import Runtime
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from berdseye.app.access.oidc import identity
from berdseye.app.access.roles import Right, may
from berdseye.data.errors import BadInputError, BerdseyeError
from berdseye.data.people import PeopleSettings, folded_email
from berdseye.data.workspace import Workspace

START_PAGE = "home"
"""The page that the app opens on, by the name of its file in app/views. Streamlit serves it at the app's root address only."""
LOOPBACK = ("localhost", "127.0.0.1")
PUBLIC = ("_stcore/health", "_stcore/host-config", "_stcore/stream")
"""Routes below `_stcore` that the app answers to anyone in team mode, because the sign-in needs them. The stream runs pages, and
pages check the person."""
MEDIA = "media/"
ROUTES: dict[str, Right | None] = {
    "component/": "explore",
    "app/static/": "explore",
    "_stcore/bidi-components/": "explore",
    "_stcore/upload_file/": "train",
    "_stcore/metrics": "administer",
    "_stcore/": None,
}
"""The right that the other routes require in team mode, by prefix; the first match applies. None: nobody may use the route.
Only pages for researchers accept files (Data, Batches, Workspace, the detector lab), so uploads require a right of theirs. The
agent protocol is closed to everyone because it has no sign-in. A file below `MEDIA` is only for the person who requested it
(`Made`)."""
_UNSAFE = {
    "server.enableAgentApi": "the agent protocol has no sign-in",
    "server.trustedUserHeaders": "the app would trust such a header from anyone, without a sign-in",
}


def check_settings() -> None:
    """Raise `BadInputError` for a Streamlit setting that would let people bypass the sign-in of a team."""
    for name, reason in _UNSAFE.items():
        if st.get_option(name):
            raise BadInputError(
                f"Team mode does not start while Streamlit's setting {name} is on: {reason}.",
                hint="Remove it from Streamlit's config.toml and from the environment.",
            )


def middleware(workspace: Workspace) -> list[Middleware]:
    """Return the middleware for `st.App`: the checks of host and origin, and in team mode the check of the person."""
    people = workspace.people
    own = urlsplit(people.address).hostname
    checks = [
        Middleware(BrowserRules),
        Middleware(TrustedHostMiddleware, allowed_hosts=[*LOOPBACK, *((own,) if own else ())], www_redirect=False),
        Middleware(OwnOrigin, address=people.address),
        Middleware(StartPage),
    ]
    return [*checks, Middleware(Members, workspace=workspace)] if people.team else checks


class BrowserRules:
    """Restricts browsers to pictures, scripts and data from this server, and forbids other sites to embed the pages.

    Untrusted text on a page requests nothing from elsewhere anyway; these rules also hold if a bug, here or in Streamlit, would
    allow it.
    """

    POLICY = (
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; img-src 'self' data: blob:; media-src 'self' data: blob:; "
        "font-src 'self' data:; connect-src 'self' data: blob:; object-src 'none'; base-uri 'self'; frame-ancestors 'self'"
    )

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and add the rules to its response."""

        async def with_rules(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = self.POLICY
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "same-origin"
            await send(message)

        await self._app(scope, receive, with_rules)


class OwnOrigin:
    """Refuses requests and WebSockets that a web page of another origin starts.

    Streamlit itself accepts a WebSocket from any port of this machine, and asks another company's server for the machine's
    public address before it refuses one.
    """

    def __init__(self, app: ASGIApp, address: str) -> None:
        self._app, self._address = app, address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with status 403 or pass the request on."""
        if scope["type"] in ("http", "websocket"):
            headers = Headers(scope=scope)
            origin = headers.get("origin")
            if origin is not None and not self._is_own(origin, headers.get("host", "")):
                await PlainTextResponse("Only pages of this app may send requests here.", 403)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _is_own(self, origin: str, host: str) -> bool:
        return origin in (f"http://{host}", f"https://{host}") or bool(self._address and origin == self._address)


class StartPage:
    """Redirects the address with the start page's name (`/home`) to the root address, and keeps the query.

    Streamlit itself draws the start page there as well, but with the message "Page not found".
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a redirect or pass the request on."""
        if scope["type"] == "http" and scope["path"].rstrip("/") == f"{_base()}/{START_PAGE}":
            query = scope["query_string"].decode("latin-1")
            await RedirectResponse(f"{_base()}/{'?' if query else ''}{query}")(scope, receive, send)
            return
        await self._app(scope, receive, send)


class Members:
    """Checks the person and their right for everything that no page guards: `ROUTES`, and the files made for one person."""

    def __init__(self, app: ASGIApp, workspace: Workspace) -> None:
        self._app, self._workspace = app, workspace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with status 403 or pass the request on."""
        if scope["type"] in ("http", "websocket") and not self._may(HTTPConnection(scope), _inner(scope["path"])):
            await PlainTextResponse("Sign in as a person with access.", 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _may(self, request: HTTPConnection, path: str) -> bool:
        if path.startswith(MEDIA):
            return self._may_take(request, path.removeprefix(MEDIA))
        kind = next((start for start in ROUTES if path.startswith(start)), None)
        if kind is None or path in PUBLIC:
            return True
        right, people = ROUTES[kind], people_now(self._workspace)
        return right is not None and may(people.role_of(email_of_request(request, people)), right)

    def _may_take(self, request: HTTPConnection, file_id: str) -> bool:
        file = Runtime.instance().media_file_mgr.read_file(file_id)
        if file is None or file.kind == MediaFileKind.MEDIA:  # pages show only one such file, the app's icon
            return True
        people = people_now(self._workspace)
        email = email_of_request(request, people)
        return people.role_of(email) is not None and MADE.is_for(email, file.content)


class Made:
    """The people who requested each downloadable file, by the SHA-256 of its content. It keeps the latest 10,000
    files."""

    _MOST = 10_000

    def __init__(self) -> None:
        self._emails: OrderedDict[bytes, set[str]] = OrderedDict()
        self._lock = threading.Lock()  # pages are drawn and files are made in separate threads

    def note(self, email: str, content: bytes) -> None:
        """Record that this person requested the file."""
        key = hashlib.sha256(content).digest()
        with self._lock:
            self._emails.setdefault(key, set()).add(email)
            self._emails.move_to_end(key)
            while len(self._emails) > self._MOST:
                self._emails.popitem(last=False)

    def is_for(self, email: str, content: bytes) -> bool:
        """Whether this person requested the file."""
        with self._lock:
            return email in self._emails.get(hashlib.sha256(content).digest(), ())


MADE = Made()
"""The downloadable files that this process made."""


def email_of_request(request: HTTPConnection, people: PeopleSettings) -> str:
    """Return the e-mail address from the sign-in cookie of a request, or an empty text if it gives no access now."""
    secret = get_cookie_secret()

    def one(name: str) -> bytes | None:
        value = request.cookies.get(name)
        return None if value is None else decode_signed_value(secret, name, value)

    try:
        claims = json.loads(get_cookie_with_chunks(one, USER_COOKIE_NAME) or b"{}")
        return folded_email(identity(claims, people).email) if claims.get("is_logged_in") else ""
    except (BerdseyeError, CookieError, ValueError):
        return ""


def people_now(workspace: Workspace) -> PeopleSettings:
    """Return the access settings from the current settings file."""
    return _people(workspace.folder, (workspace.folder / "berdseye.toml").stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _people(folder: Path, written: int) -> PeopleSettings:
    del written  # part of the cache key: the time at which the settings file was written
    return Workspace.open(folder).people


def _inner(path: str) -> str:
    """Return a path without the app's base path and without the leading slash."""
    return path.removeprefix(_base()).lstrip("/")


def _base() -> str:
    """Return the app's base path with a leading slash, or an empty text if the app is at the root of its host."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}" if base else ""
