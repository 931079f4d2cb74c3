"""The formats that large corpora come in, compressed and in archives, and taking the reading up in the middle."""

import bz2
import gzip
import io
import json
import tarfile
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from berdseye.data.corpora import add_corpus, open_corpus
from berdseye.data.documents import BadRow, Document, input_files, read_blocks, read_documents
from berdseye.data.workspace import Workspace

LONG = " ".join(f"word{n}" for n in range(250)) + " end."
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
}


def dpr(count: int, text: str = LONG) -> bytes:
    """Rows as DPR's `psgs_w100.tsv` has them: quoted texts, quotes in them doubled."""
    rows = (f'{n}\t"{text.rstrip(".")} ""no {n}"""\tTitle {n}\n' for n in range(1, count + 1))
    return ("id\ttext\ttitle\n" + "".join(rows)).encode()


def sphere(*numbers: int) -> bytes:
    """Lines as Sphere has them: the passage under `raw`, and what others added."""
    rows = (
        {"id": f"u{n}", "url": f"https://a.org/{n}", "title": f"T{n}", "sha": "ab", "raw": f"{n} {LONG}"}
        for n in numbers
    )
    return "".join(json.dumps(r | {"vector": [0.5, 1.0]} if r["id"] == "u1" else r) + "\n" for r in rows).encode()


def tar(path: Path, mode: str, **members: bytes) -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            member = tarfile.TarInfo(name.replace("__", "/").replace("_", "."))
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def documents(path: Path) -> list[Document]:
    rows = list(read_documents(path))
    assert [r for r in rows if isinstance(r, BadRow)] == []
    return [r for r in rows if isinstance(r, Document)]


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_dprs_passages_stay_as_they_are(workspace: Workspace, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"psgs_w100.tsv{suffix}"
    path.write_bytes(COMPRESS[suffix](dpr(3)) if suffix else dpr(3))
    manifest = add_corpus(workspace, "c", path)
    assert (manifest.count, manifest.format, manifest.chunker) == (3, "DPR TSV", "whole")
    first = open_corpus(workspace, "c").passages([0])[0]
    assert (first.source_id, first.title) == ("1", "Title 1")
    assert first.text == f'{LONG.rstrip(".")} "no 1"'


def test_a_chunker_that_is_named_cuts_them_all_the_same(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "psgs_w100.tsv").write_bytes(dpr(2))
    manifest = add_corpus(workspace, "c", tmp_path / "psgs_w100.tsv", chunker="words(100)")
    assert (manifest.count, manifest.chunker) == (6, "words(100)")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("7\tText\tTitle\textra", "4 cells, but the header has 3 columns"),
        ("7", "no text: expected a column named text or contents or passage or document or body"),
        ("7\t \tTitle", "the text is empty"),
    ],
)
def test_a_bad_row_of_dprs_is_reported(tmp_path: Path, row: str, reason: str) -> None:
    (tmp_path / "psgs_w100.tsv").write_bytes(dpr(2) + f"{row}\n9\tGood.\tTitle\n".encode())
    rows = list(read_documents(tmp_path / "psgs_w100.tsv"))
    (bad,) = [r for r in rows if isinstance(r, BadRow)]
    assert (bad.line, bad.reason.partition(", got ")[0]) == (4, reason)
    assert len(rows) == 4


def test_another_order_of_columns_is_a_table_like_any_other(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "c.tsv").write_text(f"id\ttitle\ttext\n1\tT\t{LONG}\n")
    manifest = add_corpus(workspace, "c", tmp_path / "c.tsv")
    assert (manifest.count, manifest.format, manifest.chunker) == (3, "TSV", "words(100)")


def test_spheres_shards_are_read_in_order(workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "sphere"
    folder.mkdir()
    (folder / "sphere.10.jsonl").write_bytes(sphere(6))
    (folder / "sphere.2.jsonl.gz").write_bytes(gzip.compress(sphere(2, 3)))
    (folder / "sphere.1.jsonl").write_bytes(sphere(1))
    tar(folder / "sphere.9.tar.gz", "w:gz", shards__b_jsonl=sphere(4), shards__c_txt=b"", shards__a_jsonl=sphere(5))
    (folder / "sphere.9.tar.gz.sha256").write_text("no document")
    with pytest.raises(Exception, match="the text is empty"):
        add_corpus(workspace, "c", folder)
    manifest = add_corpus(workspace, "c", folder, skip_bad=True)
    assert (manifest.count, manifest.chunker, manifest.source_files) == (6, "whole", 4)
    assert "Sphere JSONL" in manifest.format
    passages = open_corpus(workspace, "c").passages(range(6))
    assert [(p.source_id, p.url) for p in passages] == [(f"u{n}", f"https://a.org/{n}") for n in range(1, 7)]
    assert passages[0].text == f"1 {LONG}"


def test_of_a_beir_folder_the_corpus_alone_is_read(workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "arguana"
    (folder / "qrels").mkdir(parents=True)
    rows = [
        {"_id": f"d{n}", "title": "T", "text": f"Text {n}.", "metadata": {"url": "https://a.org"}} for n in range(3)
    ]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "A query?", "metadata": {}}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    (folder / "README.md").write_text("About it.")
    for path in (folder, folder / "corpus.jsonl", tmp_path):
        held = documents(path)
        assert [(d.source_id, d.title, d.text, d.url) for d in held] == [
            (f"d{n}", "T", f"Text {n}.", "https://a.org") for n in range(3)
        ]
    assert add_corpus(workspace, "c", folder).format == "BEIR JSONL"


def test_a_folder_without_a_corpus_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"id": "q1", "text": "A query?"}\n')
    (tmp_path / "notes.txt").write_text("Notes.")
    assert [d.source_id for d in documents(tmp_path)] == ["notes.txt", "q1"]


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b'{"id": "1", "text": "One."}\n{"id": "2", "text": "Two."}\n'),
        ("a.json", b'[{"id": "1", "text": "One."}, {"id": "2", "text": "Two."}]'),
        ("a.csv", b"id,text\n1,One.\n2,Two.\n"),
        ("a.tsv", b"id\ttext\n1\tOne.\n2\tTwo.\n"),
    ],
)
def test_compressed_files_are_read(tmp_path: Path, suffix: str, name: str, content: bytes) -> None:
    path = tmp_path / (name + suffix)
    path.write_bytes(COMPRESS[suffix](content))
    assert [(d.source_id, d.text) for d in documents(path)] == [("1", "One."), ("2", "Two.")]


