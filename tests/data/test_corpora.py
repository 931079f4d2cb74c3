"""Corpora: added whole or not at all."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from data.corpora import add_corpus, open_corpus
from data.errors import BadInputError, BerdseyeError, StaleError, UnknownNameError
from data.workspace import Workspace

# Adds a corpus, and waits for a line of input each time that progress is told.
SLOW = """
import sys
from pathlib import Path
from data.corpora import add_corpus
from data.workspace import Workspace

def wait(count, what):
    print(count, flush=True)
    sys.stdin.readline()

add_corpus(Workspace.open(Path(sys.argv[1])), sys.argv[2], Path(sys.argv[3]), replace=True, progress=wait)
"""


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def documents(path: Path, count: int) -> Path:
    return write(path, *({"id": f"d{n}", "text": f"Text {n}."} for n in range(count)))


def tree(folder: Path) -> dict[str, bytes]:
    """Every file that is not a lock or the litter of a killed process."""
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for p in folder.rglob("*")
        if p.is_file() and not any(part.startswith(".") for part in p.relative_to(folder).parts)
    }


def start_slow(workspace: Workspace, name: str, source: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(workspace.folder), name, str(source)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "1000"
    return process


def test_duplicates_become_one_passage(workspace: Workspace, tmp_path: Path) -> None:
    rows = [{"id": i, "title": t, "text": "Same."} for i, t in (("a", "T"), ("b", "T"), ("c", "Another"))]
    manifest = add_corpus(workspace, "c", write(tmp_path / "c.jsonl", *rows))
    assert (manifest.count, manifest.documents, manifest.duplicates_merged) == (2, 3, 1)
    held = [p for batch in open_corpus(workspace, "c").batches() for p in batch]
    assert [(p.id, p.source_id, p.title) for p in held] == [(0, "a", "T"), (1, "c", "Another")]


def test_ids_that_stand_twice_are_told_and_nothing_is_added(workspace: Workspace, tmp_path: Path) -> None:
    source = write(
        tmp_path / "c.jsonl", {"id": "a", "text": "One."}, {"id": "b", "text": "Two."}, {"id": "a", "text": "3"}
    )
    with pytest.raises(BadInputError, match=r"1 row cannot be used\. a line 3: the id stands already on line 1"):
        add_corpus(workspace, "c", source)
    assert workspace.corpora() == []


def test_all_bad_rows_are_told_at_once(workspace: Workspace, tmp_path: Path) -> None:
    source = write(tmp_path / "c.jsonl", *({"id": n} for n in range(14)))
    with pytest.raises(BadInputError) as error:
        add_corpus(workspace, "c", source)
    said = str(error.value)
    assert "14 rows cannot be used" in said
    assert "c.jsonl line 10:" in said
    assert said.count("no text") == 10
    assert "and 4 more" in said
    assert "--skip-bad" in said


def test_nothing_is_changed_when_it_fails(workspace: Workspace, tmp_path: Path) -> None:
    add_corpus(workspace, "c", documents(tmp_path / "c.jsonl", 3))
    before = tree(workspace.folder)
    broken = write(tmp_path / "broken.jsonl", {"id": 1, "text": "Good."}, {"id": 2})
    for name, replace in (("c", True), ("c", False), ("new", False)):
        with pytest.raises(BadInputError):
            add_corpus(workspace, name, broken, replace=replace)
    assert tree(workspace.folder) == before
    assert workspace.corpora() == ["c"]


def test_skipped_rows_are_listed(workspace: Workspace, tmp_path: Path) -> None:
    source = write(tmp_path / "c.jsonl", {"id": 1, "text": "Good."}, {"id": 2}, {"id": 1, "text": "Again."})
    manifest = add_corpus(workspace, "c", source, skip_bad=True)
    assert manifest.count == 1
    assert [row.partition(":")[0] for row in manifest.bad_rows] == ["c.jsonl line 2", "1 line 3"]
    assert open_corpus(workspace, "c").manifest == manifest


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_a_file_without_rows_is_refused(workspace: Workspace, tmp_path: Path, content: str) -> None:
    (tmp_path / "c.jsonl").write_text(content)
    with pytest.raises(BadInputError, match="No passage was found"):
        add_corpus(workspace, "c", tmp_path / "c.jsonl")
    assert workspace.corpora() == []


def test_a_text_of_control_characters_alone_is_told(workspace: Workspace, tmp_path: Path) -> None:
    source = write(tmp_path / "c.jsonl", {"id": "a", "text": "\0\x01"}, {"id": "b", "text": "Good."})
    for kind in ("passages", "pages"):
        with pytest.raises(BadInputError, match="a line 1: the text is empty"):
            add_corpus(workspace, "c", source, kind=kind)


def test_replacing_is_asked_for(workspace: Workspace, tmp_path: Path) -> None:
    first = add_corpus(workspace, "c", documents(tmp_path / "c.jsonl", 3))
    with pytest.raises(BadInputError, match="pass --replace"):
        add_corpus(workspace, "c", documents(tmp_path / "c.jsonl", 5))
    second = add_corpus(workspace, "c", tmp_path / "c.jsonl", replace=True)
    assert (first.count, second.count) == (3, 5)
    assert first.hash != second.hash
    assert len(open_corpus(workspace, "c").passages(range(5))) == 5
    assert sorted(p.name for p in workspace.corpus_folder("c").parent.iterdir()) == [".c.lock", "c"]


def test_of_two_processes_one_adds_and_the_other_is_told(workspace: Workspace, tmp_path: Path) -> None:
    process = start_slow(workspace, "c", documents(tmp_path / "c.jsonl", 1000))
    with pytest.raises(BerdseyeError, match="'c' is being written by another process"):
        add_corpus(workspace, "c", documents(tmp_path / "other.jsonl", 2))
    add_corpus(workspace, "another", tmp_path / "other.jsonl")
    process.communicate("\n\n", timeout=20)
    assert process.returncode == 0
    assert workspace.corpora() == ["another", "c"]
    assert open_corpus(workspace, "c").manifest.count == 1000


def test_killed_in_the_middle_the_workspace_is_as_before(workspace: Workspace, tmp_path: Path) -> None:
    add_corpus(workspace, "c", documents(tmp_path / "c.jsonl", 3))
    before = tree(workspace.folder)
    process = start_slow(workspace, "c", documents(tmp_path / "more.jsonl", 1000))
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline().strip() == "1000"  # told again: the passages are written, the manifest is not
    process.kill()
    process.communicate(timeout=20)
    assert process.returncode == -signal.SIGKILL
    assert tree(workspace.folder) == before
    assert workspace.corpora() == ["c"]
    assert add_corpus(workspace, "c", tmp_path / "more.jsonl", replace=True).count == 1000


def test_a_corpus_that_was_never_put_in_place_is_not_shown(workspace: Workspace, tmp_path: Path) -> None:
    """Killed between writing the manifest and the renaming."""
    add_corpus(workspace, "c", documents(tmp_path / "c.jsonl", 3))
    workspace.corpus_folder("c").rename(workspace.folder / "corpora" / ".c.building")
    assert workspace.corpora() == []
    with pytest.raises(UnknownNameError):
        open_corpus(workspace, ".c.building")


def test_texts_of_every_kind_survive_as_text(workspace: Workspace, tmp_path: Path) -> None:
    texts = {
        "nul": ("before\0after", "before after"),
        "rtl": ("\u202eabc \u05e9\u05dc\u05d5\u05dd", "\u202eabc \u05e9\u05dc\u05d5\u05dd"),
        "emoji": ("👩‍🚀 says hi 😀", "👩‍🚀 says hi 😀"),
        "html": ("<script>alert(1)</script> & <b>x</b>", "<script>alert(1)</script> & <b>x</b>"),
        "formula": ("=1+1", "=1+1"),
        "surrogate": ("a\ud800b", "a?b"),
    }
    rows = [{"id": key, "title": "T\0\n" + given, "text": given} for key, (given, _) in texts.items()]
    add_corpus(workspace, "c", write(tmp_path / "c.jsonl", *rows))
    held = open_corpus(workspace, "c").passages(range(len(texts)))
    assert {p.source_id: p.text for p in held} == {key: kept for key, (_, kept) in texts.items()}
    assert {p.source_id: p.title for p in held} == {key: f"T {kept}" for key, (_, kept) in texts.items()}


def test_passages_come_in_the_order_asked(workspace: Workspace, tmp_path: Path) -> None:
    add_corpus(workspace, "c", documents(tmp_path / "c.jsonl", 9))
    corpus = open_corpus(workspace, "c")
    assert [p.source_id for p in corpus.passages([4, 0, 8, 4])] == ["d4", "d0", "d8", "d4"]
    assert corpus.passages([]) == []
    for unknown in (9, -1):
        with pytest.raises(StaleError, match=f"holds no passage {unknown}"):
            corpus.passages([0, unknown])


def test_a_large_corpus_is_queried_on_disk(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("data.corpora._SMALL", 5)
    monkeypatch.setattr("data.corpora._PART", 4)
    add_corpus(workspace, "c", documents(tmp_path / "c.jsonl", 11))
    corpus = open_corpus(workspace, "c")
    assert len(list((corpus.folder / "passages").iterdir())) == 3
    assert [p.id for batch in corpus.batches() for p in batch] == list(range(11))
    assert [p.source_id for p in corpus.passages([10, 3, 4])] == ["d10", "d3", "d4"]
    with pytest.raises(StaleError):
        corpus.passages([11])


def test_passages_cut_from_pages_have_lasting_ids(workspace: Workspace, tmp_path: Path) -> None:
    rows = [{"id": f"page{n}", "text": f"p{n} " + "word " * 250} for n in range(3)]
    manifest = add_corpus(workspace, "c", write(tmp_path / "c.jsonl", *rows), kind="pages")
    assert manifest.count == 3
    asked = [20_002, 0, 10_001]
    held = open_corpus(workspace, "c").passages(asked)
    assert [(p.id, p.source_id) for p in held] == [(20_002, "page2#2"), (0, "page0#0"), (10_001, "page1#1")]
    assert held[1].text.startswith("p0 word")
    assert open_corpus(workspace, "c").passages(asked) == held
    with pytest.raises(StaleError):
        open_corpus(workspace, "c").passages([3])


def test_a_wrong_name_is_answered_with_the_nearest(workspace: Workspace, tmp_path: Path) -> None:
    add_corpus(workspace, "encyclopedia", documents(tmp_path / "c.jsonl", 1))
    with pytest.raises(UnknownNameError, match="Did you mean encyclopedia"):
        open_corpus(workspace, "enciclopedia")


@pytest.mark.parametrize("name", ["", "../up", "a/b", "Upper", ".hidden", "a" * 65, "new\n"])
def test_names_that_are_no_folder_names_are_refused(workspace: Workspace, tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInputError, match="cannot be the name"):
        add_corpus(workspace, name, documents(tmp_path / "c.jsonl", 1))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"\xff"])
def test_a_damaged_manifest_is_told(workspace: Workspace, tmp_path: Path, content: bytes) -> None:
    add_corpus(workspace, "c", documents(tmp_path / "c.jsonl", 1))
    (workspace.corpus_folder("c") / "manifest.json").write_bytes(content)
    with pytest.raises(StaleError, match="Add the corpus again"):
        open_corpus(workspace, "c")
