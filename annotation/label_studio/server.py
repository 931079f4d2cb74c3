"""The workspace's own Label Studio server, and its secrets: headless, on this machine only, with sign-up closed.

Its data, log, credentials and address (`server.json`) are in one folder, so that every process that knows the workspace finds
it. Starting it again keeps everything. The admin's credentials, created once, and the passwords of people's accounts are in
two files that only their owner can read, in a folder that no backup and no bundle includes; they are stored nowhere else.
"""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from filelock import FileLock

from berdseye.data.errors import BadInputError, BerdseyeError, UnavailableError
from berdseye.data.extras import require
from berdseye.data.files.atomic import write_json
from berdseye.data.files.processes import end_group, runs_command

ADMIN_EMAIL = "admin@berdseye.local"
"""The account that Berdseye itself uses on its own server; nobody should judge with it."""
_FILE = "credentials.json"
_PASSWORDS = "accounts.json"
HOST = "127.0.0.1"
DEFAULT_PORT = 8080
_COMMAND = "label-studio"
_TAIL_LINES = 12
_LOG_BYTES = 20_000_000
_GRACE_SECONDS = 8.0


class Password(NamedTuple):
    """The password of one account, which `user` and `joined` identify: an emptied server numbers its users from the start."""

    password: str
    user: int
    joined: str


class Credentials(NamedTuple):
    """The admin's credentials: e-mail and password for a browser, the token for a program."""

    email: str
    password: str
    token: str


