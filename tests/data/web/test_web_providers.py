"""Search providers that work, that are busy, and that answer with garbage."""

import json
import logging
import re
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from web_servers import Reply, Site, quick, redirect, search_results, status

from berdseye.data.errors import BadInputError, BerdseyeError, UnavailableError
from berdseye.data.web.providers import KEY, Hit, Hits, open_provider
from berdseye.data.web.settings import WebSettings

SECRET = "not-a-real-key-0123"


def searxng(site: Site, **changes: Any) -> WebSettings:
    return quick(provider="searxng", address=site.url(), **changes)


@pytest.fixture
def serper(site: Site, monkeypatch: pytest.MonkeyPatch) -> WebSettings:
    monkeypatch.setenv(KEY, SECRET)
    return quick(provider="serper", address=site.url(), seconds_a_search=2.0)


def as_json(value: Any) -> Reply:
    return status(200, json.dumps(value).encode(), Content_Type="application/json")


def test_searxng_is_asked_page_after_page_until_there_are_enough(site: Site) -> None:
    def page(handler: BaseHTTPRequestHandler) -> None:
        number = int(handler.path.partition("pageno=")[2].partition("&")[0])
        rows = [{"url": f"https://a.example/{number}-{n}#part", "title": f"{n}", "content": "c"} for n in range(4)]
        as_json({"results": [*rows, rows[0]]})(handler)

    site.replies["/search"] = page
    found = open_provider(searxng(site, language="de")).search("Soll man Autos verbieten? & mehr", 10)
    assert [hit.url for hit in found.hits] == [f"https://a.example/{p}-{n}" for p in (1, 2, 3) for n in range(4)][:10]
    assert found.hits[0] == Hit("https://a.example/1-0", "0", "c")
    assert len(site.requests) == 3
    assert "language=de" in site.requests[0][0]
    assert "%26" in site.requests[0][0]


def test_searching_ends_where_a_page_brings_nothing_new(site: Site) -> None:
    site.replies["/search"] = as_json({"results": [{"url": "https://a.example/"}]})
    assert open_provider(searxng(site)).search("q", 100) == Hits([Hit("https://a.example/", "", "")], 0)
    assert len(site.requests) == 2
    site.replies["/search"] = search_results([])
    assert open_provider(searxng(site)).search("q", 100) == Hits([], 0)


