"""The pages about the app: its documentation, and its keys."""

import pytest

from berdseye.app.components.keys import PAGES
from berdseye.app.documentation import DOCUMENTS
from tests.app.drawn_page import drawn, says, texts


@pytest.mark.usefixtures("at_hand")
@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_is_shown_with_the_list_of_all(document: str) -> None:
    at = drawn("documentation", document=document)
    assert not at.error
    assert at.header[0].value
    listed = texts(at, "markdown")
    assert f"**{DOCUMENTS[document]}**" in listed
    assert all(
        f"[{title}](documentation?document=" in listed for other, title in DOCUMENTS.items() if other != document
    )


@pytest.mark.usefixtures("at_hand")
def test_a_document_that_does_not_exist_is_reported() -> None:
    assert says(drawn("documentation", document="../../etc/passwd"), "documentation page", "error")


@pytest.mark.usefixtures("at_hand")
def test_all_keys_of_all_pages_are_on_one_page() -> None:
    at = drawn("keys")
    assert [title.value for title in at.subheader] == list(PAGES)
    shown = texts(at, "markdown")
    for bindings in PAGES.values():
        assert all(binding.does in shown or binding.key.isdigit() for binding in bindings)
