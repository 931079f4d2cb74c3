"""Files from strangers: packed bombs, endless lines, deep nesting, numbers of thousands of digits, other encodings, archives
that point elsewhere. Bounds are made small here; the files are a few kilobytes."""

import bz2
import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from berdseye.data.answers import read_answer_file
from berdseye.data.corpora import add_corpus, open_corpus
from berdseye.data.datasets.layouts import read_dataset
from berdseye.data.datasets.stored import load_dataset, save_dataset
from berdseye.data.documents import BadRow, Document, jsonl, read_documents, whole_files
from berdseye.data.errors import BadInputError
from berdseye.data.files import json_files
from berdseye.data.files.json_files import read_json, read_rows
from berdseye.data.workspace import Workspace

DIGITS = b"1" * 5000
DEEP = b"[" * 100_000


def zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, codec="zstd", asbytes=True))


PACKED: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstd}


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def reasons(path: Path) -> list[str]:
    return [row.reason if isinstance(row, BadRow) else f"read: {row.text}" for row in read_documents(path)]


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize("kind", [".txt", ".html", ".json"])
def test_a_packed_bomb_is_refused_at_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, ending: str
) -> None:
    monkeypatch.setattr(whole_files, "LONGEST_FILE", 1 << 20)
    path = written(tmp_path, f"bomb{kind}{ending}", PACKED[ending](bytes(5 << 20)))
    assert path.stat().st_size < 10_000
    if kind == ".json":
        with pytest.raises(BadInputError, match="larger than 1 MiB"):
            list(read_documents(path))
    else:
        assert "larger than 1 MiB" in reasons(path)[0]


def test_a_packed_line_without_end_costs_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 10_000)
    monkeypatch.setattr(json_files, "LONGEST_LINE", 10_000)
    content = gzip.compress(b'{"text": "' + b"x" * 1_000_000 + b'"}\n{"text": "Short."}\n')
    assert reasons(written(tmp_path, "a.jsonl.gz", content)) == ["longer than 0 MB", "read: Short."]
    with pytest.raises(BadInputError, match=r"a\.jsonl\.gz:1: The line is longer than"):
        list(read_rows(tmp_path / "a.jsonl.gz"))


def test_damaged_packing_is_reported(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(b'{"text": "x"}\n' * 1000))
    packed[30:60] = b"\xff" * 30
    with pytest.raises(BadInputError, match=r"cannot be read"):
        list(read_rows(written(tmp_path, "a.jsonl.gz", bytes(packed))))


def test_a_number_of_thousands_of_digits_is_a_bad_row(tmp_path: Path) -> None:
    line = b'{"id": ' + DIGITS + b', "text": "Long."}'
    jsonl = written(tmp_path, "a.jsonl", line + b'\n{"text": "Short."}\n')
    assert reasons(jsonl) == ["not valid JSON (a number with too many digits)", "read: Short."]
    for read in (lambda p: list(read_rows(p)), read_answer_file):
        with pytest.raises(BadInputError, match="too many digits"):
            read(jsonl)
    whole = written(tmp_path, "a.json", b"[" + line + b"]")
    for read_whole in (lambda p: list(read_documents(p)), read_json, read_dataset):
        with pytest.raises(BadInputError, match="too many digits"):
            read_whole(whole)


def test_deep_nesting_is_reported(tmp_path: Path) -> None:
    assert reasons(written(tmp_path, "a.jsonl", DEEP)) == ["not valid JSON (nested too deeply)"]
    whole = written(tmp_path, "a.json", DEEP)
    for read in (read_json, read_dataset, lambda p: list(read_documents(p))):
        with pytest.raises(BadInputError, match="nested too deeply"):
            read(whole)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.txt"])
def test_another_encoding_is_reported_and_nothing_is_read_wrongly(tmp_path: Path, name: str, encoding: str) -> None:
    text = {"a.jsonl": '{"text": "Ä text."}\n', "a.csv": "id,text\n1,Ä text.\n", "a.txt": "Ä text."}[name]
    found = list(read_documents(written(tmp_path, name, text.encode(encoding))))
    assert found
    assert all(isinstance(row, BadRow) for row in found)


