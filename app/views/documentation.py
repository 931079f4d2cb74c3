"""The Documentation page: the documents of the package with their pictures, a list of them at the side, and working links."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import streamlit as st

from berdseye.app.access.session import errors_in_place
from berdseye.app.documentation import (
    CONTENTS,
    DOCUMENTS,
    FIRST,
    Part,
    documentation_address,
    headings_of,
    parts_of,
    size_of,
)
from berdseye.data.errors import UnknownNameError

_HERE = files("berdseye.app.components")
_MOUNT = st.components.v2.component(
    "berdseye_document",
    css=(_HERE / "document.css").read_text(encoding="utf-8"),
    js=(_HERE / "document.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)
TEXT = "documentation-text"
"""The key of the container of the document."""


def draw_contents(shown: str) -> None:
    """Draw the list of all documents, with the headings of the one that is shown."""
    for group, documents in CONTENTS.items():
        lines = []
        for document, title in documents.items():
            lines.append(f"- **{title}**" if document == shown else f"- [{title}]({documentation_address(document)})")
            if document == shown:
                lines += [
                    f"    - [{heading.text}]({documentation_address(document, heading.anchor)})"
                    for heading in headings_of(document)
                    if heading.level <= 2
                ]
        st.markdown("\n".join([f"**{group}**", "", *lines]))


def room_for_pictures(parts: Sequence[Part]) -> str:
    """Return the style that gives every picture its size before it, or the program that draws it, has loaded, so that what is
    below it does not jump."""
    sizes = {picture: size_of(picture) for part in parts if (picture := part.picture) is not None and picture.is_file()}
    return "".join(
        f".st-key-{_picture_key(picture)} {{ width: min(100%, {size[0]}px); aspect-ratio: {size[0]} / {size[1]}; flex: none; }}"
        for picture, size in sizes.items()
        if size is not None
    )


def _picture_key(picture: Path) -> str:
    return f"picture-{picture.parent.name}-{picture.stem}"


def draw_part(part: Part) -> None:
    """Draw a part of a document."""
    if part.picture is not None:
        if part.picture.is_file():
            with st.container(key=_picture_key(part.picture)):
                st.image(part.picture, alt=part.text, width="stretch")
        return
    if not part.level:
        st.markdown(part.text)
        return
    draw = {1: st.header, 2: st.subheader}.get(part.level)
    if draw is not None:
        draw(part.text, anchor=part.anchor)
    else:
        st.markdown(f"{'#' * min(part.level + 1, 6)} {part.text}")


def page() -> None:
    """Draw the page."""
    document = str(st.query_params.get("document", FIRST))
    if document not in DOCUMENTS:
        raise UnknownNameError("documentation page", document, list(DOCUMENTS))
    # Before the text, so that the first links that a person can see already stay in this tab.
    data = {"document": document, "part": str(st.query_params.get("part", "")), "links": "documentation?"}
    _MOUNT(key="document", data=data)
    side, main = st.columns([1, 3.2], gap="large")
    with side, st.container(key="documentation-contents"):
        draw_contents(document)
    parts = parts_of(document)
    with main, st.container(key=TEXT):
        if style := room_for_pictures(parts):
            st.html(f"<style>{style}</style>")
        for part in parts:
            draw_part(part)


with errors_in_place():
    page()
