"""What answers in Label Studio's place: pages, wrong types, endless, packed and redirecting answers, secrets sent back."""

import gzip
import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx
import pytest

import berdseye.annotation.label_studio.connection as connection
from berdseye.annotation.judgments.log import PairRecord
from berdseye.annotation.label_studio.connection import TokenAuth, connect
from berdseye.annotation.label_studio.form import pair_of, task_data
from berdseye.data.errors import BerdseyeError
from berdseye.data.workspace import Workspace

TOKEN = "the-token-of-the-test-91c4"
PERSONAL = "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjF9.x"


class Impostor(ThreadingHTTPServer):
    """Answers every request with what a test says; keeps the paths that were asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.body, self.headers, self.drip = 200, b"{}", dict[str, str](), 0.0
        self.asked: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Impostor

    def do_GET(self) -> None:
        said = self.server
        said.asked.append((self.path, self.headers.get("Authorization")))
        self.send_response(said.status)
        for name, value in {"Content-Type": "application/json", **said.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):
            for byte in [bytes([b]) for b in said.body] if said.drip else [said.body]:
                self.wfile.write(byte)
                time.sleep(said.drip)

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def impostor() -> Iterator[Impostor]:
    with Impostor() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def told(impostor: Impostor, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    monkeypatch.setenv("BERDSEYE_LABEL_STUDIO_URL", impostor.url)
    monkeypatch.setenv("BERDSEYE_LABEL_STUDIO_TOKEN", TOKEN)

    def error() -> str:
        with pytest.raises(BerdseyeError) as raised:
            connect(workspace)
        assert TOKEN not in str(raised.value)
        return str(raised.value)

    return error


@pytest.mark.parametrize(
    "body",
    [
        b"<html><script>alert(1)</script></html>", b"", b"\xff\xfe{", b"null", b"[]", b'"text"', b"7", b'{"id": "x"}',
        b"[" * 100_000, b'{"id": ' + b"1" * 5000 + b"}", b'{"email": {"a": 1}, "active_organization": []}',
    ],
)  # fmt: skip
def test_an_answer_of_a_wrong_form_is_reported(impostor: Impostor, told: Callable[[], str], body: bytes) -> None:
    impostor.body = body
    assert "not from Label Studio" in told()


def test_an_answer_without_end_is_cut(
    impostor: Impostor, told: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_LONGEST_ANSWER", 1000)
    impostor.body = b'"' + b"x" * 5000 + b'"'
    assert "larger than 1,000 bytes" in told()
    monkeypatch.setattr(connection, "_ANSWER_SECONDS", 0.2)
    impostor.body, impostor.drip = b"[" + b" " * 500, 0.02
    assert "too long to answer" in told()


def test_a_packed_answer_is_not_unpacked(impostor: Impostor, told: Callable[[], str]) -> None:
    impostor.headers, impostor.body = {"Content-Encoding": "gzip"}, gzip.compress(bytes(10_000_000))
    assert "compressed as gzip" in told()


def test_a_redirect_takes_the_token_nowhere(impostor: Impostor, told: Callable[[], str]) -> None:
    with Impostor() as other:
        Thread(target=other.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        impostor.status, impostor.headers = 302, {"Location": f"{other.url}/inside"}
        told()
        assert other.asked == []
        other.shutdown()


@pytest.mark.parametrize("status", [400, 401, 403, 500])
def test_a_token_that_is_sent_back_is_not_shown(impostor: Impostor, told: Callable[[], str], status: int) -> None:
    impostor.status = status
    impostor.body = json.dumps({"detail": f"wrong token {TOKEN}"}).encode()
    told()


@pytest.mark.parametrize("access", [7, None, "a\r\nX-Other: 1", "ä", "a.eyJleHAiOiJ4In0.b", "a.eyJleHAiOltdfQ.b"])
def test_a_wrong_access_token_is_reported(access: object) -> None:
    answer = httpx.MockTransport(lambda _: httpx.Response(200, json={"access": access}))
    auth = TokenAuth("http://ls", PERSONAL)
    with (
        httpx.Client(transport=answer, auth=auth) as client,
        pytest.raises(httpx.RemoteProtocolError, match="exchange of the token"),
    ):
        client.get("http://ls/api/version")


def test_half_a_character_in_a_task_makes_it_none_of_ours() -> None:
    data = task_data(PairRecord("made", "q", "Q?", "P.", None, "web", "", "Text."))
    assert pair_of(data) is not None
    assert pair_of({**data, "passage": "\ud800"}) is None
    changed = pair_of({**data, "title": "a\ud800\x1b"})
    assert changed is not None
    assert changed.title == "a?"
