"""A proxy in front of Label Studio that does to requests what networks and servers do, drawn by a seed."""

import http.client
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from urllib.parse import urlsplit

FAULTS = (
    "500",
    "502 after the work",
    "slow",
    "too slow",
    "cut before",
    "cut after the work",
    "cut halfway",
    "short import",
)
"""short import: what Label Studio itself does on SQLite when an import races another write: 201, and only the tasks kept."""
_SLOW_SECONDS = 0.3
_SERVER_SECONDS = 300


class FaultyProxy(ThreadingHTTPServer):
    """Listens on a free loopback port; `share` of the requests meet one of `faults`, `done` counts them."""

    daemon_threads = True

    def __init__(self, target: str, faults: Sequence[str], seed: int, *, share: float, too_slow: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target, self.faults, self.share, self.too_slow = urlsplit(target), tuple(faults), share, too_slow
        self.done: Counter[str] = Counter()
        self._random, self._lock = Random(seed), threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def fault(self, method: str, path: str) -> str:
        """What happens to this request; nothing: ''."""
        with self._lock:
            drawn, chosen = self._random.random(), self._random.choice(self.faults)
            if drawn >= self.share:
                return ""
            if chosen == "short import" and not (method == "POST" and path.partition("?")[0].endswith("/import")):
                return ""
            self.done[chosen] += 1
            return chosen


class _Handler(BaseHTTPRequestHandler):
    server: FaultyProxy

    def _handle(self) -> None:
        self.close_connection = True
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.server.fault(self.command, self.path)
        if fault == "cut before":
            return self._cut()
        if fault == "500":
            return self._answer(500, {}, b'{"detail": "made to fail"}')
        if fault == "short import":
            body = json.dumps([{"data": task["data"]} for task in json.loads(body)]).encode()
        status, headers, answer = self._forward(body)
        if fault == "cut after the work":
            return self._cut()
        if fault == "502 after the work":
            return self._answer(502, {}, b"<html>Bad gateway</html>")
        if fault in ("slow", "too slow"):
            time.sleep(_SLOW_SECONDS if fault == "slow" else self.server.too_slow)
        return self._answer(status, headers, answer, halfway=fault == "cut halfway")

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _handle  # noqa: N815

    def _forward(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        target = self.server.target
        connection = http.client.HTTPConnection(str(target.hostname), target.port, timeout=_SERVER_SECONDS)
        try:
            headers = {name: value for name, value in self.headers.items() if name.lower() != "content-length"}
            connection.request(self.command, self.path, body or None, headers | {"Host": target.netloc})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        except OSError:
            return 502, {}, b""
        finally:
            connection.close()

    def _answer(self, status: int, headers: dict[str, str], body: bytes, *, halfway: bool = False) -> None:
        try:
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if halfway else body)
        except OSError:
            return  # the client has given up
        if halfway:
            self._cut()

    def _cut(self) -> None:
        with_reset = b"\x01\x00\x00\x00\x00\x00\x00\x00"
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, with_reset)
        self.connection.close()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def proxy(
    target: str, faults: Sequence[str], seed: int, *, share: float = 0.3, too_slow: float = 2.0
) -> Iterator[FaultyProxy]:
    """A proxy for a while; afterwards nothing listens there, and everything that was under way has ended."""
    server = FaultyProxy(target, faults, seed, share=share, too_slow=too_slow)
    server.daemon_threads = False  # so that closing waits for them
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    serving.start()
    try:
        yield server
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
