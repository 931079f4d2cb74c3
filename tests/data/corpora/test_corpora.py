"""Corpora: added whole or not at all."""

import gzip
import json
import signal
import subprocess
import sys
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berdseye.data.corpora import SourceFile, add_corpus, open_corpus
from berdseye.data.errors import BadInputError, BerdseyeError, DamagedError, StaleError, UnknownNameError
from berdseye.data.workspace import Workspace

# Adds a corpus, and waits for a line of input each time that progress is told.
SLOW = """
import sys
from pathlib import Path
from berdseye.data.corpora import add_corpus
from berdseye.data.workspace import Workspace

def wait(done, what, total=None):
    print(done, what, flush=True)
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
    assert process.stdout.readline().strip() == "1000 passages"
    return process


def test_duplicates_become_one_passage(workspace: Workspace, tmp_path: Path) -> None:
    rows = [{"id": i, "title": t, "text": "Same."} for i, t in (("a", "T"), ("b", "T"), ("c", "Another"))]
    manifest = add_corpus(workspace, "c", write(tmp_path / "c.jsonl", *rows))
    assert (manifest.count, manifest.documents, manifest.duplicates_merged) == (2, 3, 1)
    held = [p for batch in open_corpus(workspace, "c").batches() for p in batch]
    assert [(p.id, p.source_id, p.title) for p in held] == [(0, "a", "T"), (1, "c", "Another")]


def test_duplicate_ids_are_reported_and_nothing_is_added(workspace: Workspace, tmp_path: Path) -> None:
    source = write(
        tmp_path / "c.jsonl", {"id": "a", "text": "One."}, {"id": "b", "text": "Two."}, {"id": "a", "text": "3"}
    )
    with pytest.raises(BadInputError, match=r"1 invalid row: a line 3: line 1 already has this id"):
        add_corpus(workspace, "c", source)
    assert workspace.corpora() == []


def test_all_bad_rows_are_reported_together(workspace: Workspace, tmp_path: Path) -> None:
    source = write(tmp_path / "c.jsonl", *({"id": n} for n in range(14)))
    with pytest.raises(BadInputError) as error:
        add_corpus(workspace, "c", source)
    said = str(error.value)
    assert "14 invalid rows" in said
    assert "c.jsonl line 10:" in said
    assert said.count("no text") == 10
    assert "and 4 more" in said
    assert "--skip-bad" in said


def test_nothing_is_changed_when_it_fails(workspace: Workspace, tmp_path: Path) -> None:
    add_corpus(workspace, "c", documents(tmp_path / "c.jsonl", 3))
    before = tree(workspace.folder)
    broken = write(tmp_path / "broken.jsonl", {"id": 1, "text": "Good."}, {"id": 2})
    for name, replace, why in (("c", True, "broken.jsonl line 2: no text"), ("c", False, "'c' already exists"),
                               ("new", False, "broken.jsonl line 2: no text")):  # fmt: skip
        with pytest.raises(BadInputError, match=why):
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
    with pytest.raises(BadInputError, match="contains no passage"):
        add_corpus(workspace, "c", tmp_path / "c.jsonl")
    assert workspace.corpora() == []


def test_a_text_of_control_characters_alone_is_reported(workspace: Workspace, tmp_path: Path) -> None:
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


def test_of_two_processes_one_adds_and_the_other_gets_an_error(workspace: Workspace, tmp_path: Path) -> None:
    process = start_slow(workspace, "c", documents(tmp_path / "c.jsonl", 1000))
    with pytest.raises(BerdseyeError, match="process is writing corpus 'c'"):
        add_corpus(workspace, "c", documents(tmp_path / "other.jsonl", 2))
    add_corpus(workspace, "another", tmp_path / "other.jsonl")
    process.communicate("\n" * 9, timeout=20)
    assert process.returncode == 0
    assert workspace.corpora() == ["another", "c"]
    assert open_corpus(workspace, "c").manifest.count == 1000


def test_killed_in_the_middle_the_workspace_is_as_before(workspace: Workspace, tmp_path: Path) -> None:
    add_corpus(workspace, "c", documents(tmp_path / "c.jsonl", 3))
    before = tree(workspace.folder)
    process = start_slow(workspace, "c", documents(tmp_path / "more.jsonl", 1000))
    assert process.stdin is not None
    assert process.stdout is not None
    said = ""
    while "put in place" not in said:  # then the passages are written, and the manifest is not
        process.stdin.write("\n")
        process.stdin.flush()
        said = process.stdout.readline()
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
    with pytest.raises(UnknownNameError, match=r"corpus '\.c\.building'"):
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
        with pytest.raises(StaleError, match=f"has no passage {unknown}"):
            corpus.passages([0, unknown])


def test_a_corpus_of_many_parts_is_read_where_it_is_asked(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("berdseye.data.corpora.drafting.PART_ROWS", 1000)
    monkeypatch.setattr("berdseye.data.corpora.corpus.GROUP_ROWS", 300)
    add_corpus(workspace, "c", documents(tmp_path / "c.jsonl", 5100))
    corpus = open_corpus(workspace, "c")
    assert len(list((corpus.folder / "passages").iterdir())) == 6
    assert [p.id for batch in corpus.batches(256) for p in batch] == list(range(5100))
    for asked in ([5099, 3, 999, 1000, 1001, 2999, 4300, 3], [5000], list(range(0, 5100, 7))):
        assert [p.source_id for p in corpus.passages(asked)] == [f"d{i}" for i in asked]
    for unknown in (5100, 10**12):
        with pytest.raises(StaleError, match=f"has no passage {unknown}"):
            corpus.passages([5, unknown])


def test_columns_and_batches_begin_at_the_given_place(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("berdseye.data.corpora.drafting.PART_ROWS", 1000)
    monkeypatch.setattr("berdseye.data.corpora.corpus.GROUP_ROWS", 300)
    add_corpus(workspace, "c", documents(tmp_path / "c.jsonl", 2500))
    corpus = open_corpus(workspace, "c")
    for start in (0, 1, 299, 300, 301, 999, 1000, 1777, 2499, 2500, 9999):
        for size in (1, 64, 4096) if start > 2400 else (64, 4096):
            columns = list(corpus.columns(size, start))
            assert all(b.schema.names == ["id", "title", "text"] and 0 < b.num_rows <= size for b in columns)
            assert [i for b in columns for i in b.column("id").to_pylist()] == list(range(start, 2500))
            assert [p.id for b in corpus.batches(size, start) for p in b] == list(range(start, 2500))


def test_the_hash_is_over_titles_and_texts_in_order(workspace: Workspace, tmp_path: Path) -> None:
    """The same as that of earlier versions, whose indexes name it."""
    manifest = add_corpus(workspace, "c", documents(tmp_path / "c.jsonl", 3))
    keys = [blake2b(f"\0Text {n}.".encode(), digest_size=16).digest() for n in range(3)]
    assert manifest.hash == blake2b(b"".join(keys), digest_size=16).hexdigest()


def test_the_manifest_says_what_was_read(workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    contents = {"a.jsonl": b'{"text": "One."}\n', "b.csv.gz": gzip.compress(b"id,text\n1,Two\n"), "c.txt": b"Three."}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    manifest = add_corpus(workspace, "c", folder)
    assert manifest.sources == [
        SourceFile(n, len(c), blake2b(c, digest_size=32).hexdigest()) for n, c in contents.items()
    ]
    assert (manifest.source_files, manifest.source_bytes) == (3, sum(map(len, contents.values())))
    assert (manifest.format, manifest.chunker) == ("JSONL, CSV, text", "words(100)")
    assert manifest.berdseye == version("berdseye")
    assert open_corpus(workspace, "c").manifest == manifest


def test_a_corpus_of_an_older_version_is_read(workspace: Workspace) -> None:
    """Parts were numbered one by one, and the manifest said less."""
    folder = workspace.corpus_folder("old")
    (folder / "passages").mkdir(parents=True)
    for part, ids in enumerate((range(4), range(4, 7))):
        rows = {"id": list(ids), "source_id": [f"d{i}" for i in ids]}
        table = pa.table(rows | {c: [f"{c} {i}" for i in ids] for c in ("title", "text", "url")})
        pq.write_table(table, folder / "passages" / f"part-{part:05d}.parquet")
    held = {"name": "old", "kind": "passages", "count": 7, "documents": 7, "duplicates_merged": 0, "hash": "ab"}
    held |= {"source": "old.jsonl", "created": "2026-01-01T00:00:00+00:00", "bad_rows": ["old.jsonl line 8: none"]}
    (folder / "manifest.json").write_text(json.dumps(held))
    corpus = open_corpus(workspace, "old")
    assert (corpus.manifest.count, corpus.manifest.sources, corpus.manifest.chunker) == (7, [], "words(100)")
    assert [p.text for p in corpus.passages([6, 0, 4])] == ["text 6", "text 0", "text 4"]
    assert [p.id for batch in corpus.batches(start=5) for p in batch] == [5, 6]


def test_of_two_rows_with_one_id_the_first_keeps_its_text(workspace: Workspace, tmp_path: Path) -> None:
    """A later document with the text of one that was left out is no duplicate of it."""
    rows = [{"id": i, "text": t} for i, t in (("a", "One."), ("a", "Two."), ("b", "Two."), ("c", "One."))]
    manifest = add_corpus(workspace, "c", write(tmp_path / "c.jsonl", *rows), skip_bad=True)
    assert (manifest.count, manifest.documents, manifest.duplicates_merged, manifest.left_out) == (2, 3, 1, 1)
    held = [p for batch in open_corpus(workspace, "c").batches() for p in batch]
    assert [(p.id, p.source_id, p.text) for p in held] == [(0, "a", "One."), (1, "b", "Two.")]


def test_an_id_that_is_in_two_files_names_both(workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    write(folder / "1.jsonl", {"id": "a", "text": "One."})
    write(folder / "2.jsonl", {"id": "b", "text": "Two."}, {"id": "a", "text": "Three."})
    with pytest.raises(BadInputError, match=r"a line 2: line 1 of 1\.jsonl already has this id"):
        add_corpus(workspace, "c", folder)


def test_many_bad_rows_are_listed_beside_the_corpus(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("berdseye.data.corpora.adding._LISTED", 5)
    source = write(tmp_path / "c.jsonl", {"text": "Good."}, *({"id": n} for n in range(40)))
    manifest = add_corpus(workspace, "c", source, skip_bad=True)
    assert (len(manifest.bad_rows), manifest.left_out) == (5, 40)
    listed = (workspace.corpus_folder("c") / "left_out.txt").read_text().splitlines()
    assert len(listed) == 40
    assert listed[39].startswith("c.jsonl line 41: no text")


def test_what_was_read_is_used_when_bad_rows_are_then_skipped(workspace: Workspace, tmp_path: Path) -> None:
    source = write(tmp_path / "c.jsonl", *({"id": n, "text": f"Text {n}."} for n in range(2000)), {"id": "bad"})
    with pytest.raises(BadInputError, match=r"1 invalid row.*--skip-bad"):
        add_corpus(workspace, "c", source)
    said: list[str] = []
    told: list[tuple[int, str]] = []
    add_corpus(
        workspace,
        "c",
        source,
        skip_bad=True,
        say=said.append,
        progress=lambda done, what, _=None: told.append((done, what)),
    )
    assert said == ["Resuming after 2,000 passages."]
    assert [what for _, what in told if what == "passages"] == []  # nothing is read again
    assert open_corpus(workspace, "c").manifest.count == 2000


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from(["One.", "Two.", "Three.", " "])), max_size=12))
@settings(max_examples=25, deadline=None)
def test_ids_are_dense_and_the_first_of_equals_keeps_its_place(rows: list[tuple[str, str]]) -> None:
    with TemporaryDirectory() as folder:
        workspace = Workspace.create(Path(folder))
        source = write(Path(folder) / "c.jsonl", *({"id": i, "text": t} for i, t in rows))
        expected: dict[str, str] = {}
        ids: set[str] = set()
        for source_id, text in rows:
            if text.strip() and source_id not in ids:
                ids.add(source_id)
                expected.setdefault(text, source_id)
        if not expected:
            with pytest.raises(BadInputError, match=r"c\.jsonl"):
                add_corpus(workspace, "c", source, skip_bad=True)
            return
        manifest = add_corpus(workspace, "c", source, skip_bad=True)
        held = [p for batch in open_corpus(workspace, "c").batches() for p in batch]
        assert [(p.id, p.text, p.source_id) for p in held] == [(n, *e) for n, e in enumerate(expected.items())]
        assert manifest.count == manifest.documents - manifest.duplicates_merged
        assert manifest.documents + manifest.left_out == len(rows)


def test_passages_cut_from_pages_have_lasting_ids(workspace: Workspace, tmp_path: Path) -> None:
    rows = [{"id": f"page{n}", "text": f"p{n} " + "word " * 250} for n in range(3)]
    manifest = add_corpus(workspace, "c", write(tmp_path / "c.jsonl", *rows), kind="pages")
    assert manifest.count == 3
    asked = [20_002, 0, 10_001]
    held = open_corpus(workspace, "c").passages(asked)
    assert [(p.id, p.source_id) for p in held] == [(20_002, "page2#2"), (0, "page0#0"), (10_001, "page1#1")]
    assert held[1].text.startswith("p0 word")
    assert open_corpus(workspace, "c").passages(asked) == held
    with pytest.raises(StaleError, match="'c' has no passage 3"):
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
def test_a_damaged_manifest_is_reported(workspace: Workspace, tmp_path: Path, content: bytes) -> None:
    add_corpus(workspace, "c", documents(tmp_path / "c.jsonl", 1))
    (workspace.corpus_folder("c") / "manifest.json").write_bytes(content)
    with pytest.raises(DamagedError, match="Add the corpus again"):
        open_corpus(workspace, "c")
