"""Web servers on loopback that behave as told, and settings that do not wait."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from berdseye.data.web.settings import WebSettings

ARTICLE = "The council voted on Tuesday to close the inner streets to cars from the spring, after a long debate. " * 4
Reply = Callable[[BaseHTTPRequestHandler], None]


class Site:
    """A server whose replies are set by path; `requests` holds what was asked, `sent` counts bytes of endless bodies."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self.replies: dict[str, Reply] = {}
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.sent = 0
        self.at_once = self.most_at_once = 0
        self._count = threading.Lock()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                with site._count:
                    site.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                    site.at_once += 1
                    site.most_at_once = max(site.most_at_once, site.at_once)
                reply = site.replies.get(self.path) or site.replies.get(self.path.partition("?")[0]) or status(404)
                try:
                    reply(self)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True
                finally:
                    with site._count:
                        site.at_once -= 1

            do_POST = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer((host, port), Handler)
        self.server.daemon_threads = True
        self.host, self.port = host, self.server.server_address[1]

    def url(self, path: str = "/", host: str | None = None) -> str:
        return f"http://{host or self.host}:{self.port}{path}"

    def asked(self, path: str) -> int:
        return sum(found == path for found, _, _ in self.requests)

    def endless(self, piece: bytes, *, length: int | None = None, pause: float = 0.0) -> Reply:
        """An HTML page of `length` bytes, or one that never ends, sent piece by piece."""
        stop = self.stop = threading.Event()

        def reply(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("Content-Type", "text/html")
            if length is not None:
                handler.send_header("Content-Length", str(length))
            handler.end_headers()
            while not stop.wait(pause) and (length is None or self.sent < length):
                handler.wfile.write(piece)
                self.sent += len(piece)

        return reply


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    thread = threading.Thread(target=site.server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        if hasattr(site, "stop"):
            site.stop.set()
        site.server.shutdown()
        site.server.server_close()
        thread.join()


def status(code: int, body: bytes = b"", **headers: str) -> Reply:
    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return reply


def html(text: str, **headers: str) -> Reply:
    return status(200, page(text).encode(), Content_Type="text/html; charset=utf-8", **headers)


def plain(text: str) -> Reply:
    return status(200, text.encode(), Content_Type="text/plain; charset=utf-8")


def page(text: str, title: str = "Streets") -> str:
    return (
        f"<!doctype html><html><head><title>{title}</title></head><body><article><p>{text}</p></article></body></html>"
    )


def redirect(to: str, code: int = 302) -> Reply:
    return status(code, Location=to)


def search_results(urls: list[str], **more: Any) -> Reply:
    """A SearXNG answer: these addresses on the first page, none on the next."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        first = "pageno=1" in handler.path
        rows = [{"url": url, "title": f"Title of {url}", "content": "A snippet"} for url in urls] if first else []
        status(200, json.dumps({"results": rows, **more}).encode(), Content_Type="application/json")(handler)

    return reply


def quick(**changes: Any) -> WebSettings:
    """Settings for servers on loopback, without pauses."""
    values: dict[str, Any] = {
        "address": "http://127.0.0.1:1",
        "allow_private": True,
        "seconds_between": 0.0,
        "seconds_a_page": 5.0,
        "seconds_a_question": 20.0,
        "seconds_a_search": 5.0,
    }
    return WebSettings(**{**values, **changes})
