"""What Java says, in our words."""

from pathlib import Path

import pytest

from berdseye.data.errors import BadInputError, BerdseyeError, UnavailableError, UnknownNameError
from berdseye.retrieval.lucene.index import index_folder
from berdseye.retrieval.lucene.java import java_error


@pytest.mark.parametrize(
    ("kind", "message", "error", "said"),
    [
        ("org.apache.lucene.index.IndexNotFoundException", "no segments* file", BadInputError, "has no Lucene index"),
        ("org.apache.lucene.index.IndexFormatTooOldException", "", UnavailableError, "pip install 'pyserini<2'"),
        ("org.apache.lucene.index.IndexFormatTooNewException", "", UnavailableError, "newer Pyserini"),
        ("org.apache.lucene.search.IndexSearcher$TooManyClauses", "maxClauseCount", BadInputError, "too many words"),
        (
            "java.lang.NoClassDefFoundError",
            "io/anserini/search/ScoredDocs",
            UnavailableError,
            "no other library start Java",
        ),
        ("java.lang.OutOfMemoryError", "Java heap space", UnavailableError, "JAVA_TOOL_OPTIONS"),
        (
            "org.apache.lucene.index.CorruptIndexException",
            'truncated file: length=4 but\nexpectedLength==9 (resource=X(path="/a"))',
            BadInputError,
            "damaged: truncated file: length=4 but expectedLength==9. Copy",
        ),
        ("java.nio.file.NoSuchFileException", "/a/_0.cfs", BadInputError, "damaged: /a/_0.cfs"),
        ("java.lang.IllegalStateException", "", BerdseyeError, "Lucene failed: java.lang.IllegalStateException"),
    ],
)
def test_each_failure_is_one_line_with_the_folder(
    kind: str, message: str, error: type[BerdseyeError], said: str, tmp_path: Path
) -> None:
    told = java_error(kind, message, tmp_path)
    assert type(told) is error
    assert said in str(told)
    assert str(told).startswith(f"{tmp_path}: ")
    assert "\n" not in str(told)


def test_a_path_without_an_index_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="has no Lucene index"):
        index_folder(str(tmp_path))
    with pytest.raises(BadInputError, match="does not exist"):
        index_folder(str(tmp_path / "gone"))
    (tmp_path / "file").touch()
    with pytest.raises(BadInputError, match="does not exist"):
        index_folder(str(tmp_path / "file"))
    (tmp_path / "segments_2").touch()
    assert index_folder(str(tmp_path)) == tmp_path


def test_errors_of_names_and_of_installation_are_ours() -> None:
    with pytest.raises((UnknownNameError, UnavailableError), match=r"wikipedia-dpr-100w|not installed|Java 21"):
        index_folder("wikipedia-dpr-100v")
