"""A backup taken while people judge loses nothing, restores to the same workspace, and is refused once it was changed."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from backup_writer import judge_on

from berdseye.annotation.backup.restoring import restore
from berdseye.annotation.backup.writing import back_up, left_out
from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch, list_batches
from berdseye.annotation.judgments.adjudication import adjudicate, adjudicated_labels
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.workspace import Workspace
from tests.annotation.made_pairs import record
from tests.killable import fork_server

EVENTS = 44
"""20 judgments each of two people, an undo, a withdrawal, a skip and an adjudication."""
TABLES = ("annotators", "pairs", "events", "batches", "batch_items", "batch_people", "batch_events", "sync_tasks")


def dump(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    with closing(sqlite3.connect(path)) as connection:
        names = [r[0] for r in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {n: sorted(connection.execute(f'SELECT * FROM "{n}"').fetchall(), key=repr) for n in names}


def triggers(path: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name").fetchall()


def people_work(url: str) -> Judgments:
    """Some of everything: judgments with hostile comments, changes, undoes, a batch, an adjudication."""
    judgments = Judgments.open(url)
    ana, bo = judgments.sign_in("Ana"), judgments.sign_in("Bo 'quoted\" ;-- é🧨")
    keys = judgments.add_pairs(record(n, question="<b>Why?</b>\n'; DROP TABLE events;--") for n in range(20))
    for n, key in enumerate(keys):
        judgments.judge(ana, key, "supports", source="annotate", comment=f"=1+1 {n}", seconds=1.5, shown=n % 2 == 0)
        judgments.judge(bo, key, "does not support" if n % 3 else "unsure", source="explore")
    judgments.undo(bo)
    judgments.withdraw(ana, keys[3], source="annotate")
    judgments.skip(bo, keys[4], source="annotate")
    create_batch(judgments, BatchPlan(name="first", per_pair=2), [Item(record(n)) for n in range(8)])
    adjudicate(judgments, judgments.sign_in("Eve"), keys[0], "supports", comment="I say so")
    return judgments


@pytest.fixture
def filled(workspace: Workspace) -> Workspace:
    people_work(workspace.judgments_url).engine.dispose()
    for name in (
        "datasets/d.parquet", "runs/r.json", "detectors/mine/card.json", "detectors/adopted.json", "thresholds/e.json",
        "labels/gold/d/1.parquet", "training_sets/judged-1/pairs.parquet", "studies/s/result.json", "answers/a.jsonl",
        "corpora/web/manifest.json", "downloads/x.json", "label_studio/credentials.json", "label_studio/ls.db",
        "jobs/0001/process.json", "jobs/0001/log.txt", "runs/.r.json.tmp", ".cache/x", "notes/=cmd|' /C calc'!A0",
    ):  # fmt: skip
        path = workspace.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode() * 50)
    generated = workspace.folder / "generated" / "completions.db"
    generated.parent.mkdir()
    with closing(sqlite3.connect(generated)) as connection:
        connection.executescript("PRAGMA journal_mode=WAL; CREATE TABLE paid (x); INSERT INTO paid VALUES (1)")
    (workspace.folder / "runs" / "elsewhere").symlink_to("/etc/passwd")
    return workspace


def test_what_is_restored_is_what_was_there(filled: Workspace, tmp_path: Path) -> None:
    before = dump(filled.folder / "judgments.db")
    manifest = back_up(filled, tmp_path / "it.zip")
    made, _ = restore(tmp_path / "it.zip", tmp_path / "again")
    assert dump(made.folder / "judgments.db") == before
    assert set(TABLES) <= set(before)
    assert manifest.events == len(before["events"]) == EVENTS
    assert triggers(made.folder / "judgments.db") == triggers(filled.folder / "judgments.db")
    there = {p.relative_to(made.folder).as_posix() for p in made.folder.rglob("*") if p.is_file()}
    assert there == {
        "berdseye.toml", "judgments.db", "datasets/d.parquet", "runs/r.json", "detectors/mine/card.json",
        "detectors/adopted.json", "thresholds/e.json", "labels/gold/d/1.parquet", "training_sets/judged-1/pairs.parquet",
        "studies/s/result.json", "answers/a.jsonl", "generated/completions.db", "notes/=cmd|' /C calc'!A0",
    }  # fmt: skip
    for name in there - {"berdseye.toml", "judgments.db", "generated/completions.db"}:
        assert (made.folder / name).read_bytes() == (filled.folder / name).read_bytes()
    assert dump(made.folder / "generated" / "completions.db") == {"paid": [(1,)]}
    assert set(left_out(filled, manifest)) == {"corpora", "downloads", "jobs", "label_studio"}


def test_corpora_come_along_where_they_are_asked_for(filled: Workspace, tmp_path: Path) -> None:
    manifest = back_up(filled, tmp_path / "it.zip", corpora=True)
    made, _ = restore(tmp_path / "it.zip", tmp_path / "again")
    assert made.corpora() == ["web"]
    assert set(left_out(filled, manifest)) == {"downloads", "jobs", "label_studio"}


def test_people_go_on_in_what_was_restored(filled: Workspace, tmp_path: Path) -> None:
    back_up(filled, tmp_path / "it.zip")
    made, _ = restore(tmp_path / "it.zip", tmp_path / "again")
    old, new = Judgments.open(filled.judgments_url), Judgments.open(made.judgments_url)
    assert new.frame().equals(old.frame())
    assert adjudicated_labels(new) == adjudicated_labels(old) == {record(0).key: "supports"}
    assert [b.name for b in list_batches(new)] == ["first"]
    events = new.version()
    new.judge(new.annotator("Ana"), record(7).key, "unsure", source="annotate")
    assert (new.version(), old.version()) == (events + 1, events), "two workspaces, two logs"
    assert new.undo(new.annotator("Ana")) == record(7).key


def test_nothing_is_overwritten(filled: Workspace, tmp_path: Path) -> None:
    back_up(filled, tmp_path / "it.zip")
    there = (tmp_path / "it.zip").read_bytes()
    with pytest.raises(BadInputError, match="already exists"):
        back_up(filled, tmp_path / "it.zip")
    with pytest.raises(BadInputError, match="is not empty"):
        restore(tmp_path / "it.zip", filled.folder)
    assert (tmp_path / "it.zip").read_bytes() == there
    (tmp_path / "empty").mkdir()
    assert restore(tmp_path / "it.zip", tmp_path / "empty")[0].folder == tmp_path / "empty"
    with pytest.raises(BadInputError, match=r"must be a \.zip file"):
        back_up(filled, tmp_path / "it.tar")


def test_a_password_in_the_settings_stays_out(workspace: Workspace, tmp_path: Path) -> None:
    database = tmp_path / "secret-place.db"
    (workspace.folder / "berdseye.toml").write_text(
        f'[judgments]\nurl = "sqlite:///{database}"\n[label_studio]\nproject = "Mine"\n'
    )
    held = Workspace.open(workspace.folder)
    people_work(held.judgments_url).engine.dispose()
    back_up(held, tmp_path / "it.zip")
    with zipfile.ZipFile(tmp_path / "it.zip") as archive:
        assert b"secret-place" not in b"".join(archive.read(n) for n in ("berdseye.toml", "manifest.json"))
    made, _ = restore(tmp_path / "it.zip", tmp_path / "again")
    assert made.settings["label_studio"]["project"] == "Mine"
    assert made.judgments_url == f"sqlite:///{made.folder / 'judgments.db'}"
    assert Judgments.open(made.judgments_url).version() == EVENTS


# While people judge --------------------------------------------------------------------------------------------------


def acknowledged(pipe: Connection, most: float) -> list[str]:
    """What stands on the pipe now."""
    text, until = b"", time.monotonic() + most
    while pipe.poll(0) and time.monotonic() < until:
        text += os.read(pipe.fileno(), 1 << 16)
    return text.decode().split()


def test_backups_taken_while_people_judge_hold_all_that_was_acknowledged(workspace: Workspace, tmp_path: Path) -> None:
    """Four people judge without a pause; each of five backups holds every judgment of before it began, and a whole log."""
    url = workspace.judgments_url
    keys = Judgments.open(url).add_pairs(record(n) for n in range(50))
    context = fork_server()
    pipes, people = [], []
    for n in range(4):
        reading, writing = context.Pipe(duplex=False)
        people.append(context.Process(target=judge_on, args=(url, f"Person {n}", keys, writing), daemon=True))
        people[-1].start()
        writing.close()
        pipes.append(reading)
    told: list[str] = []
    seen: list[list[str]] = []
    try:
        until = time.monotonic() + 60
        while len(told) < 20 and time.monotonic() < until:
            told += [uid for pipe in pipes for uid in acknowledged(pipe, 1)]
        for n in range(5):
            time.sleep(0.2)
            told += [uid for pipe in pipes for uid in acknowledged(pipe, 1)]
            before = set(told)
            back_up(workspace, tmp_path / f"{n}.zip")
            made, manifest = restore(tmp_path / f"{n}.zip", tmp_path / f"restored {n}")
            with closing(sqlite3.connect(made.folder / "judgments.db")) as copied:
                seen.append([row[0] for row in copied.execute("SELECT uid FROM events ORDER BY id")])
            assert before <= set(seen[-1])
            assert len(seen[-1]) == manifest.events
        assert all(person.is_alive() for person in people), "nobody was disturbed"
    finally:
        for pipe in pipes:
            pipe.close()
        for person in people:
            person.join(30)
    assert len(seen[-1]) > len(seen[0]) > 0, "they went on meanwhile"
    with closing(sqlite3.connect(workspace.folder / "judgments.db")) as live:
        log = [row[0] for row in live.execute("SELECT uid FROM events ORDER BY id")]
    assert all(log[: len(copied)] == copied for copied in seen), "each copy is the log as it was at one moment"
    assert set(told) <= set(log)


RESTORE = """
import sys
from pathlib import Path
from berdseye.annotation.backup.restoring import restore
restore(*map(Path, sys.argv[1:]))
"""


@pytest.mark.parametrize("number", range(3))
def test_a_killed_restore_leaves_the_whole_folder_or_none(filled: Workspace, tmp_path: Path, number: int) -> None:
    for n in range(200):
        (filled.folder / "runs" / f"more {n}.json").write_text("x" * 5_000)
    back_up(filled, tmp_path / "it.zip")
    target = tmp_path / "again"
    process = subprocess.Popen(
        [sys.executable, "-c", RESTORE, tmp_path / "it.zip", target], cwd=Path(__file__).parents[3]
    )
    until = time.monotonic() + 60
    while not list(tmp_path.glob(".again.*")) and process.poll() is None and time.monotonic() < until:
        time.sleep(0.002)
    time.sleep(0.03 * number)
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    if target.exists():
        assert dump(target / "judgments.db") == dump(filled.folder / "judgments.db")
        assert len(list((target / "runs").iterdir())) == 201
    else:
        assert restore(tmp_path / "it.zip", target)[1].events == EVENTS


# Backups that were changed -------------------------------------------------------------------------------------------


def rewritten(
    source: Path, target: Path, change: dict[str, bytes | None], more: dict[str, bytes] | None = None
) -> Path:
    """A copy of a zip with some files replaced (None: left out), and others added."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            if (content := change.get(name, old.read(name))) is not None:
                new.writestr(name, content)
        for name, content in (more or {}).items():
            new.writestr(name, content)
    return target


