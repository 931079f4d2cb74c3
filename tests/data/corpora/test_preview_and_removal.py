"""The preview of a source agrees with what is added; a corpus or data set that is deleted is gone, and uploads are kept once."""

import io
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.corpora import add_corpus, remove_corpus
from berdseye.data.corpora.preview import preview_corpus
from berdseye.data.datasets.stored import load_dataset, remove_dataset, save_dataset
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Question
from berdseye.data.uploads import keep_upload, remove_unused_uploads
from berdseye.data.workspace import Workspace

ROWS = ("a,T,One two three.", "b,,Four five.", "c,T,", "d,T,Six,too many")


@settings(deadline=None)
@given(rows=st.lists(st.sampled_from(ROWS), min_size=1, max_size=8), pages=st.booleans())
def test_a_preview_counts_what_would_be_added(
    tmp_path_factory: pytest.TempPathFactory, rows: list[str], pages: bool
) -> None:
    folder = tmp_path_factory.mktemp("preview")
    path = folder / "source.csv"
    numbered = [row.replace(row[0], f"{number}", 1) for number, row in enumerate(rows)]
    path.write_text("\n".join(["id,title,text", *numbered]), encoding="utf-8")
    kind = "pages" if pages else "passages"
    preview = preview_corpus(path, kind=kind)
    assert preview.complete
    workspace = Workspace.create(folder / "workspace")
    if not preview.count:
        with pytest.raises(BadInputError):
            add_corpus(workspace, "mine", path, kind=kind, skip_bad=True)
        return
    manifest = add_corpus(workspace, "mine", path, kind=kind, skip_bad=True)
    assert preview.count == manifest.documents
    assert preview.passages == manifest.count + manifest.duplicates_merged
    assert [str(row) for row in preview.bad_rows] == manifest.bad_rows


def test_repeated_ids_are_previewed_as_invalid(tmp_path: Path) -> None:
    path = tmp_path / "source.csv"
    path.write_text("id,text\na,One.\nb,Two.\na,Three.\n", encoding="utf-8")
    preview = preview_corpus(path)
    assert (preview.count, preview.bad) == (2, 1)
    manifest = add_corpus(Workspace.create(tmp_path / "workspace"), "mine", path, skip_bad=True)
    assert [str(row) for row in preview.bad_rows] == manifest.bad_rows


def test_a_preview_stops_after_its_time(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    path.write_text("id,text\n" + "".join(f"{n},Text number {n}.\n" for n in range(5_000)), encoding="utf-8")
    preview = preview_corpus(path, seconds=0)
    assert not preview.complete
    assert 0 < preview.count < 5_000


def test_a_deleted_corpus_is_gone_and_its_name_is_free(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "source.txt"
    path.write_text("Some text.", encoding="utf-8")
    add_corpus(workspace, "mine", path)
    remove_corpus(workspace, "mine")
    assert workspace.corpora() == []
    with pytest.raises(UnknownNameError):
        remove_corpus(workspace, "mine")
    assert add_corpus(workspace, "mine", path).count == 1


def test_a_deleted_data_set_is_unknown_and_not_damaged(workspace: Workspace) -> None:
    save_dataset(workspace, "mine", [Question("1", "", "Why?", ())])
    remove_dataset(workspace, "mine")
    with pytest.raises(UnknownNameError):
        load_dataset(workspace, "mine")


def test_an_upload_is_stored_once_and_deleted_when_nobody_needs_it(workspace: Workspace) -> None:
    first = keep_upload(workspace, "a.csv", io.BytesIO(b"one"))
    assert keep_upload(workspace, "a.csv", io.BytesIO(b"one")) == first
    other = keep_upload(workspace, "../b.csv", io.BytesIO(b"two"))
    assert (first.read_bytes(), other.read_bytes(), other.parent.parent) == (b"one", b"two", workspace.uploads_folder)
    for path in (first, other):
        os.utime(path.parent, (0, 0))
    remove_unused_uploads(workspace, {other})
    assert (first.exists(), other.exists()) == (False, True)
