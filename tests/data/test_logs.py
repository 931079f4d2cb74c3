"""The log of a workspace: a line for each event, shared by processes, rotated, and without secrets."""

import logging
import multiprocessing
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from berdseye.data import logs
from berdseye.data.errors import BadInputError
from berdseye.data.logs import log_to, logged, name_person, without_secrets

LOG = logging.getLogger("berdseye.tests.logs")
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\t(INFO|WARNING|ERROR)\t([^\t]+)\ttests\.logs\t(.*)")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """The log file of a workspace that this process writes to."""
    ours = logging.getLogger("berdseye")
    before, level = list(ours.handlers), ours.level
    log_to(tmp_path)
    name_person("Ana")
    yield tmp_path / "logs" / "berdseye.log"
    name_person("")
    ours.handlers[:] = before
    ours.setLevel(level)


def lines(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Authorization: Token sesame-1", "Authorization: ***"),
        ("{'Authorization': 'Bearer sesame-1', 'Accept': 'json'}", "{'Authorization': '***', 'Accept': 'json'}"),
        ("sent with bearer sesame-1.", "sent with bearer ***"),
        ("postgresql://ana:sesame-1@db.example/x", "postgresql://***@db.example/x"),
        ("http://sesame-1@host/", "http://***@host/"),
        ("https://host/?token=sesame-1&k=5", "https://host/?token=***&k=5"),
        ('{"password": "sesame-1"}', '{"password": "***"}'),
        ("client_secret=sesame-1", "client_secret=***"),
        ("the key is opensesame", "the key is ***"),
        ("run dataset='debate' k=5: done, 1.2 s", "run dataset='debate' k=5: done, 1.2 s"),
        ("see https://host/a@b and a token of text", "see https://host/a@b and a token of text"),
    ],
)
def test_secrets_are_replaced(text: str, kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "opensesame")
    assert without_secrets(text) == kept
    assert "sesame" not in without_secrets(text)


@pytest.mark.parametrize("name", ["BERDSEYE_LABEL_STUDIO_TOKEN", "SERPER_API_KEY", "BERDSEYE_X_PASSWORD"])
def test_no_secret_of_the_environment_is_in_a_traceback(log: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "opensesame")
    with pytest.raises(ValueError, match="opensesame"), logged(LOG, "run"):
        raise ValueError("refused: opensesame")
    text = log.read_text(encoding="utf-8")
    assert "ValueError: refused: ***" in text
    assert "Traceback" in text
    assert "opensesame" not in text


def test_an_event_is_one_line_with_its_person_its_end_and_its_seconds(log: Path) -> None:
    with logged(LOG, "run k=5"):
        pass
    with pytest.raises(BadInputError), logged(LOG, "evaluate"):
        raise BadInputError("No such run.\nforged\tline\u2028end")
    with pytest.raises(SystemExit), logged(LOG, "doctor"):
        raise SystemExit(1)
    found = [LINE.fullmatch(line) for line in lines(log)]
    assert [match and match.group(1, 2) for match in found] == [("INFO", "Ana"), ("WARNING", "Ana"), ("INFO", "Ana")]
    said = [match[3] for match in found if match]
    assert re.fullmatch(r"run k=5: done, \d+\.\d s", said[0])
    assert said[1].startswith("evaluate: refused (BadInputError: No such run.\\nforged\\tline\\u2028end), ")
    assert said[2].startswith("doctor: ended with status 1, ")


def test_it_is_for_its_owner_alone(log: Path) -> None:
    LOG.info("something")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_five_files_of_a_megabyte_are_kept(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (logs._BYTES, logs._FILES) == (1_000_000, 5)
    (handler,) = (h for h in logging.getLogger("berdseye").handlers if isinstance(h, logs._SharedFile))
    monkeypatch.setattr(handler, "maxBytes", 300)
    for number in range(60):
        LOG.info("event %d", number)
    files = sorted(path.name for path in log.parent.glob("berdseye.log*"))
    assert files == ["berdseye.log", *(f"berdseye.log.{n}" for n in range(1, 5))]
    assert all(path.stat().st_size <= 300 for path in log.parent.glob("berdseye.log*"))
    assert "event 59" in lines(log)[-1]


def _write(folder: str, who: int) -> None:
    log_to(Path(folder))
    for handler in logging.getLogger("berdseye").handlers:
        if isinstance(handler, logs._SharedFile):
            handler.maxBytes = 5_000
    for number in range(40):
        LOG.info("process %d event %d", who, number)


def test_processes_that_write_at_once_lose_no_line_where_the_file_is_full(tmp_path: Path) -> None:
    fork = multiprocessing.get_context("fork")
    writers = [fork.Process(target=_write, args=(str(tmp_path), who)) for who in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    said = [line.split("\t")[4] for path in (tmp_path / "logs").glob("berdseye.log*") for line in lines(path)]
    assert sorted(said) == sorted(f"process {who} event {number}" for who in range(3) for number in range(40))


def test_a_log_that_cannot_be_written_stops_no_work(log: Path) -> None:
    log.parent.rmdir() if log.parent.exists() else None
    log.parent.write_text("a file where the folder should be")
    with logged(LOG, "run"):
        os.getpid()
    assert log.parent.is_file()