def manifest_with(path: Path, name: str, content: bytes) -> bytes:
    import hashlib

    with zipfile.ZipFile(path) as archive:
        held = json.loads(archive.read("manifest.json"))
    held["files"][name] = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
    return json.dumps(held).encode()


@pytest.fixture
def kept(filled: Workspace, tmp_path: Path) -> Iterator[Path]:
    """A good backup; afterwards nothing may have been written beside it."""
    back_up(filled, tmp_path / "good.zip")
    yield tmp_path / "good.zip"
    assert not list(tmp_path.glob("*.restoring")) + list(tmp_path.glob(".*.restoring"))
    assert not (tmp_path / "again").exists()
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    ("change", "more", "told"),
    [
        ({"runs/r.json": b"other"}, {}, "'runs/r.json' does not match its checksum"),
        ({"judgments.db": b"other"}, {}, "'judgments.db' does not match its checksum"),
        ({"runs/r.json": None}, {}, "not those of its manifest"),
        ({}, {"runs/s.json": b"more"}, "not those of its manifest"),
        ({"manifest.json": None}, {}, "no manifest"),
        ({"manifest.json": b"[]"}, {}, "cannot be unpacked"),
        ({"manifest.json": b"{"}, {}, "cannot be unpacked"),
        ({"manifest.json": b'{"format": 99}'}, {}, "has format 99"),
    ],
)
def test_a_changed_backup_is_refused(
    kept: Path, tmp_path: Path, change: dict[str, bytes | None], more: dict[str, bytes], told: str
) -> None:
    with pytest.raises(BadInputError, match=told):
        restore(rewritten(kept, tmp_path / "bad.zip", change, more), tmp_path / "again")


