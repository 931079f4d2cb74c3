"""Pages as they come: good ones, endless ones, hostile ones."""

import gzip
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import pytest
from web_servers import ARTICLE, Site, html, page, quick, redirect, status

from berdseye.data.web.fetch import Fetched, fetch_pages
from berdseye.data.web.settings import WebSettings

MEGABYTE = 1_000_000


def one(url: str, settings: WebSettings) -> Fetched:
    (found,) = fetch_pages([url], settings)
    return found


def why(url: str, settings: WebSettings) -> str:
    found = one(url, settings)
    assert found.html is None
    return found.reason


def test_a_page_arrives_with_where_it_was_found(site: Site) -> None:
    site.replies |= {"/a": redirect("/b?x=1", 301), "/b?x=1": html(ARTICLE)}
    found = one(site.url("/a"), quick())
    assert found == Fetched(site.url("/a"), site.url("/b?x=1"), 200, page(ARTICLE), "read")
    agent = site.requests[-1][1]["user-agent"]
    assert agent.startswith("Berdseye/")
    assert agent.endswith(" (+research)")


def test_loopback_needs_an_explicit_setting(site: Site) -> None:
    site.replies["/"] = html(ARTICLE)
    names = (
        "127.0.0.1",
        "127.1",
        "localhost",
        "0.0.0.0",
        "0",
        "2130706433",
        "017700000001",
        "0x7f.1",
        "0x7f000001",
    )
    for host in (*names, "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"):
        found = one(site.url("/", host), quick(allow_private=False))
        assert (found.html, found.reason) == (None, "private address"), host
    assert site.requests == []


@pytest.mark.parametrize(
    ("to", "reason"),
    [
        ("http://127.0.0.1:{port}/secret", "private address"),
        ("http://localhost:{port}/secret", "private address"),
        ("http://[::1]:{port}/secret", "private address"),
        ("http://10.0.0.1/", "private address"),
        ("http://169.254.169.254/latest/meta-data/", "private address"),
        ("http://rebound.example:{port}/secret", "private address"),
        ("file:///etc/passwd", "failed"),
        ("ftp://127.0.0.1/", "failed"),
        ("http://user:pw@example.com/", "failed"),
        ("http://[", "failed"),
        ("/around", "failed"),
    ],
)
def test_redirects_are_checked(
    site: Site, public: Site, names: dict[str, list[list[str]]], to: str, reason: str
) -> None:
    names["rebound.example"] = [["127.0.0.1"]]
    site.replies["/secret"] = html("The secret")
    public.replies |= {"/": redirect(to.format(port=site.port)), "/around": redirect("/around")}
    assert why(public.url(), quick(allow_private=False)) == reason
    assert site.requests == []
    assert public.asked("/around") <= 6


def test_a_name_is_refused_if_any_of_its_addresses_is_private(public: Site, names: dict[str, list[list[str]]]) -> None:
    public.replies["/"] = html(ARTICLE)
    names["mixed.example"] = [[public.host, "10.0.0.1"]]
    assert why(public.url("/", "mixed.example"), quick(allow_private=False)) == "private address"
    assert public.requests == []


def test_the_address_checked_is_the_address_connected_to(
    public: Site, start: Callable[..., Site], names: dict[str, list[list[str]]]
) -> None:
    """A name that is public for the two connections made, and loopback whenever it is asked once more, where something
    secret listens at the same port."""
    secret = start("127.0.0.1", public.port)
    public.replies["/"] = html(ARTICLE)
    secret.replies["/"] = html("The secret")
    names["changing.example"] = [[public.host], [public.host], ["127.0.0.1"]]
    url = public.url("/", "changing.example")
    assert one(url, quick(allow_private=False)).html == page(ARTICLE)
    assert {headers["host"] for _, headers, _ in public.requests} == {f"changing.example:{public.port}"}
    assert why(url, quick(allow_private=False)) == "private address"
    assert secret.requests == []


def test_a_page_of_200_megabytes_is_left_after_the_limit(site: Site) -> None:
    site.replies["/"] = site.endless(b"<p>word</p>" * 10_000, length=200 * MEGABYTE)
    assert why(site.url(), quick(bytes_a_page=MEGABYTE)) == "too large"
    time.sleep(0.2)
    assert site.sent < 20 * MEGABYTE  # the limit, and what the system's buffers hold


def test_a_page_that_never_ends_is_left(site: Site) -> None:
    site.replies["/"] = site.endless(b"<p>word</p>" * 1000)
    assert why(site.url(), quick(bytes_a_page=MEGABYTE)) == "too large"


def test_a_page_that_drips_is_left_in_time(site: Site) -> None:
    site.replies["/"] = site.endless(b"<p>", pause=0.05)
    start = time.monotonic()
    assert why(site.url(), quick(seconds_a_page=0.5)) == "timed out"
    assert time.monotonic() - start < 20


def test_a_server_that_says_nothing_is_left_in_time(site: Site) -> None:
    ended = threading.Event()
    site.replies["/"] = lambda _: ended.wait(10) and None
    try:
        assert why(site.url(), quick(seconds_a_page=0.3)) == "timed out"
    finally:
        ended.set()


def test_a_small_answer_that_unpacks_to_gigabytes_is_left(site: Site) -> None:
    bomb = gzip.compress(bytes(100 * MEGABYTE))
    assert len(bomb) < MEGABYTE
    site.replies["/"] = status(200, bomb, Content_Type="text/html", Content_Encoding="gzip")
    assert why(site.url(), quick(bytes_a_page=MEGABYTE)) == "too large"


