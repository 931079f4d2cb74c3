"""A home of files on this machine, which can fail as real ones do."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Home:
    """`files` by their paths; the first `failures` requests are answered with 503, the first `cut` are broken off half-way."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.failures = self.cut = 0
        self.asked: list[str] = []
        self.address = ""


@contextmanager
def home() -> Iterator[Home]:
    """A server for as long as the block runs."""
    held = Home()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            held.asked.append(self.path)
            if held.failures:
                held.failures -= 1
                self.send_error(503)
                return
            if self.path not in held.files:
                self.send_error(404)
                return
            content = held.files[self.path]
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if held.cut:
                held.cut -= 1
                content = content[: len(content) // 2]
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    held.address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield held
    finally:
        server.shutdown()
        server.server_close()
