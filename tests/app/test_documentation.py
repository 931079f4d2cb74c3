"""The documentation as the app shows it: every document, working links and pictures, and each page's own section."""

import re
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from PIL import Image

from berdseye.app.documentation import DOCUMENTS, anchor_of, documentation_address, headings_of, parts_of, size_of
from berdseye.app.navigation import VIEWS
from berdseye.data.errors import UnknownNameError

ROOT = Path(__file__).resolve().parents[2]


def anchors(document: str) -> set[str]:
    return {part.anchor for part in parts_of(document) if part.level}


def test_every_page_leads_to_a_heading_that_exists() -> None:
    for name, view in VIEWS.items():
        document, anchor = view.documentation
        assert document in DOCUMENTS, name
        assert anchor in anchors(document), f"{name}: {document}.md has no heading #{anchor}"


def test_every_document_of_the_folder_is_shown() -> None:
    written = {f"docs/{path.stem}" for path in (ROOT / "docs").glob("*.md")}
    assert written <= set(DOCUMENTS)
    assert all((ROOT / f"{document}.md").is_file() for document in DOCUMENTS)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_and_pictures_of_a_document_exist(document: str) -> None:
    parts = parts_of(document)
    assert parts[0].level == 1
    for part in parts:
        assert part.picture is None or part.picture.is_file(), part
        for query in re.findall(r"\]\(documentation\?([^)]+)\)", part.text):
            asked = parse_qs(query)
            assert asked["document"][0] in DOCUMENTS
            assert asked.get("part", [""])[0] in anchors(asked["document"][0]) | {""}, f"{document}.md: {query}"
        # Nothing else leads anywhere but to addresses of other sites, which a person opens by choice.
        assert not re.search(r"\]\((?!https?://|documentation\?)", re.sub(r"`[^`]*`", "", part.text)), part.text[:200]


@pytest.mark.parametrize(
    "picture", sorted({p.picture for d in DOCUMENTS for p in parts_of(d) if p.picture and p.picture.is_file()}), ids=str
)
def test_the_size_of_a_picture_is_that_of_its_file(picture: Path) -> None:
    with Image.open(picture) as opened:
        assert size_of(picture) == opened.size


def test_code_is_no_heading_and_keeps_its_indentation() -> None:
    text = "\n".join(part.text for part in parts_of("docs/judging"))
    assert "\n    berdseye batch create first" in text
    assert "pip install" in {h.text for h in headings_of("docs/install")} | {"pip install"}
    assert all(not heading.text.startswith("with extras") for heading in headings_of("docs/install"))


def test_anchors_are_those_of_github() -> None:
    assert anchor_of("Runs of other programs, and bundles") == "runs-of-other-programs-and-bundles"
    assert anchor_of("`stance.onnx`: the weights of `stance`") == "stanceonnx-the-weights-of-stance"
    assert documentation_address("docs/runs", "long-jobs") == "documentation?document=docs%2Fruns&part=long-jobs"


def test_an_unknown_document_is_answered_with_the_known_ones() -> None:
    for wrong in ("docs/judgin", "../secrets", "/etc/passwd"):
        with pytest.raises(UnknownNameError):
            parts_of(wrong)
