"""The web as a corpus: asked once, repeated for ever."""

from collections.abc import Callable
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import pytest
from web_processes import ask
from web_servers import ARTICLE, Site, html, plain, quick, redirect, search_results, status

from berdseye.data.corpora import cut_page
from berdseye.data.errors import BadInputError, BerdseyeError, StaleError, UnavailableError
from berdseye.data.web.pages import WebPages
from berdseye.data.web.settings import WebSettings

QUESTION = "Should cities ban cars?"


@pytest.fixture
def search(start: Callable[..., Site]) -> Site:
    return start()


def settings(search: Site, **changes: Any) -> WebSettings:
    return quick(address=search.url(), **changes)


def three_pages(site: Site, search: Site) -> list[str]:
    site.replies |= {f"/{n}": plain(f"Page {n}. {ARTICLE}") for n in range(3)}
    urls = [site.url(f"/{n}") for n in range(3)]
    search.replies["/search"] = search_results(urls)
    return urls


def test_pages_come_in_the_order_of_the_search_and_can_be_cut(site: Site, search: Site, tmp_path: Path) -> None:
    urls = three_pages(site, search)
    site.replies |= {f"/{n}": html(f"Page {n}. {ARTICLE}") for n in range(3)}
    told: list[tuple[int, str, int | None]] = []

    def progress(done: int, what: str, total: int | None = None, /) -> None:
        told.append((done, what, total))

    web = WebPages(tmp_path, settings(search))
    pages = web.pages_for(QUESTION, progress=progress)
    assert [(p.id, p.source_id, p.url, p.title) for p in pages] == [(n, u, u, "Streets") for n, u in enumerate(urls)]
    assert all(p.text.startswith(f"Page {p.id}. The council voted") for p in pages)
    assert [c.id for p in pages for c in cut_page(p)] == [0, 10_000, 20_000]
    assert told == [(n, "web pages", 3) for n in range(4)]
    assert web.pages([2, 0]) == [pages[2], pages[0]]


def test_an_answer_is_repeated_without_a_network(site: Site, search: Site, tmp_path: Path, today: str) -> None:
    three_pages(site, search)
    used = settings(search)
    first = WebPages(tmp_path, used).pages_for(QUESTION)
    asked = len(search.requests)
    site.server.server_close()
    search.replies.clear()
    assert WebPages(tmp_path, used).pages_for(f"  {QUESTION.replace(' ', '   ')} ") == first
    assert WebPages(tmp_path, used).pages_for(QUESTION, day=today) == first
    assert len(search.requests) == asked
    for other in (settings(search, count=99), settings(search, trusted=("gov",)), settings(search, language="de")):
        with pytest.raises(BerdseyeError, match="searxng"):
            WebPages(tmp_path, other).pages_for(QUESTION)


def test_another_day_is_answered_only_if_it_was_asked_then(
    site: Site, search: Site, tmp_path: Path, today: str
) -> None:
    three_pages(site, search)
    web = WebPages(tmp_path, settings(search))
    with pytest.raises(BadInputError, match=r"not searched on 2024-05-01.*No day"):
        web.pages_for(QUESTION, day="2024-05-01")
    first = web.pages_for(QUESTION)
    (tmp_path / "answers" / today).rename(tmp_path / "answers" / "2024-05-01")
    assert web.pages_for(QUESTION, day="2024-05-01") == first
    with pytest.raises(BadInputError, match="Stored days are 2024-05-01"):
        web.pages_for(QUESTION, day="2024-05-02")
    site.replies["/1"] = plain(f"Page 1 has changed. {ARTICLE}")
    site.replies["/2"] = plain(f"Page 2. {ARTICLE}")
    second = web.pages_for(QUESTION)
    assert [p.id for p in second] == [0, 3, 2]
    assert web.days(QUESTION) == ["2024-05-01", today]
    assert web.pages_for(QUESTION, day="2024-05-01") == first
    for nonsense in ("yesterday", "", "2024-13-01"):
        with pytest.raises(BadInputError, match="not a valid date"):
            web.pages_for(QUESTION, day=nonsense)


def test_the_same_page_found_by_another_question_keeps_its_id(site: Site, search: Site, tmp_path: Path) -> None:
    urls = three_pages(site, search)
    web = WebPages(tmp_path, settings(search))
    web.pages_for(QUESTION)
    site.replies["/new"] = plain(f"A new page. {ARTICLE}")
    site.replies["/to-0"] = redirect("/0")
    search.replies["/search"] = search_results([site.url("/new"), urls[2], site.url("/to-0"), urls[0]])
    assert [p.id for p in web.pages_for("Another question")] == [3, 2, 0]


