"""The Documentation page: the documents of the package with their pictures, a list of them at the side, and working links."""

from importlib.resources import files

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


def draw_part(part: Part) -> None:
    """Draw a part of a document."""
    if part.picture is not None:
        if part.picture.is_file():
            st.image(part.picture, alt=part.text)
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
    with main, st.container(key=TEXT):
        for part in parts_of(document):
            draw_part(part)


with errors_in_place():
    page()
