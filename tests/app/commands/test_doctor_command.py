"""`berdseye doctor`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from berdseye.annotation.backup.restoring import restore
from berdseye.annotation.backup.writing import back_up
from berdseye.app.cli import cli
from berdseye.app.jobs.examining import compare_files, stored_sets
from berdseye.data.workspace import Workspace
from tests.retrieval.damages import make, sets, use


@pytest.fixture
def stored(workspace: Workspace) -> Workspace:
    make(workspace, 0)
    return workspace


def doctor(workspace: Workspace, *options: str) -> tuple[int, dict[str, object]]:
    """The exit status, and what is told as JSON."""
    result = CliRunner().invoke(cli, ["doctor", "--json", *options, "--workspace", str(workspace.folder)])
    assert result.exit_code in (0, 1), result.output
    return result.exit_code, json.loads(result.stdout)


def test_every_stored_file_is_looked_at(stored: Workspace) -> None:
    status, told = doctor(stored)
    assert (status, told["sound"], told["damaged"], told["unexpected"], told["unrecorded"]) == (0, True, [], [], [])
    held = list(stored_sets(stored))
    assert {h.record for h in held} == {h.record for h in sets(stored).values()}
    assert told["sets"] == len(held)
    assert told["files"] == sum(len(h.present()) for h in held)


def test_damaged_missing_and_unexpected_files_are_reported_with_what_to_do(stored: Workspace) -> None:
    index = stored.folder / "corpora/c/indexes/lexical(english)"
    docs = bytearray((index / "postings.docs").read_bytes())
    docs[5] ^= 4
    (index / "postings.docs").write_bytes(docs)
    stored.dataset_file("d").unlink()
    (stored.runs_folder / "notes.txt").write_text("mine")
    (index / "more.bin").write_bytes(b"1")
    status, told = doctor(stored)
    assert (status, told["sound"]) == (1, False)
    assert isinstance(told["damaged"], list)
    assert [(f["file"], f["what"]) for f in told["damaged"]] == [
        ("corpora/c/indexes/lexical(english)/postings.docs", "The file is damaged: its checksum has changed."),
        ("datasets/d.parquet", "The file is missing."),
    ]
    assert "`berdseye index c --pipeline bm25 --rebuild`" in told["damaged"][0]["remedy"]
    assert "`berdseye dataset add d FILE --replace`" in told["damaged"][1]["remedy"]
    assert isinstance(told["unexpected"], list)
    assert [f["file"] for f in told["unexpected"]] == ["corpora/c/indexes/lexical(english)/more.bin", "runs/notes.txt"]


def test_findings_are_printed_and_the_rebuild_command_works(stored: Workspace) -> None:
    (stored.folder / "corpora/c/indexes/lexical(english)/terms.ends").write_bytes(b"")
    place = ("--workspace", str(stored.folder))
    result = CliRunner().invoke(cli, ["doctor", *place])
    assert result.exit_code == 1
    (line,) = result.stdout.splitlines()
    assert line.startswith("damaged\tcorpora/c/indexes/lexical(english)/terms.ends: The file is damaged: only 0 of its")
    command = line.partition("`berdseye ")[2].partition("`")[0].split()
    assert CliRunner().invoke(cli, [*command, *place]).exit_code == 0
    assert CliRunner().invoke(cli, ["doctor", *place]).exit_code == 0


def test_an_older_workspace_is_offered_a_record(stored: Workspace) -> None:
    held = list(stored_sets(stored))
    for one in held:
        one.record.unlink()
    status, told = doctor(stored)
    assert (status, told["damaged"], told["recorded"]) == (0, [], [])
    assert isinstance(told["unrecorded"], list)
    assert len(told["unrecorded"]) == len(held)
    status, told = doctor(stored, "--record")
    assert status == 0
    assert isinstance(told["recorded"], list)
    assert len(told["recorded"]) == len(held)
    assert doctor(stored)[1]["unrecorded"] == []


def test_an_older_version_of_a_damaged_file_is_not_recorded_over(stored: Workspace) -> None:
    stored.dataset_file("d").write_bytes(b"not what it was")
    assert doctor(stored, "--record")[0] == 1
    assert doctor(stored)[0] == 1


def test_faults_of_the_judgments_are_in_the_report(stored: Workspace) -> None:
    assert doctor(stored)[1]["judgments"] == []
    assert not (stored.folder / "judgments.db").exists()
    (stored.folder / "judgments.db").write_bytes(b"no database at all, " * 100)
    status, told = doctor(stored)
    assert status == 1
    assert told["judgments"]


def test_a_backup_keeps_the_checksums(stored: Workspace, tmp_path: Path) -> None:
    sound = {kind: use(stored, kind) for kind in sets(stored)}
    back_up(stored, tmp_path / "b.zip", corpora=True)
    restored, _ = restore(tmp_path / "b.zip", tmp_path / "restored")
    found = compare_files(restored)
    assert (found.damaged, found.unexpected, found.unrecorded) == ([], [], [])
    assert found.sets == len(sound)
    assert {kind: use(restored, kind) for kind in sound} == sound
