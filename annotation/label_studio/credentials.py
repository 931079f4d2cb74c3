"""The secrets of the local Label Studio server: the admin's, made once, and the passwords of people's accounts.

Both files are readable by their owner alone, lie in a folder that no backup and no bundle takes along, and are the only place
where these secrets are kept.
"""

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from berdseye.data.errors import BadInputError, UnavailableError

ADMIN_EMAIL = "admin@berdseye.local"
"""The account that Berdseye itself uses on its own server; nobody's judgments should be made with it."""
_FILE = "credentials.json"
_PASSWORDS = "accounts.json"


class Password(NamedTuple):
    """The password of one account; `user` and `joined` say which: a server that was emptied numbers its users anew."""

    password: str
    user: int
    joined: str


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
    made = Credentials(ADMIN_EMAIL, secrets.token_urlsafe(18), secrets.token_hex(20))
    _write_secret(path, made._asdict())
    return made


def read_passwords(folder: Path) -> dict[str, Password]:
    """The passwords of people's accounts in `folder`, by e-mail address; raises `BadInputError` for a damaged file."""
    path = folder / _PASSWORDS
    try:
        return {email: Password(**held) for email, held in json.loads(path.read_text(encoding="utf-8")).items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError) as error:
        raise BadInputError(
            "The file with the passwords of Label Studio accounts is damaged.",
            where=path,
            hint="Delete it; then set new passwords with `berdseye label-studio account NAME --reset`.",
        ) from error


def write_passwords(folder: Path, passwords: Mapping[str, Password]) -> None:
    """Replace the passwords in `folder`; the file has mode 0600 from the first byte on."""
    _write_secret(folder / _PASSWORDS, {email: held._asdict() for email, held in passwords.items()})


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