def test_a_byte_order_mark_nul_and_mixed_encodings(tmp_path: Path, workspace: Workspace) -> None:
    rows = (
        b'{"id": "a", "text": "One\\u0000 two."}',
        b'{"id": "b", "text": "caf\xe9"}',
        b'{"id": "c", "text": "Three."}',
    )
    content = b"\xef\xbb\xbf" + b"\n".join(rows)
    path = written(tmp_path, "a.jsonl", content)
    add_corpus(workspace, "made", path, skip_bad=True)
    found = [p for batch in open_corpus(workspace, "made").batches() for p in batch]
    assert [(p.source_id, p.text) for p in found] == [("a", "One two."), ("c", "Three.")]


def test_half_a_character_in_a_data_set_becomes_a_question_mark(tmp_path: Path, workspace: Workspace) -> None:
    row = b'{"id": "q\\ud800", "question": "Why \\udfff?", "perspectives": [{"text": "P\\ud83d", "explanation": "\\ud800"}]}'
    save_dataset(workspace, "made", read_dataset(written(tmp_path, "a.jsonl", row)).questions)
    (question,) = load_dataset(workspace, "made")
    assert (question.id, question.text, question.perspectives[0].text) == ("q?", "Why ??", "P?")
    assert read_json(written(tmp_path, "b.json", b'"\\ud83d\\ude00 \\ud83d"')) == "😀 ?"


def test_numbers_that_are_none_are_texts_of_an_id(tmp_path: Path) -> None:
    path = written(
        tmp_path, "a.jsonl", b'{"id": NaN, "title": Infinity, "text": "One."}\n{"id": -Infinity, "text": "Two."}\n'
    )
    found = [row for row in read_documents(path) if isinstance(row, Document)]
    assert [(d.source_id, d.title) for d in found] == [("nan", "inf"), ("-inf", "")]


def test_ids_that_look_alike_stay_two_and_equal_ones_are_reported(tmp_path: Path, workspace: Workspace) -> None:
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    rows = [{"id": name, "text": f"Text {n}."} for n, name in enumerate((composed, decomposed, composed))]
    path = written(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows)).encode())
    with pytest.raises(BadInputError, match="1 invalid row"):
        add_corpus(workspace, "made", path)
    add_corpus(workspace, "made", path, skip_bad=True)
    found = [p.source_id for batch in open_corpus(workspace, "made").batches() for p in batch]
    assert found == [composed, decomposed]


def test_an_archive_writes_nothing_and_reads_nothing_elsewhere(tmp_path: Path) -> None:
    secret = written(tmp_path, "secret.txt", b"A secret of this machine.")
    path = tmp_path / "in" / "a.tar"
    path.parent.mkdir()
    with tarfile.open(path, "w") as archive:
        content = b"Slipped."
        member = tarfile.TarInfo("../../slipped.txt")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
        for name, kind in (
            ("link.txt", tarfile.SYMTYPE),
            ("hard.txt", tarfile.LNKTYPE),
            ("device.txt", tarfile.CHRTYPE),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, str(secret)
            archive.addfile(member)
    texts = [row.text for row in read_documents(path) if isinstance(row, Document)]
    assert texts == ["Slipped."]
    assert not list(tmp_path.parent.rglob("slipped.txt"))


@pytest.mark.parametrize(
    "entity",
    [
        '<!ENTITY a "expanded"><!ENTITY e "&a;&a;&a;&a;&a;&a;&a;&a;">',
        '<!ENTITY e SYSTEM "file:///etc/passwd">',
        '<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;',
    ],
)
def test_entities_of_a_page_are_not_expanded(tmp_path: Path, entity: str) -> None:
    words = "Words of a page that a reader would call its text, &e; and more of them. " * 10
    html = f'<?xml version="1.0"?><!DOCTYPE r [{entity}]><html><body><article><p>{words}</p></article></body></html>'
    (found,) = read_documents(written(tmp_path, "a.html", html.encode()))
    assert isinstance(found, Document)
    assert "expanded" not in found.text
    assert "root:" not in found.text


def test_a_page_of_endless_nesting_is_a_bad_row(tmp_path: Path) -> None:
    assert reasons(written(tmp_path, "a.html", b"<div>" * 50_000)) == ["no readable text in this page"]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1\xff\xff\xff\x7fPAR1", b"\0" * 1000])
def test_a_parquet_file_that_is_none_is_reported(tmp_path: Path, content: bytes) -> None:
    path = written(tmp_path, "a.parquet", content)
    for read in (lambda p: list(read_documents(p)), lambda p: list(read_rows(p))):
        with pytest.raises(BadInputError, match="Not a valid Parquet file"):
            read(path)
