"""The secrets of the local Label Studio server: made once, readable by their owner alone."""

import json
import os
import secrets
from pathlib import Path
from typing import NamedTuple

from data.errors import BadInputError, UnavailableError

_FILE = "credentials.json"


class Credentials(NamedTuple):
    """How to sign in: by e-mail and password in a browser, by token from a program."""

    email: str
    password: str
    token: str


def read_credentials(folder: Path) -> Credentials:
    """What `folder` holds; raises `UnavailableError` for no file, `BadInputError` for a damaged one."""
    path = folder / _FILE
    try:
        return Credentials(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise UnavailableError(
            "There are no credentials of a Label Studio server.", where=path, hint="Start Label Studio first."
        ) from error
    except (ValueError, TypeError) as error:
        raise BadInputError(
            "The credentials of Label Studio are damaged.",
            where=path,
            hint="Restore the file: the data of Label Studio are locked with it.",
        ) from error


def make_credentials(folder: Path) -> Credentials:
    """The credentials in `folder`, made the first time with mode 0600 from the first byte on."""
    path = folder / _FILE
    if path.exists():
        return read_credentials(folder)
    made = Credentials("admin@berdseye.local", secrets.token_urlsafe(18), secrets.token_hex(20))
    temporary = path.with_name(f".{_FILE}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(made._asdict(), file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    return made
