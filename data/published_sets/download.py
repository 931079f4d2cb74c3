"""Downloading files whose hashes are known, or become known by the first download."""

import hashlib
from pathlib import Path

import pooch  # type: ignore[import-untyped]
import requests

from berdseye.data.atomic import write_json
from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.json_files import read_json
from berdseye.data.progress import Progress, silent
from berdseye.data.published_sets.part import RemoteFile

RECORD = "hashes.json"
_RETRIES = 2
_SECONDS = 60
_CHUNK = 1 << 16
pooch.get_logger().setLevel("ERROR")


def download(file: RemoteFile, folder: Path, record: Path, progress: Progress = silent) -> str:
    """Have the file below `folder`, from its home unless it is there already; returns its sha256.

    A file of unknown hash is believed the first time; what it was is written into `record`, and must come again. A transfer
    that breaks off or brings something else is tried three times, and leaves nothing behind.

    Raises `UnavailableError` where the home does not answer, `BadInputError` where it sends another file than was known.
    """
    known = file.sha256 or recorded(record).get(file.url, "")
    puppy = pooch.create(
        folder, "", registry={file.path: known or None}, urls={file.path: file.url}, retry_if_failed=_RETRIES
    )
    bar = _Bar(Path(file.path).name, progress)
    try:
        puppy.fetch(file.path, downloader=pooch.HTTPDownloader(progressbar=bar, chunk_size=_CHUNK, timeout=_SECONDS))
    except requests.RequestException as error:
        raise UnavailableError(
            f"The download failed: {_reason(error)}.",
            where=file.url,
            hint="Check the network, or pass local copies with --from DIR.",
        ) from error
    except ValueError as error:  # pooch's word for another hash
        source = "published" if file.sha256 else f"recorded in {record}"
        raise BadInputError(
            f"This is not the file that is known: its sha256 differs from the one {source} ({known[:12]}…).",
            where=file.url,
            hint="Nothing was kept. It may have been revised: look at its home before you trust it.",
        ) from error
    sha256 = sha256_of(folder / file.path)
    if not known:
        write_json(record, {**recorded(record), file.url: sha256})
    return sha256


def recorded(record: Path) -> dict[str, str]:
    """The hashes that first downloads left, by address."""
    return {str(k): str(v) for k, v in read_json(record).items()} if record.exists() else {}


def sha256_of(path: Path) -> str:
    """The hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Bar:
    """What pooch tells of bytes, told on."""

    def __init__(self, name: str, progress: Progress) -> None:
        self.total, self._done, self._name, self._progress = 0, 0, name, progress

    def update(self, n: int) -> None:
        self._done += n
        self._progress(self._done, f"bytes of {self._name}", self.total or None)

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        """Nothing to close."""


def _reason(error: requests.RequestException) -> str:
    response = error.response
    return f"{response.status_code} {response.reason}" if response is not None else type(error).__name__
