"""Takes a picture of every page on the demo, in two sizes and both themes, and writes the page that shows them.

`make screenshots` runs it; each page of the table of pages is taken, with the first line of its file beneath.
"""

import ast
import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize

from berdseye.app.demo import build_demo
from berdseye.data.files.atomic import write_bytes
from tests.browser.every_page import queries, show
from tests.browser.served import ROOT, chromium, new_context, served

FOLDER = ROOT / "docs" / "screenshots"
SIZES: tuple[ViewportSize, ...] = ({"width": 1440, "height": 900}, {"width": 1024, "height": 768})
THEMES = ("light", "dark")
_QUALITY = 78


def take(page: Page, name: str) -> None:
    """All pictures of the page that is open."""
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        for size in SIZES:
            page.set_viewport_size(size)
            page.wait_for_timeout(600)  # charts are drawn anew in another width and colour
            picture = io.BytesIO()
            Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(picture, "WEBP", quality=_QUALITY, method=6)
            write_bytes(FOLDER / file_name(name, theme, size), picture.getvalue())


def file_name(name: str, theme: str, size: ViewportSize) -> str:
    """The file of a picture: page, theme and width."""
    return f"{name}-{theme}-{size['width']}.webp"


def told(name: str) -> tuple[str, str]:
    """A page's title and what it is for, from the first line of its file."""
    first = (
        ast.get_docstring(ast.parse((ROOT / "app" / "views" / f"{name}.py").read_text("utf-8"))) or ""
    ).splitlines()[0]
    title, _, about = first.partition(": ")
    return title, about[:1].upper() + about[1:]


def gallery(names: list[str]) -> str:
    """The page that shows the pictures, as Markdown."""
    lines = [
        "# Every page",
        "",
        "On the demo, as `make screenshots` takes them. More in [python.md](python.md): Berdseye without a browser.",
    ]
    wide, narrow = SIZES
    for name in names:
        title, about = told(name)
        light, *others = [(t, s) for s in (wide, narrow) for t in THEMES]
        links = ", ".join(
            f"[{theme}, {size['width']} wide](screenshots/{file_name(name, theme, size)})" for theme, size in others
        )
        lines += [
            "",
            f"## {title}",
            "",
            about,
            "",
            f"![{title}](screenshots/{file_name(name, *light)})",
            "",
            f"Also {links}.",
        ]
    return "\n".join(lines) + "\n"


def main(chosen: list[str]) -> None:
    """Take the pages named, else all of them."""
    with tempfile.TemporaryDirectory() as scratch:
        workspace = build_demo(Path(scratch) / "workspace", lambda *_: None)
        pages = queries(workspace)
        with served(workspace.folder, Path(scratch) / "log") as app, chromium() as browser:
            page = new_context(browser).new_page()
            for name in chosen or list(pages):
                page.set_viewport_size(SIZES[0])
                page.emulate_media(color_scheme=THEMES[0])  # type: ignore[arg-type]
                show(page, app.url, name, pages[name])
                take(page, name)
                print(name)
    write_bytes(ROOT / "docs" / "README.md", gallery(list(pages)).encode())


if __name__ == "__main__":
    main(sys.argv[1:])
