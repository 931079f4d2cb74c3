"""The readable part of saved pages."""

from pathlib import Path

import pytest

from berdseye.data.web.html import read_page

PAGES = Path(__file__).parents[3] / "data" / "demo" / "pages"
ARTICLE = "The council voted on Tuesday to close the inner streets to cars from the spring, after a long debate. " * 6
POSTS = [f"Post {n}: I have driven there each day for years, and here is what I think of the matter." for n in range(9)]


def page(main: str) -> bytes:
    return f"""<!doctype html><html><head><title>Streets &amp; cars</title>
    <meta property="og:url" content="https://paper.example/streets"></head><body>
    <nav><ul><li><a href="/">Home</a></li><li><a href="/sport">Sport pages</a></li></ul></nav>
    <div class="cookie-banner">We use cookies to improve your experience. <button>Accept all</button></div>
    {main}<footer>All rights reserved by the paper.</footer></body></html>""".encode()


def test_navigation_and_notices_are_gone() -> None:
    read = read_page(page(f"<article><h1>Streets &amp; cars</h1><p>{ARTICLE}</p><p>{ARTICLE.upper()}</p></article>"))
    assert (read.title, read.url) == ("Streets & cars", "https://paper.example/streets")
    assert ARTICLE.strip() in read.text
    for unwanted in ("cookies", "Accept all", "Sport pages", "All rights reserved"):
        assert unwanted not in read.text


def test_a_thread_keeps_all_its_posts() -> None:
    posts = "".join(f'<div class="post"><b>user{n}</b><p>{post}</p></div>' for n, post in enumerate(POSTS))
    text = read_page(page(f'<div class="thread">{posts}</div>')).text
    assert [post for post in POSTS if post not in text] == []


@pytest.mark.parametrize("html", [b"", b"\0\x01", b"<html></html>", b"\xff\xfe<\0p\0", b"<p>" * 5000])
def test_what_holds_no_text_is_empty(html: bytes) -> None:
    assert read_page(html).text == ""


def test_two_posts_are_both_kept() -> None:
    posts = [f"{name} thinks: {ARTICLE}" for name in ("One reader", "Another")]
    read = read_page(page("".join(f"<article><header>{p[:3]} wrote</header><div>{p}</div></article>" for p in posts)))
    assert [post for post in posts if post.strip() not in read.text] == []


def test_a_piece_of_html_is_read() -> None:
    assert read_page(f"<p>{ARTICLE}</p>").text == read_page(f"<html><p>{ARTICLE}</p></html>").text == ARTICLE.strip()


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1252", "utf-16"])
def test_saved_pages_are_read_in_their_encoding(encoding: str) -> None:
    html = f'<html><head><meta charset="{encoding}"><title>Köln</title></head><p>Ärger über „Maß“. {ARTICLE}</p></html>'
    read = read_page(html.encode(encoding))
    assert read.title == "Köln"
    assert read.text.startswith("Ärger über „Maß“. The council")


def test_scripts_are_no_text() -> None:
    read = read_page(page(f"<article><p>{ARTICLE}</p><script>alert('now')</script><p>{ARTICLE}</p></article>"))
    assert "alert" not in read.text


def test_the_demo_pages_lose_their_menus() -> None:
    texts = [read_page(path.read_bytes()).text.lower() for path in sorted(PAGES.glob("*.html"))]
    assert len(texts) >= 40
    assert min(len(text.split()) for text in texts) > 150
    for unwanted in ("accept all", "all rights reserved", "sign in"):
        assert [text for text in texts if unwanted in text] == []