def test_what_became_of_every_page_is_kept(
    site: Site, public: Site, search: Site, start: Callable[..., Site], tmp_path: Path
) -> None:
    guarded = start("127.0.0.2")
    guarded.replies["/robots.txt"] = status(200, b"User-agent: *\nDisallow: /")
    public.replies |= {
        "/good": html(ARTICLE),
        "/plain": plain(ARTICLE),
        "/big": public.endless(b"<p>word</p>" * 1000),
        "/empty": html(""),
        "/pdf": status(200, b"%PDF", Content_Type="application/pdf"),
        "/inside": redirect(site.url("/secret")),
    }
    found = [public.url(path) for path in ("/good", "/plain", "/big", "/empty", "/pdf", "/inside", "/missing")]
    found += [guarded.url("/page"), site.url("/secret"), "mailto:someone@example.com"]
    search.replies["/search"] = search_results(found)
    web = WebPages(tmp_path, settings(search, allow_private=False, bytes_a_page=1_000_000))
    assert [p.url for p in web.pages_for(QUESTION)] == found[:2]
    report = web.report(QUESTION)
    assert report is not None
    assert [outcome.reason for outcome in report.outcomes] == [
        *("read", "read", "too large", "no text", "not HTML", "private address", "failed", "robots.txt"),
        "private address",
    ]
    assert report.counts["private address"] == 2
    assert report.unusable == 1
    assert str(report).startswith("2 read, 2 private address, ")
    assert str(report).endswith("1 without an address")
    assert report.outcomes[6].detail == "the server returns status 404"
    assert site.requests == []
    assert web.report("another question") is None
    assert web.report(QUESTION, "2020-01-01") is None


def test_only_trusted_sites_are_fetched(
    public: Site, search: Site, names: dict[str, list[list[str]]], tmp_path: Path
) -> None:
    hosts = ["www.city.gov", "blog.example.com", "gov.evil.com", "www.college.edu"]
    names |= {host: [[public.host]] for host in hosts}
    public.replies |= {"/": plain(ARTICLE), "/away": redirect(public.url("/", "blog.example.com"))}
    urls = [public.url("/", host) for host in hosts] + [public.url("/away", "www.city.gov")]
    search.replies["/search"] = search_results(urls)
    web = WebPages(tmp_path, settings(search, allow_private=False, trusted=("gov", "edu")))
    assert [p.url for p in web.pages_for(QUESTION)] == [urls[0], urls[3]]
    report = web.report(QUESTION)
    assert report is not None
    assert report.counts == {"untrusted": 3, "read": 2}
    assert "redirects to" in report.outcomes[4].detail


def test_an_answer_without_a_usable_page_is_an_error_and_not_kept(site: Site, search: Site, tmp_path: Path) -> None:
    web = WebPages(tmp_path, settings(search))
    search.replies["/search"] = search_results([site.url("/a"), site.url("/b"), "http://127.0.0.1:9/c"])
    with pytest.raises(UnavailableError, match=r"None of the 3 web pages.*3 failed.*the server returns status 404"):
        web.pages_for(QUESTION)
    search.replies["/search"] = search_results([])
    with pytest.raises(UnavailableError, match="found no page"):
        web.pages_for(QUESTION)
    assert web.days(QUESTION) == []
    three_pages(site, search)
    assert len(web.pages_for(QUESTION)) == 3


def test_no_network(tmp_path: Path) -> None:
    web = WebPages(tmp_path, quick(address="http://127.0.0.1:9"))
    with pytest.raises(UnavailableError, match="searxng cannot be reached"):
        web.pages_for(QUESTION)


def test_an_empty_question_is_refused(tmp_path: Path) -> None:
    for empty in ("", "  \n", "\0"):
        with pytest.raises(BadInputError, match="empty"):
            WebPages(tmp_path, quick()).pages_for(empty)


def test_an_answer_that_is_damaged_is_reported(site: Site, search: Site, tmp_path: Path) -> None:
    three_pages(site, search)
    web = WebPages(tmp_path, settings(search))
    web.pages_for(QUESTION)
    (file,) = tmp_path.glob("answers/*/*.json")
    for damage in ("", "{}", "[]", '{"query": 1, "outcomes": [{}]}'):
        file.write_text(damage)
        with pytest.raises(StaleError, match="Delete the file"):
            web.pages_for(QUESTION)


def test_processes_that_ask_at_once_ask_once(
    site: Site, search: Site, tmp_path: Path, processes: ForkServerContext
) -> None:
    three_pages(site, search)
    with processes.Pool(3) as pool:
        answers = pool.map(ask, [(tmp_path, settings(search), QUESTION)] * 3, chunksize=1)
    assert [p.id for p in answers[0]] == [0, 1, 2]
    assert answers[1:] == answers[:1] * 2
    assert len(search.requests) == 2  # one search of two pages
    assert [site.asked(f"/{n}") for n in range(3)] == [1, 1, 1]


def test_a_page_with_more_text_than_its_passages_have_ids_for(site: Site, search: Site, tmp_path: Path) -> None:
    site.replies |= {"/long": status(200, b"a " * 600_000, Content_Type="text/plain"), "/0": plain(ARTICLE)}
    search.replies["/search"] = search_results([site.url("/long"), site.url("/0")])
    web = WebPages(tmp_path, settings(search))
    assert [p.url for p in web.pages_for(QUESTION)] == [site.url("/0")]
    report = web.report(QUESTION)
    assert report is not None
    assert report.counts == {"too large": 1, "read": 1}