@pytest.mark.parametrize(
    "name", ["../evil", "/evil", "runs/../../evil", "runs//evil", "a\\..\\evil", "./evil", "x\x00y"]
)
def test_names_that_point_elsewhere_are_refused(kept: Path, tmp_path: Path, name: str) -> None:
    manifest = manifest_with(kept, name, b"bad")
    bad = rewritten(kept, tmp_path / "bad.zip", {"manifest.json": manifest}, {name: b"bad"})
    with pytest.raises(BadInputError, match=r"bad\.zip: "):
        restore(bad, tmp_path / "again")


def test_damaged_judgments_and_files_are_refused(kept: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(kept) as archive:
        database = bytearray(archive.read("judgments.db"))
    database[4096 * 3 : 4096 * 6] = b"\xff" * (4096 * 3)
    manifest = manifest_with(kept, "judgments.db", bytes(database))
    bad = rewritten(kept, tmp_path / "bad.zip", {"manifest.json": manifest, "judgments.db": bytes(database)})
    with pytest.raises((BadInputError, UnavailableError), match=r"damaged|malformed|cannot be opened"):
        restore(bad, tmp_path / "again")
    (tmp_path / "cut.zip").write_bytes(kept.read_bytes()[:-3000])
    with pytest.raises(BadInputError, match="cannot be unpacked"):
        restore(tmp_path / "cut.zip", tmp_path / "again")
    flipped = bytearray(kept.read_bytes())
    flipped[len(flipped) // 3] ^= 0xFF
    (tmp_path / "flipped.zip").write_bytes(flipped)
    with pytest.raises(BadInputError, match=r"flipped\.zip: .*(unpacked|checksum)"):
        restore(tmp_path / "flipped.zip", tmp_path / "again")
    with pytest.raises(BadInputError, match="does not exist"):
        restore(tmp_path / "none.zip", tmp_path / "again")


# PostgreSQL ----------------------------------------------------------------------------------------------------------


@pytest.mark.postgres
def test_judgments_come_from_postgresql_and_go_back_to_it(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new_postgres: Callable[[], str]
) -> None:
    team, fresh = new_postgres(), new_postgres()
    monkeypatch.setenv("BERDSEYE_JUDGMENTS_URL", team)
    old = people_work(workspace.judgments_url)
    manifest = back_up(workspace, tmp_path / "it.zip")
    assert (manifest.judgments_from, manifest.events) == ("postgresql", EVENTS)
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL")
    local, _ = restore(tmp_path / "it.zip", tmp_path / "local")
    here = Judgments.open(local.judgments_url)
    assert here.frame().equals(old.frame())
    remote, _ = restore(tmp_path / "it.zip", tmp_path / "remote", judgments_url=fresh)
    assert remote.judgments_url == fresh
    assert not (remote.folder / "judgments.db").exists()
    there = Judgments.open(remote.judgments_url)
    for key in (record(n).key for n in range(20)):
        assert there.history(key) == old.history(key) == here.history(key)
    assert [b.name for b in list_batches(there)] == ["first"]
    for restored in (there, here):
        restored.judge(restored.annotator("Ana"), record(9).key, "unsure", source="annotate")
        assert restored.version() == EVENTS + 1
    with pytest.raises(BadInputError, match="is not empty"):
        restore(tmp_path / "it.zip", tmp_path / "twice", judgments_url=fresh)
    assert not (tmp_path / "twice").exists()
    for held in (old, here, there):
        held.engine.dispose()