def read_credentials(folder: Path) -> Credentials:
    """Read the credentials in `folder`; raises `UnavailableError` for no file, `BadInputError` for a damaged one."""
    path = folder / _FILE
    try:
        return Credentials(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise UnavailableError(
            "No credentials of a Label Studio server were found.",
            where=path,
            hint="Start Label Studio first: `berdseye label-studio`.",
        ) from error
    except (ValueError, TypeError) as error:
        raise BadInputError(
            "The credentials file of Label Studio is damaged.",
            where=path,
            hint="Restore the file: the data of Label Studio cannot be opened without it.",
        ) from error


def make_credentials(folder: Path) -> Credentials:
    """Return the credentials in `folder`; the first call creates the file, with mode 0600 from the first byte on."""
    path = folder / _FILE
    if path.exists():
        return read_credentials(folder)
    credentials = Credentials(ADMIN_EMAIL, secrets.token_urlsafe(18), secrets.token_hex(20))
    _write_secret(path, credentials._asdict())
    return credentials


def read_passwords(folder: Path) -> dict[str, Password]:
    """Read the passwords of people's accounts in `folder`, by e-mail address; raises `BadInputError` for a damaged file."""
    path = folder / _PASSWORDS
    try:
        return {email: Password(**fields) for email, fields in json.loads(path.read_text(encoding="utf-8")).items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError) as error:
        raise BadInputError(
            "The file with the passwords of Label Studio accounts is damaged.",
            where=path,
            hint="Delete it, then set new passwords with `berdseye label-studio account NAME --reset`.",
        ) from error


def write_passwords(folder: Path, passwords: Mapping[str, Password]) -> None:
    """Replace the passwords in `folder`; the file has mode 0600 from the first byte on."""
    _write_secret(folder / _PASSWORDS, {email: password._asdict() for email, password in passwords.items()})


def _write_secret(path: Path, value: Any) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(value, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@dataclass(frozen=True)
class Server:
    """A server that was started in `folder` by this or another process."""

    folder: Path
    url: str
    pid: int

    @property
    def token(self) -> str:
        return self.credentials.token

    @property
    def credentials(self) -> Credentials:
        return read_credentials(self.folder)

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    def alive(self) -> bool:
        """Return whether its process is still running."""
        return runs_command(self.pid, _COMMAND)

    def answers(self) -> bool:
        """Return whether it answers; takes one request and two seconds at most."""
        try:
            # Reading the certificates takes a tenth of a second, and plain HTTP on this machine has none.
            with httpx.Client(trust_env=False, timeout=2, verify=False) as http:
                return http.get(f"{self.url}/health").status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False

    def ready(self, seconds: float = 120) -> "Server":
        """Wait until it answers; returns itself. Raises `UnavailableError` if it stops or takes longer than `seconds`."""
        until = time.monotonic() + seconds
        while True:
            if not self.alive():
                raise UnavailableError(f"Label Studio stopped during its start. {self.tail()}", where=self.log)
            if self.answers():
                break
            if time.monotonic() > until:
                raise UnavailableError(
                    f"Label Studio did not answer within {seconds:.0f} s. {self.tail()}",
                    where=self.log,
                    hint="The first start takes longest: wait a minute and try again.",
                )
            time.sleep(0.2)
        self._check_token()
        return self

    def stop(self) -> None:
        """End its process group: first with a request to stop, then by force."""
        if self.alive():
            end_group(self.pid, grace=_GRACE_SECONDS, word=_COMMAND)
        # Another server may have been started in the folder meanwhile.
        if running(self.folder) is None:
            _address(self.folder).unlink(missing_ok=True)

    def tail(self) -> str:
        """Return the last lines of its log."""
        try:
            lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return "There is no log."
        return "The log ends: " + " | ".join(line.strip() for line in lines[-_TAIL_LINES:])

    def _check_token(self) -> None:
        # Label Studio moves to the next port if another program takes this one between the check and the start.
        with httpx.Client(trust_env=False, timeout=30) as http:
            answer = http.get(f"{self.url}/api/current-user/whoami", headers={"Authorization": f"Token {self.token}"})
        if answer.status_code != httpx.codes.OK:
            raise UnavailableError(
                f"The server at {self.url} does not accept the token of this workspace (status {answer.status_code}).",
                where=self.folder / "credentials.json",
                hint="Another program may have taken the port, or the credentials file was replaced.",
            )


def running(folder: Path) -> Server | None:
    """Return the server started in `folder` if its process is alive (it may still be starting), otherwise None."""
    try:
        address = json.loads(_address(folder).read_text(encoding="utf-8"))
        server = Server(folder, str(address["url"]), int(address["pid"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    return server if server.alive() else None


def start(folder: Path, port: int = DEFAULT_PORT) -> Server:
    """Start Label Studio in `folder` on a port (0: any free one), or return the server that runs there.

    Returns at once; `ready()` waits. Raises `BadInputError` if the port is taken, `UnavailableError` if Label Studio is not
    installed.
    """
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with FileLock(folder / "start.lock"):
        if (server := running(folder)) is not None:
            return server
        port = _free_port(port)
        credentials = make_credentials(folder)
        server = Server(folder, f"http://{HOST}:{port}", _launch(folder, port, credentials))
        write_json(_address(folder), {"url": server.url, "pid": server.pid})
    return server


def _launch(folder: Path, port: int, credentials: Credentials) -> int:
    beside = Path(sys.executable).with_name(_COMMAND)
    program = str(beside) if beside.exists() else shutil.which(_COMMAND)
    if program is None:
        require("The server", "label_studio")
        raise UnavailableError(
            "Label Studio is installed, but its command is not on the PATH.",
            hint="Add the folder of `label-studio` to the PATH, or install Berdseye in an environment of its own.",
        )
    command = [program, "start", "--no-browser", "--internal-host", HOST, "--port", str(port)]
    _shorten(folder / "server.log")
    log = os.open(folder / "server.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        # A session of its own: the server outlives the command that started it, and is ended as one process group.
        process = subprocess.Popen(
            command, cwd=folder, env=_environment(folder, credentials), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
    except OSError as error:
        raise BerdseyeError(f"Label Studio could not be started: {error}.", where=program) from error
    finally:
        os.close(log)
    return process.pid


def _environment(folder: Path, credentials: Credentials) -> dict[str, str]:
    closed = {
        "BASE_DATA_DIR": str(folder / "data"),
        "USERNAME": credentials.email,
        "PASSWORD": credentials.password,
        "USER_TOKEN": credentials.token,
        "ENABLE_LEGACY_API_TOKEN": "true",
        "DISABLE_SIGNUP_WITHOUT_LINK": "true",
        # Other host names are refused, so that no web page can reach the server by pointing its own name here.
        "ALLOWED_HOSTS": f"{HOST},localhost",
        # Label Studio also reads HOST without a prefix, which shells set to the machine's name.
        "HOST": "",
        "LOG_LEVEL": "WARNING",
        "LATEST_VERSION_CHECK": "false",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
        "COLLECT_ANALYTICS": "false",
    }
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("BERDSEYE_")}
    unprefixed = ("LATEST_VERSION_CHECK", "SENTRY_DSN", "FRONTEND_SENTRY_DSN", "COLLECT_ANALYTICS")
    return {
        **inherited,
        **{f"LABEL_STUDIO_{name}": value for name, value in closed.items()},
        **{name: closed[name] for name in unprefixed},
        "PYTHONUNBUFFERED": "1",
    }


def _shorten(log: Path) -> None:
    # The development server logs a line per request: a long log is set aside, and the previous one deleted.
    if log.exists() and log.stat().st_size > _LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))


def _free_port(port: int) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            raise BadInputError(
                f"Port {port} cannot be used: {error}.",
                hint="Choose another one with `--port N`, or any free one with `--port 0`.",
            ) from error
        return int(probe.getsockname()[1])


def _address(folder: Path) -> Path:
    return folder / "server.json"
