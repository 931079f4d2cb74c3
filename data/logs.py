"""The log of a workspace: what was done, by whom, how long it took, and what went wrong.

`logs/berdseye.log` below the workspace has one line for each event: time, level, person, module and message, separated by tabs;
a traceback follows its line, indented. Five files of 1 MB are kept. Modules write with `logging.getLogger(__name__)`. They log
names and counts, never texts of passages, questions or judgments.
"""

import logging
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from logging.handlers import RotatingFileHandler
from pathlib import Path

from filelock import FileLock

from berdseye.data.errors import BerdseyeError

FILE = "logs/berdseye.log"
_BYTES = 1_000_000
_FILES = 5
_OURS = logging.getLogger("berdseye")
_OURS.addHandler(logging.NullHandler())  # a program that uses Berdseye as a library decides itself what it shows
_PERSON: ContextVar[str] = ContextVar("person whom log lines name", default="")
_SECRET_NAME = re.compile(r"(TOKEN|_KEY|PASSWORD|SECRET)S?$")
_SHORTEST_SECRET = 4
_HIDDEN = "***"
_FORMS = (
    (
        re.compile(r"(?i)(\bauthorization[\"']?\s*[:=]\s*[\"']?)(?:(?:bearer|token|basic)\s+)?[^\s\"',;}]+"),
        rf"\1{_HIDDEN}",
    ),
    (re.compile(r"(?i)(\bbearer\s+)[\w.~+/=-]+"), rf"\1{_HIDDEN}"),
    (re.compile(r"(\b[a-zA-Z][\w+.-]*://)[^\s/@]+@"), rf"\1{_HIDDEN}@"),
    (
        re.compile(r"(?i)(\b[\w-]*(?:token|password|secret|api[_-]?key)[\"']?\s*[:=]\s*[\"']?)[^\s\"',;&}]+"),
        rf"\1{_HIDDEN}",
    ),
)


def without_secrets(text: str) -> str:
    """The text with `***` for tokens, passwords and keys: values of environment variables with such names, Authorization headers,
    credentials in URLs, and what follows a name such as `token=`."""
    for name, value in os.environ.items():
        if _SECRET_NAME.search(name.upper()) and len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, _HIDDEN)
    for form, hidden in _FORMS:
        text = form.sub(hidden, text)
    return text


class _Line(logging.Formatter):
    """One line for each event, without secrets. A text cannot forge another line."""

    def format(self, record: logging.LogRecord) -> str:
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        module = record.name.removeprefix("berdseye.")
        fields = (at, record.levelname, _PERSON.get() or "-", module, record.getMessage())
        line = "\t".join("".join(c if c.isprintable() else repr(c)[1:-1] for c in field) for field in fields)
        if record.exc_info:
            trace = self.formatException(record.exc_info)
            line += "".join(f"\n    {part}" for part in trace.splitlines())
        return without_secrets(line)


class _SharedFile(RotatingFileHandler):
    """A log file that several processes write to: each opens it for a line, under a lock, and rotates it when it is full."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(path, maxBytes=_BYTES, backupCount=_FILES - 1, encoding="utf-8", delay=True)

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):  # a full disk or a workspace for reading only stops no work
            self.path.parent.mkdir(exist_ok=True)
            with FileLock(self.path.with_name(".berdseye.log.lock"), timeout=5):
                os.close(os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
                super().emit(record)
                if self.stream is not None:
                    self.stream.close()
                    self.stream = None

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Drop a line that cannot be written."""


def log_to(workspace: Path) -> None:
    """Write the log of this process to the workspace in this folder, and to no other."""
    path = workspace.resolve() / FILE
    for handler in [h for h in _OURS.handlers if isinstance(h, _SharedFile)]:
        if handler.path == path:
            return
        _OURS.removeHandler(handler)
    handler = _SharedFile(path)
    handler.setFormatter(_Line())
    _OURS.addHandler(handler)
    if _OURS.level == logging.NOTSET:
        _OURS.setLevel(logging.INFO)


def show_log() -> None:
    """Also show the log on standard error, with the details of level DEBUG (`--verbose`)."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Line())
    _OURS.addHandler(handler)
    _OURS.setLevel(logging.DEBUG)


def name_person(person: str) -> None:
    """Name the person whom the next lines of this thread are about."""
    _PERSON.set(person)


@contextmanager
def logged(logger: logging.Logger, what: str) -> Iterator[None]:
    """Log how `what` ended and how many seconds it took: an error of the person as a warning, another one with its traceback."""
    began = time.monotonic()

    def ending(how: str) -> str:
        return f"{what}: {how}, {time.monotonic() - began:.1f} s"

    try:
        yield
    except BerdseyeError as error:
        logger.warning("%s", ending(f"refused ({type(error).__name__}: {error})"))
        raise
    except KeyboardInterrupt:
        logger.warning("%s", ending("interrupted"))
        raise
    except SystemExit as ended:
        logger.info("%s", ending(f"ended with status {ended.code}"))
        raise
    except Exception as error:
        if isinstance(status := getattr(error, "exit_code", None), int):  # how Typer ends a command
            logger.info("%s", ending(f"ended with status {status}"))
        else:
            logger.exception("%s", ending("failed"))
        raise
    logger.info("%s", ending("done"))