def test_a_file_of_several_gzip_members_is_read_to_its_end(tmp_path: Path) -> None:
    members = (gzip.compress(f'{{"id": {n}, "text": "Text {n}."}}\n'.encode()) for n in range(3))
    (tmp_path / "a.jsonl.gz").write_bytes(b"".join(members))
    assert [d.source_id for d in documents(tmp_path / "a.jsonl.gz")] == ["0", "1", "2"]


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_truncated_file_is_reported_after_what_could_be_read(tmp_path: Path, suffix: str) -> None:
    lines = "".join(
        json.dumps({"id": n, "text": f"{n} {blake2b(b'%d' % n).hexdigest()}"}) + "\n" for n in range(40_000)
    )
    content = COMPRESS[suffix](lines.encode())
    (tmp_path / f"a.jsonl{suffix}").write_bytes(content[: len(content) // 2])
    *rows, last = read_documents(tmp_path / f"a.jsonl{suffix}")
    assert isinstance(last, BadRow)
    assert "the rest of the file was not read" in last.reason
    assert len(rows) > 1000
    assert all(isinstance(r, Document) for r in rows)


def test_an_invalid_archive_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(b"no archive at all"))
    (tmp_path / "b.jsonl.gz").write_bytes(b"not compressed")
    rows = list(read_documents(tmp_path))
    assert [(r.where, "damaged" in r.reason) for r in rows if isinstance(r, BadRow)] == [
        ("a.tar.gz", True),
        ("b.jsonl.gz", True),
    ]


def test_hidden_files_are_no_documents(tmp_path: Path) -> None:
    for name in ("a.txt", ".hidden.txt"):
        (tmp_path / name).write_text("Text.")
    tar(tmp_path / "b.tar", "w", a_txt=b"Text.", **{"._a_txt": b"Litter."})
    assert [d.source_id for d in documents(tmp_path)] == ["a.txt", "b.tar/a.txt"]


@pytest.fixture(params=["a.jsonl", "a.jsonl.gz", "a.csv", "a.tsv.zst", "a.json", "a.parquet", "a.tar.gz", "a.html"])
def shard(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file of each kind, some of its rows bad, some of its cells of several lines."""
    path = tmp_path / str(request.param)
    rows = [{"id": f"d{n}", "title": "T", "text": f"Text\n{n}" if n % 7 else " "} for n in range(120)]
    lines = [json.dumps(r) if n % 11 else "{" for n, r in enumerate(rows)]
    jsonl = "\n".join(lines).encode()
    match path.name.split(".", 1)[1]:
        case "jsonl":
            path.write_bytes(jsonl)
        case "jsonl.gz":
            path.write_bytes(gzip.compress(jsonl))
        case "csv":
            path.write_text("id,title,text\n" + "".join(f'{r["id"]},T,"{r["text"]}"\n' for r in rows))
        case "tsv.zst":
            cells = "".join(f'{r["id"]}\t"{r["text"]}"\tT\n' for r in rows)
            path.write_bytes(COMPRESS[".zst"](b"id\ttext\ttitle\n" + cells.encode() + b"x\ty\tz\tq\n"))
        case "json":
            path.write_text(json.dumps(rows))
        case "parquet":
            pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=50)
        case "tar.gz":
            half = len(lines) // 2
            parts = {f"{n}_jsonl": "\n".join(p).encode() for n, p in enumerate((lines[:half], lines[half:]))}
            tar(path, "w:gz", **parts, c_txt=b"A text.")
        case "html":
            path.write_text(f"<html><title>T</title><body><p>{'Words of the page. ' * 20}</p></body></html>")
    return path


def test_the_reading_can_be_taken_up_after_any_block(shard: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("jsonl", "tables", "whole_files"):
        monkeypatch.setattr(f"berdseye.data.documents.{module}.BLOCK_ROWS", 9)
    (file,) = input_files(shard)
    blocks = list(read_blocks(file))
    whole = file.close()
    assert whole == blake2b(shard.read_bytes(), digest_size=32).hexdigest()
    assert len(blocks) > 9 or shard.suffix == ".html"
    for done, block in enumerate(blocks, start=1):
        (again,) = input_files(shard)
        left = [row for b in read_blocks(again, block.position) for row in b.rows]
        assert left == [row for b in blocks[done:] for row in b.rows]
        assert again.close() == whole


def test_only_the_columns_of_documents_are_read_of_parquet(tmp_path: Path) -> None:
    rows = {"id": ["a"], "text": ["One."], "vector": [[0.5] * 1000], "title": ["T"]}
    pq.write_table(pa.table(rows), tmp_path / "a.parquet")
    assert documents(tmp_path / "a.parquet") == [Document("a", "T", "One.", "", 1)]
