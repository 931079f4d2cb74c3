"""What sites ask of robots."""

import time
from collections.abc import Callable

import pytest
from web_servers import ARTICLE, Site, html, quick, redirect, status

from berdseye.data.web.fetch import Fetched, fetch_pages

RULES = (
    b"User-agent: *\nDisallow: /private\n\nUser-agent: berdseye\nDisallow: /not-for-us\nAllow: /not-for-us/but-this\n"
)


def reasons(site: Site, *paths: str) -> dict[str, str]:
    return {
        page.url.removeprefix(site.url("")): page.reason for page in fetch_pages([site.url(p) for p in paths], quick())
    }


def test_rules_are_kept_and_asked_for_once(site: Site) -> None:
    site.replies |= {
        "/robots.txt": status(200, RULES, Content_Type="text/plain"),
        **dict.fromkeys(["/private", "/not-for-us/a", "/not-for-us/but-this"], html(ARTICLE)),
    }
    assert reasons(site, "/private", "/not-for-us/a", "/not-for-us/but-this") == {
        "/private": "read",  # the group that names us is the one that counts
        "/not-for-us/a": "robots.txt",
        "/not-for-us/but-this": "read",
    }
    assert site.asked("/robots.txt") == 1
    assert site.asked("/not-for-us/a") == 0


def test_a_page_behind_a_redirect_has_rules_too(site: Site, start: Callable[..., Site]) -> None:
    other = start("127.0.0.2")
    other.replies |= {"/robots.txt": status(200, b"User-agent: *\nDisallow: /"), "/": html(ARTICLE)}
    site.replies["/"] = redirect(other.url())
    assert reasons(site, "/") == {"/": "robots.txt"}
    assert other.asked("/") == 0


@pytest.mark.parametrize(
    ("code", "reason"),
    [(404, "read"), (401, "read"), (403, "read"), (410, "read"), (429, "robots.txt"), (500, "robots.txt"), (503, "robots.txt")],
)  # fmt: skip
def test_a_site_without_rules_allows_all_one_in_trouble_nothing(site: Site, code: int, reason: str) -> None:
    site.replies |= {"/robots.txt": status(code, b"User-agent: *\nDisallow: /"), "/": html(ARTICLE)}
    assert reasons(site, "/") == {"/": reason}


def test_rules_may_be_elsewhere_but_not_for_ever(site: Site) -> None:
    site.replies |= {"/robots.txt": redirect("/rules"), "/rules": status(200, b"User-agent: *\nDisallow: /")}
    site.replies["/"] = html(ARTICLE)
    assert reasons(site, "/") == {"/": "robots.txt"}
    site.replies["/robots.txt"] = redirect("/robots.txt")
    assert reasons(site, "/") == {"/": "read"}


def test_rules_that_do_not_come_forbid(site: Site) -> None:
    site.replies |= {"/robots.txt": site.endless(b"#", pause=0.05), "/": html(ARTICLE)}
    found: list[Fetched] = list(fetch_pages([site.url()], quick(seconds_a_page=0.4)))
    assert [(page.reason, page.detail.startswith("robots.txt:")) for page in found] == [("timed out", True)]
    assert site.asked("/") == 0


def test_of_endless_rules_the_first_count(site: Site) -> None:
    site.replies |= {"/robots.txt": site.endless(b"User-agent: *\nDisallow: /no\n" * 100)}
    site.replies |= dict.fromkeys(["/no", "/yes"], html(ARTICLE))
    assert reasons(site, "/no", "/yes") == {"/no": "robots.txt", "/yes": "read"}


def test_a_pause_that_a_site_asks_for_is_kept(site: Site) -> None:
    site.replies |= {"/robots.txt": status(200, b"User-agent: *\nCrawl-delay: 0.3"), "/warm": html(ARTICLE)}
    site.replies |= dict.fromkeys(["/1", "/2", "/3"], html(ARTICLE))
    start = time.monotonic()
    assert set(reasons(site, "/1", "/2", "/3").values()) == {"read"}
    assert time.monotonic() - start > 0.55


@pytest.mark.parametrize(
    "rules",
    [
        b"\x00\xff\xfe" * 1000,
        b"<html>no rules</html>",
        b"User-agent: *\nDisallow: /" + b"a*" * 30 + b"b\n" + b"Disallow: /*" + b"*a" * 200 + b"*b$\n",
        b"User-agent: *\n" + b"Disallow: /*a*b*c*d$\n" * 20_000,
    ],
)
def test_rules_made_to_be_slow_are_not(site: Site, rules: bytes) -> None:
    path = "/" + "a" * 1000
    site.replies |= {"/robots.txt": status(200, rules), path: html(ARTICLE)}
    start = time.monotonic()
    assert reasons(site, path) == {path: "read"}
    assert time.monotonic() - start < 20
