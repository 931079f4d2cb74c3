"""A throw-away PostgreSQL server on a free loopback port, from the binaries of Debian's `postgresql` package."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_USER = "postgres"


def binaries() -> Path | None:
    """The folder of the newest PostgreSQL that is installed."""
    found = [p.parent for p in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(found, key=lambda folder: float(folder.parent.name), default=None)


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Start a server from the binaries in `folder`; yields its URL without a database name."""
    # Not in pytest's folder: root's temporary folders are closed to the user that PostgreSQL has to run as.
    home = Path(tempfile.mkdtemp(prefix="berdseye-postgres-"))
    port = _free_port()
    try:
        if os.geteuid() == 0:
            shutil.chown(home, _USER)
        _run(folder / "initdb", "-D", home / "data", "-U", _USER, "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-h 127.0.0.1 -p {port} -k {home} -c fsync=off"
        _run(folder / "pg_ctl", "-D", home / "data", "-l", home / "log", "-o", options, "-w", "-t", "60", "start")
        try:
            yield f"postgresql://{_USER}@127.0.0.1:{port}"
        finally:
            _run(folder / "pg_ctl", "-D", home / "data", "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _run(*command: str | Path) -> None:
    as_user = ["runuser", "-u", _USER, "--"] if os.geteuid() == 0 else []
    # No pipes: the server would keep them open after pg_ctl has ended.
    subprocess.run([*as_user, *map(str, command)], check=True, stdout=subprocess.DEVNULL, cwd="/", timeout=120)


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])
