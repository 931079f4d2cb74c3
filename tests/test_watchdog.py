"""A test run that is killed takes along what it had started."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.annotation.postgres_server import binaries
from tests.watchdog import LOOKS_EVERY, VARIABLE, marked

ROOT = Path(__file__).parents[1]
CONFTEST = """
from tests.watchdog import watch_over_this_process

def pytest_configure():
    watch_over_this_process()
"""
TEST = """
import subprocess, sys, time
from pathlib import Path
import psutil

def waits(*pids):
    Path("part").write_text(" ".join(map(str, pids)))
    Path("part").rename("started")
    time.sleep(120)

def test_it_waits():
"""
SLEEP = """
    sleep = [sys.executable, "-c", "import time; time.sleep(120)"]
    waits(subprocess.Popen(sleep, start_new_session=True).pid)
"""
LABEL_STUDIO = """
    from berdseye.annotation.label_studio.server import start
    waits(start(Path("label_studio"), 0).pid)
"""
POSTGRES = """
    from tests.annotation.postgres_server import binaries, running
    with running(binaries()) as url:
        port = int(url.rpartition(":")[2])
        (server,) = {c.pid for c in psutil.net_connections("tcp4") if c.status == "LISTEN" and c.laddr.port == port}
        waits(server, *(child.pid for child in psutil.Process(server).children(recursive=True)))
"""
CHROMIUM = """
    from tests.browser.served import chromium
    with chromium():
        waits(*(child.pid for child in psutil.Process().children(recursive=True) if "watchdog" not in str(child.cmdline())))
"""
RAY = """
    import ray
    local = {"address": "local", "num_cpus": 1, "include_dashboard": False, "_temp_dir": "/tmp/ray"}
    ray.init(**local, log_to_driver=False, logging_level="ERROR")
    waits(*(child.pid for child in psutil.Process().children(recursive=True) if "watchdog" not in str(child.cmdline())))
"""
WITHIN_SECONDS = 20.0
needs_postgres = pytest.mark.skipif(binaries() is None, reason="PostgreSQL is not installed")


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(SLEEP, id="a session of its own"),
        pytest.param(LABEL_STUDIO, id="Label Studio", marks=pytest.mark.label_studio),
        pytest.param(POSTGRES, id="PostgreSQL", marks=[pytest.mark.postgres, needs_postgres]),
        pytest.param(CHROMIUM, id="Chromium", marks=pytest.mark.browser),
        pytest.param(RAY, id="Ray", marks=pytest.mark.full),
    ],
)
def test_a_server_is_gone_seconds_after_its_run_was_killed(start: str, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_waiting.py").write_text(TEST + start)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    with (tmp_path / "log").open("wb") as log:
        run = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=log)
    try:
        until = time.monotonic() + 180
        while not (tmp_path / "started").exists():
            assert run.poll() is None, (tmp_path / "log").read_text()
            assert time.monotonic() < until, (tmp_path / "log").read_text()
            time.sleep(0.05)
        servers = [psutil.Process(int(pid)) for pid in (tmp_path / "started").read_text().split()]
        assert servers
        assert all(map(living, servers))
        time.sleep(8 * LOOKS_EVERY)
    finally:
        run.kill()
        run.wait()
    until = time.monotonic() + WITHIN_SECONDS
    while any(map(living, servers)):
        assert time.monotonic() < until, [server for server in servers if living(server)]
        time.sleep(0.05)


def living(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_this_run_is_watched() -> None:
    mark = os.environ[VARIABLE].split()[-1]
    watchdogs = [p for p in psutil.process_iter() if living(p) and p.cmdline()[-1:] == [mark]]
    assert [watchdog.ppid() for watchdog in watchdogs] == [os.getpid()]


def test_marked_processes_are_found_with_what_they_started() -> None:
    sleep = "import time; time.sleep(60)"
    inner = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {sleep!r}], env={{}})"
    environment = {**os.environ, VARIABLE: "a mark"}
    with subprocess.Popen([sys.executable, "-c", inner], env=environment) as outer:
        until = time.monotonic() + 20
        while len(found := marked("a mark")) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        for process in found:
            process.kill()
    assert outer.pid in {process.pid for process in found}
    assert len(found) == 2