def test_packed_pages_are_unpacked(site: Site) -> None:
    packed = gzip.compress(page(ARTICLE).encode())
    site.replies |= {
        "/whole": status(200, packed, Content_Type="text/html", Content_Encoding="gzip"),
        "/broken": status(200, packed[:-20], Content_Type="text/html", Content_Encoding="gzip"),
        "/garbage": status(200, b"not packed", Content_Type="text/html", Content_Encoding="gzip"),
        "/unasked": status(200, packed, Content_Type="text/html", Content_Encoding="br"),
    }
    assert one(site.url("/whole"), quick()).html == page(ARTICLE)
    assert {why(site.url(path), quick()) for path in ("/broken", "/garbage", "/unasked")} == {"failed"}


@pytest.mark.parametrize(
    ("content_type", "body", "reason"),
    [
        ("application/pdf", b"%PDF-1.7", "not HTML"),
        ("text/html", b"%PDF-1.7 told as HTML", "not HTML"),
        ("image/png", b"\x89PNG", "not HTML"),
        ("application/octet-stream", b"", "not HTML"),
        ("text/plain; charset=utf-8", b"Words", "read"),
        ("application/xhtml+xml", b"<html/>", "read"),
        ("TEXT/HTML", b"<html/>", "read"),
    ],
)
def test_only_text_is_read(site: Site, content_type: str, body: bytes, reason: str) -> None:
    site.replies["/"] = status(200, body, Content_Type=content_type)
    assert one(site.url(), quick()).reason == reason


def test_a_wrongly_declared_encoding_is_found(site: Site) -> None:
    site.replies["/"] = status(200, page("Über Köln – “gut”").encode("cp1252"), Content_Type="text/html; charset=utf-8")
    assert "Über Köln – “gut”" in str(one(site.url(), quick()).html)


def test_what_servers_do_wrong_is_reported(site: Site) -> None:
    def garbage(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"\x00\x01 this is not HTTP\r\n\r\n")
        handler.close_connection = True

    def endless_headers(handler: BaseHTTPRequestHandler) -> None:
        for _ in range(10_000):
            handler.wfile.write(b"X-More: " + b"x" * 1000 + b"\r\n")

    site.replies |= {"/garbage": garbage, "/headers": endless_headers, "/gone": status(410), "/loop": redirect("")}
    found = {url.rpartition("/")[2]: (reason, code) for url, _, code, _, reason, *_ in fetch_pages(
        [site.url(path) for path in ("/garbage", "/headers", "/gone", "/loop")]
        + ["http://nowhere.invalid/dns", "http://127.0.0.1:9/refused", "nonsense", "http://[/bad"],
        quick(),
    )}  # fmt: skip
    assert found.pop("gone") == ("failed", 410)
    assert set(found.values()) == {("failed", 0)}
    assert len(found) == 7


def test_the_question_ends_in_time_and_reports_what_is_missing(site: Site) -> None:
    site.replies |= {"/": html(ARTICLE), "/slow": site.endless(b"<p>", pause=0.05)}
    start = time.monotonic()
    found = {
        page.url: page.reason for page in fetch_pages([site.url(), site.url("/slow")], quick(seconds_a_question=1.5))
    }
    assert found == {site.url(): "read", site.url("/slow"): "out of time"}
    assert time.monotonic() - start < 20


def test_leaving_early_ends_the_connections(site: Site) -> None:
    site.replies |= {"/": html(ARTICLE), "/slow": site.endless(b"<p>", pause=0.01)}
    start = time.monotonic()
    for found in fetch_pages([site.url(), site.url("/slow")], quick()):
        assert found.reason == "read"
        break
    assert time.monotonic() - start < 20


def test_few_at_once_and_fewer_to_one_host(start: Callable[..., Site]) -> None:
    def slowly(handler: BaseHTTPRequestHandler) -> None:
        time.sleep(0.05)
        html(ARTICLE)(handler)

    sites = [start(f"127.0.0.{n}") for n in range(1, 6)]
    for site in sites:
        site.replies |= {f"/{n}": slowly for n in range(6)}
    urls = [site.url(f"/{n}") for n in range(6) for site in sites]
    assert {page.reason for page in fetch_pages(urls, quick())} == {"read"}
    assert {site.most_at_once for site in sites} == {2}
    one_site = sites[0]
    one_site.most_at_once = 0
    assert {page.reason for page in fetch_pages(urls[:5], quick(concurrency=1))} == {"read"}


def test_requests_to_one_host_are_spaced(site: Site) -> None:
    times: list[float] = []

    def noted(handler: BaseHTTPRequestHandler) -> None:
        times.append(time.monotonic())
        html(ARTICLE)(handler)

    site.replies |= {f"/{n}": noted for n in range(4)}
    assert len(list(fetch_pages([site.url(f"/{n}") for n in range(4)], quick(seconds_between=0.2)))) == 4
    assert times[-1] - times[0] > 0.4  # three pauses, less what a busy machine adds to the first


def test_every_address_is_fetched_once(site: Site) -> None:
    site.replies["/"] = html(ARTICLE)
    assert len(list(fetch_pages([site.url(), site.url()], quick()))) == 1
    assert site.asked("/") == 1


def test_proxies_of_the_environment_are_not_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    site.replies["/"] = html(ARTICLE)
    assert one(site.url(), quick()).reason == "read"


def test_a_cookie_of_one_answer_is_sent_with_no_other_request(site: Site) -> None:
    site.replies |= {
        "/": status(302, b"", Location="/next", Set_Cookie="session=secret; Path=/"),
        "/next": html(ARTICLE),
    }
    assert one(site.url("/"), quick()).reason == "read"
    assert len(site.requests) >= 2
    assert not [asked for asked in site.requests if {"cookie", "authorization"} & set(asked[1])]
