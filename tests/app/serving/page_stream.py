"""A person at the server without a browser: the cookies, and the WebSocket on which pages are drawn."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

WITHIN = 60.0


class Visitor:
    """Someone at `url` (`http://localhost:PORT`), as a browser would be: a cookie jar and what it sends."""

    def __init__(self, url: str) -> None:
        self.url, self.http = url, httpx.Client(base_url=url, follow_redirects=True, timeout=WITHIN)
        self.headers: dict[str, str] = {}
        self.http.get("/_stcore/health").raise_for_status()  # sets the cookie that guards against other sites

    @property
    def xsrf(self) -> str:
        return self.http.cookies.get("_streamlit_xsrf", "")

    @contextmanager
    def stream(self, *, origin: str | None = None, host: str | None = None) -> Iterator["Stream"]:
        """The WebSocket, opened by a page of `origin` (its own)."""
        cookies = "; ".join(f"{c.name}={c.value}" for c in self.http.cookies.jar if c.value)
        headers = {"Cookie": cookies, **self.headers} | ({"Host": host} if host else {})
        with connect(
            f"{self.url.replace('http', 'ws', 1)}/_stcore/stream",
            origin=origin or self.url,  # type: ignore[arg-type]
            subprotocols=[Subprotocol("streamlit"), Subprotocol(self.xsrf or "none")],
            additional_headers=headers,
            max_size=None,
            open_timeout=WITHIN,
        ) as socket:
            yield Stream(socket)

    def sign_in(self, sub: str) -> "Visitor":
        """Press "Sign in", and say at the provider who one is."""
        with self.stream() as stream:
            stream.run()
            (button,) = [d for d in stream.elements("button") if d.label == "Sign in"]
            stream.run(press=button.id)
        form = self.http.get(f"{self.url}{urlsplit(stream.redirect).path}?{urlsplit(stream.redirect).query}")
        self.http.post(str(form.url), data={"sub": sub}).raise_for_status()
        return self


class Stream:
    """What the server draws on an open WebSocket."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.session_id, self.redirect = "", ""
        self.drawn: list[ForwardMsg] = []

    def run(self, page: str = "", *, press: str = "", query: str = "") -> list[ForwardMsg]:
        """Run a page, with a button pressed, until it is drawn; raises `TimeoutError`."""
        message = BackMsg()
        message.rerun_script.page_name = page
        message.rerun_script.query_string = query
        if press:
            state = message.rerun_script.widget_states.widgets.add()
            state.id, state.trigger_value = press, True
        self._socket.send(message.SerializeToString())
        self.drawn = []
        while (kind := self._heard().WhichOneof("type")) != "script_finished":
            if kind == "new_session":
                self.session_id = self.drawn[-1].new_session.initialize.session_id
            if kind == "auth_redirect":
                self.redirect = self.drawn[-1].auth_redirect.url
                break
        return self.drawn

    def take(self, label: str, *, works: bool = True) -> str:
        """Press a button for a file; returns the address of the file, or else why there is none."""
        (button,) = [d for d in self.elements("download_button") if d.label == label]
        message = BackMsg()
        message.backend_operation_request.request_id = label
        message.backend_operation_request.session_id = self.session_id
        message.backend_operation_request.deferred_file.file_id = button.deferred_file_id
        self._socket.send(message.SerializeToString())
        while self._heard().WhichOneof("type") != "backend_operation_response":
            pass
        answer = self.drawn[-1].backend_operation_response
        assert bool(answer.deferred_file.url) == works, answer
        return str(answer.deferred_file.url or answer.error_msg)

    def _heard(self) -> ForwardMsg:
        told = ForwardMsg()
        told.ParseFromString(self._socket.recv(timeout=WITHIN, decode=False))
        self.drawn.append(told)
        return told

    def elements(self, kind: str) -> list[Any]:
        """The elements of a kind that were drawn."""
        found = [m.delta.new_element for m in self.drawn if m.WhichOneof("type") == "delta"]
        return [getattr(element, kind) for element in found if element.WhichOneof("type") == kind]

    def sidebar(self) -> str:
        """What was drawn in the sidebar."""
        return "\n".join(str(m.delta) for m in self.drawn if list(m.metadata.delta_path[:1]) == [1])

    def text(self) -> str:
        """All that was drawn, as one text."""
        return "\n".join(str(message) for message in self.drawn)
