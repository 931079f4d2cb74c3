"""Downloads against a server on this machine: hashes, broken transfers, retries."""

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from home_server import Home, home

from berdseye.data.datasets.fetching import download, recorded
from berdseye.data.datasets.published import RemoteFile
from berdseye.data.errors import BadInputError, UnavailableError

CONTENT = b'{"question": "Why?"}\n' * 5000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setattr(time, "sleep", lambda _: None)  # between tries
    with home() as held:
        held.files["/set.jsonl"] = CONTENT
        yield held


def remote(server: Home, sha256: str = "") -> RemoteFile:
    return RemoteFile("deep/set.jsonl", f"{server.address}/set.jsonl", sha256)


def left(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_a_file_of_known_hash(server: Home, tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    file = remote(server, SHA256)
    record = tmp_path / "hashes.json"
    assert download(file, tmp_path, record, lambda done, _, total=None: told.append((done, total))) == SHA256
    assert (tmp_path / "deep" / "set.jsonl").read_bytes() == CONTENT
    assert not record.exists()
    assert told[-1] == (len(CONTENT), len(CONTENT))
    download(file, tmp_path, record)
    assert server.asked == ["/set.jsonl"], "what is there and right is not downloaded again"


def test_another_file_than_the_known_one_is_refused(server: Home, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="another SHA-256 than the one published"):
        download(remote(server, "0" * 64), tmp_path, tmp_path / "hashes.json")
    assert left(tmp_path) == []
    assert len(server.asked) == 3


def test_an_unknown_hash_is_recorded_and_must_come_again(server: Home, tmp_path: Path) -> None:
    file, record = remote(server), tmp_path / "hashes.json"
    assert download(file, tmp_path, record) == SHA256
    assert recorded(record) == {file.url: SHA256}
    (tmp_path / "deep" / "set.jsonl").unlink()
    assert download(file, tmp_path, record) == SHA256
    (tmp_path / "deep" / "set.jsonl").unlink()
    server.files["/set.jsonl"] = CONTENT + b"\n"
    with pytest.raises(BadInputError, match=r"recorded in .*hashes\.json"):
        download(file, tmp_path, record)
    assert left(tmp_path) == ["hashes.json"]
    assert recorded(record) == {file.url: SHA256}


def test_a_transfer_that_breaks_off_is_tried_again(server: Home, tmp_path: Path) -> None:
    server.cut = 1
    assert download(remote(server), tmp_path, tmp_path / "hashes.json") == SHA256
    assert len(server.asked) == 2


def test_a_transfer_that_keeps_breaking_off_is_reported(server: Home, tmp_path: Path) -> None:
    server.cut = 9
    with pytest.raises(UnavailableError, match=r"The download failed: ChunkedEncodingError.*--from DIR"):
        download(remote(server), tmp_path, tmp_path / "hashes.json")
    assert left(tmp_path) == [], "half a file of unknown hash must not be believed"


def test_a_home_that_fails_for_a_while(server: Home, tmp_path: Path) -> None:
    server.failures = 2
    assert download(remote(server), tmp_path, tmp_path / "hashes.json") == SHA256
    assert len(server.asked) == 3


def test_a_file_that_is_not_there_is_reported_with_its_address(server: Home, tmp_path: Path) -> None:
    file = RemoteFile("x", f"{server.address}/none")
    with pytest.raises(UnavailableError, match=rf"{server.address}/none: The download failed: 404 Not Found"):
        download(file, tmp_path, tmp_path / "hashes.json")


def test_a_file_that_was_changed_on_disk_is_fetched_again(server: Home, tmp_path: Path) -> None:
    file, record = remote(server), tmp_path / "hashes.json"
    download(file, tmp_path, record)
    (tmp_path / "deep" / "set.jsonl").write_text("edited")
    assert download(file, tmp_path, record) == SHA256
    assert json.loads(record.read_text()) == {file.url: SHA256}