def test_serper_gets_the_key_in_a_header_alone(
    site: Site, serper: WebSettings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    site.replies["/search"] = as_json({"organic": [{"link": "https://a.example/", "title": "A", "snippet": "s"}]})
    provider = open_provider(serper)
    assert provider.search("a question", 50) == Hits([Hit("https://a.example/", "A", "s")], 0)
    path, headers, body = site.requests[0]
    assert headers["x-api-key"] == SECRET
    assert json.loads(body) == {"q": "a question", "num": 50, "page": 1}
    site.replies["/search"] = status(403)
    with pytest.raises(UnavailableError, match=KEY) as told:
        provider.search("a question", 50)
    assert SECRET not in f"{path}{provider!r}{serper!r}{serper.write()}{caplog.text}{told.value!r}"


def test_serper_without_a_key_names_the_variable_to_set(serper: WebSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    for bad in ("", "  ", "kéy", "a\nb"):
        monkeypatch.setenv(KEY, bad)
        with pytest.raises(BadInputError, match=KEY):
            open_provider(serper)


@pytest.mark.parametrize("busy", [429, 500, 503])
@pytest.mark.parametrize("form", ["seconds", "date", "none", "nonsense"])
def test_a_busy_provider_is_asked_again(site: Site, busy: int, form: str) -> None:
    headers = {
        "seconds": {"Retry_After": "1"},
        "date": {"Retry_After": format_datetime(datetime.now(UTC) + timedelta(seconds=1), usegmt=True)},
        "none": {},
        "nonsense": {"Retry_After": "soon"},
    }[form]

    def first_busy(handler: BaseHTTPRequestHandler) -> None:
        reply = status(busy, **headers) if len(site.requests) == 1 else search_results(["https://a.example/"])
        reply(handler)

    site.replies["/search"] = first_busy
    start = time.monotonic()
    assert [hit.url for hit in open_provider(searxng(site)).search("q", 1).hits] == ["https://a.example/"]
    assert time.monotonic() - start >= (0.9 if form == "seconds" else 0.0)
    assert len(site.requests) == 2


@pytest.mark.parametrize(("headers", "told"), [({}, "429"), ({"Retry_After": "3600"}, "wait 3600 seconds")])
def test_a_provider_that_stays_busy_is_given_up_in_time(site: Site, headers: dict[str, str], told: str) -> None:
    site.replies["/search"] = status(429, **headers)
    start = time.monotonic()
    with pytest.raises(UnavailableError, match=f"searxng.*{told}"):
        open_provider(searxng(site, seconds_a_search=1.2)).search("q", 10)
    assert time.monotonic() - start < 20
    assert len(site.requests) <= (1 if headers else 2)


NO_OBJECT, NO_LIST, ADDRESS = "not a JSON object.*address", "no list of results.*address", ".*Check its address"
GARBAGE: dict[str, tuple[Reply, str]] = {
    "HTML": (status(200, b"<html>Welcome</html>", Content_Type="text/html"), NO_OBJECT),
    "nothing": (status(200), NO_OBJECT),
    "binary": (status(200, bytes(range(256))), NO_OBJECT),
    "a list": (as_json([]), NO_OBJECT),
    "a number": (as_json(7), NO_OBJECT),
    "null": (as_json(None), NO_OBJECT),
    "no results": (as_json({"answers": []}), NO_LIST),
    "results of another type": (as_json({"results": {"a": 1}, "organic": "none"}), NO_LIST),
    "results without addresses": (
        as_json({"results": [{}, 7, None, {"url": 1}], "organic": [{"link": "x"}, []]}),
        r"none of the \d results.*address",
    ),
    "deep": (status(200, b"[" * 200_000), NO_OBJECT),
    "not packed": (status(200, b"{}", Content_Encoding="gzip"), "cannot be reached.*network and the address"),
    "a redirect": (redirect("http://127.0.0.1:9/"), rf"status 30\d{ADDRESS}"),
    "not found": (status(404), f"status 404{ADDRESS}"),
    "a teapot": (status(418, b'{"results": []}'), f"status 418{ADDRESS}"),
}
"""What a server may send that is no answer of a search provider, and what the error says of it and what to check."""


@pytest.mark.parametrize("what", GARBAGE)
@pytest.mark.parametrize("provider", ["searxng", "serper"])
def test_an_answer_that_cannot_be_read_names_the_provider_the_fault_and_what_to_check(
    site: Site, serper: WebSettings, provider: str, what: str
) -> None:
    site.replies["/search"], fault = GARBAGE[what]
    settings = serper if provider == "serper" else searxng(site)
    with pytest.raises(BerdseyeError) as raised:
        open_provider(settings).search("q", 10)
    assert provider in str(raised.value)
    assert re.search(fault, str(raised.value), re.IGNORECASE), raised.value
    assert "\n" not in str(raised.value)


def test_answers_that_never_end_are_left(site: Site) -> None:
    site.replies["/search"] = site.endless(b'{"results": [' * 10_000)
    with pytest.raises(BerdseyeError, match="searxng is larger than"):
        open_provider(searxng(site)).search("q", 10)
    site.replies["/search"] = site.endless(b" ", pause=0.02)
    with pytest.raises(UnavailableError, match="searxng did not respond in time"):
        open_provider(searxng(site, seconds_a_search=0.4)).search("q", 10)


def test_all_pages_of_a_search_share_its_seconds(site: Site) -> None:
    def slowly(handler: BaseHTTPRequestHandler) -> None:
        time.sleep(0.2)
        as_json({"results": [{"url": f"https://a.example/{len(site.requests)}"}]})(handler)

    site.replies["/search"] = slowly
    start = time.monotonic()
    with pytest.raises(UnavailableError, match=r"not respond in time.*fewer"):
        open_provider(searxng(site, seconds_a_search=0.7)).search("q", 100)
    assert time.monotonic() - start < 10


def test_unusable_hits_are_counted(site: Site) -> None:
    rows = [
        {"url": "file:///etc/passwd"},
        {"url": "http://u:p@a.example/"},
        {"url": "https://a.example/", "title": None},
        3,
    ]
    site.replies["/search"] = as_json({"results": rows})
    found = open_provider(searxng(site)).search("q", 1)
    assert found == Hits([Hit("https://a.example/", "", "")], 3)


def test_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnavailableError, match=r"searxng cannot be reached.*Check the network"):
        open_provider(quick(address="http://127.0.0.1:9")).search("q", 10)
    monkeypatch.setenv(KEY, SECRET)
    with pytest.raises(UnavailableError, match="serper cannot be reached"):
        open_provider(quick(provider="serper", address="http://127.0.0.1:9")).search("q", 10)
