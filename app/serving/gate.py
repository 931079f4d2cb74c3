"""What the server checks before any page runs: its own host names, the origin of a web page, and in team mode the person.

Pages check rights themselves. The checks here are for what no page sees: WebSockets that another site opens, files that are
kept for download, uploads, and the other routes of Streamlit. `ROUTES` lists every one of them that is not public.
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
from starlette.responses import PlainTextResponse
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

LOOPBACK = ("localhost", "127.0.0.1")
PUBLIC = ("_stcore/health", "_stcore/host-config", "_stcore/stream")
"""Routes below `_stcore` that a team's app answers to anyone: without them nobody could reach the sign-in. The stream runs
pages, and these ask who is there."""
MEDIA = "media/"
ROUTES: dict[str, Right | None] = {
    "component/": "explore",
    "app/static/": "explore",
    "_stcore/bidi-components/": "explore",
    "_stcore/upload_file/": "train",
    "_stcore/metrics": "administer",
    "_stcore/": None,
}
"""What the other routes need in team mode, by how they begin, the first that fits; None: nobody may. Only the detector lab
takes files, so uploads need its right. The agent protocol is among those for nobody: it knows no sign-in. A file below
`MEDIA` is for whoever asked for it (`Made`)."""
_UNSAFE = {
    "server.enableAgentApi": "the agent protocol knows no sign-in",
    "server.trustedUserHeaders": "whoever sends such a header would be believed before the sign-in",
}


def check_settings() -> None:
    """Raise `BadInputError` for a setting of Streamlit that would let people past the sign-in of a team."""
    for name, reason in _UNSAFE.items():
        if st.get_option(name):
            raise BadInputError(
                f"Streamlit's setting {name} is on, and team mode does not start with it: {reason}.",
                hint="Remove it from Streamlit's config.toml and from the environment.",
            )


def middleware(workspace: Workspace) -> list[Middleware]:
    """What `st.App` puts before the app: for everyone the check of host and origin, for a team also that of the person."""
    people = workspace.people
    own = urlsplit(people.address).hostname
    checks = [
        Middleware(BrowserRules),
        Middleware(TrustedHostMiddleware, allowed_hosts=[*LOOPBACK, *((own,) if own else ())], www_redirect=False),
        Middleware(OwnOrigin, address=people.address),
    ]
    return [*checks, Middleware(Members, workspace=workspace)] if people.team else checks


class BrowserRules:
    """Lets browsers fetch pictures, scripts and data for the pages from this server alone, and show them in no other site.

    What a page draws of untrusted text asks for nothing elsewhere; this holds where a fault, here or in Streamlit, would.
    """

    POLICY = (
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; img-src 'self' data: blob:; media-src 'self' data: blob:; "
        "font-src 'self' data:; connect-src 'self' data: blob:; object-src 'none'; base-uri 'self'; frame-ancestors 'self'"
    )

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add the rules to its answer."""

        async def with_rules(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = self.POLICY
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "same-origin"
            await send(message)

        await self._app(scope, receive, with_rules)


class OwnOrigin:
    """Refuses requests and WebSockets that a web page of another origin begins.

    Streamlit itself takes a WebSocket from any port of this machine, and looks up the machine's public address at another
    company's server before it refuses one.
    """

    def __init__(self, app: ASGIApp, address: str) -> None:
        self._app, self._address = app, address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403, or pass the request on."""
        if scope["type"] in ("http", "websocket"):
            headers = Headers(scope=scope)
            origin = headers.get("origin")
            if origin is not None and not self._ours(origin, headers.get("host", "")):
                await PlainTextResponse("Only pages of this app may ask here.", 403)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _ours(self, origin: str, host: str) -> bool:
        return origin in (f"http://{host}", f"https://{host}") or bool(self._address and origin == self._address)


class Members:
    """Asks who is there, and whether they may, for what no page guards: `ROUTES`, and the files that were made for someone."""

    def __init__(self, app: ASGIApp, workspace: Workspace) -> None:
        self._app, self._workspace = app, workspace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403, or pass the request on."""
        if scope["type"] in ("http", "websocket") and not self._may(HTTPConnection(scope), _inner(scope["path"])):
            await PlainTextResponse("Sign in as somebody who may.", 403)(scope, receive, send)
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
        if file is None or file.kind == MediaFileKind.MEDIA:  # the icon of the app is the only one that pages show
            return True
        people = people_now(self._workspace)
        email = email_of_request(request, people)
        return people.role_of(email) is not None and MADE.is_for(email, file.content)


class Made:
    """Whom each file that can be downloaded was made for: by the SHA-256 of its content, the latest 10,000 of them."""

    _MOST = 10_000

    def __init__(self) -> None:
        self._emails: OrderedDict[bytes, set[str]] = OrderedDict()
        self._lock = threading.Lock()  # pages are drawn and files are made in threads of their own

    def note(self, email: str, content: bytes) -> None:
        """Remember that this person asked for it."""
        key = hashlib.sha256(content).digest()
        with self._lock:
            self._emails.setdefault(key, set()).add(email)
            self._emails.move_to_end(key)
            while len(self._emails) > self._MOST:
                self._emails.popitem(last=False)

    def is_for(self, email: str, content: bytes) -> bool:
        """Whether this person asked for it."""
        with self._lock:
            return email in self._emails.get(hashlib.sha256(content).digest(), ())


MADE = Made()
"""What this process made."""


def email_of_request(request: HTTPConnection, people: PeopleSettings) -> str:
    """The address of the person whose sign-in the request's cookie holds; empty for nobody who may come in now."""
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
    """The people settings as they are written now."""
    return _people(workspace.folder, (workspace.folder / "berdseye.toml").stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _people(folder: Path, written: int) -> PeopleSettings:
    del written  # what is kept is for the settings as they were written then
    return Workspace.open(folder).people


def _inner(path: str) -> str:
    """A path without the folder that the whole app is served under, and without the slash before it."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return path.removeprefix(f"/{base}" if base else "").lstrip("/")
