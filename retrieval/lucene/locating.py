"""From the name of a Lucene index to its folder: a path, or one of the prebuilt indexes that Pyserini knows."""

import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from tarfile import TarError
from typing import Any

from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.retrieval.lucene.java import in_java

_BYTES = "size compressed (bytes)"


def index_folder(name: str) -> Path:
    """The folder of an index.

    A name that is no path is one of Pyserini's prebuilt inverted indexes. The first time it is used it is downloaded,
    gigabytes, into Pyserini's cache. Raises `BadInputError` for a path without an index, `UnknownNameError` with the
    nearest names for an unknown one, and `UnavailableError` where it cannot be downloaded.
    """
    path = Path(name).expanduser()
    if path.is_dir():
        if not any(path.glob("segments_*")):
            raise BadInputError("This folder holds no Lucene index.", where=path, hint="It would hold a segments file.")
        return path
    if path.exists() or "/" in name:
        raise BadInputError("There is no such folder.", where=path, hint="Give the folder of a Lucene index.")
    return _prebuilt(name)


def _prebuilt(name: str) -> Path:
    with redirect_stdout(sys.stderr):  # Pyserini prints where answers of the command line stand
        known: dict[str, dict[str, Any]] = in_java(
            lambda _: import_module("pyserini.prebuilt_index_info").TF_INDEX_INFO
        )
        if name not in known:
            raise UnknownNameError("prebuilt Lucene index", name, known)
        downloads = in_java(lambda _: import_module("pyserini.util"))
        size = known[name].get(_BYTES, 0) / 1e9
        if not downloads.check_downloaded(name):
            print(f"The Lucene index {name} is downloaded ({size:.1f} GB) to {downloads.get_cache_home()}.")
        try:
            return Path(downloads.download_prebuilt_index(name, verbose=False))
        except (ValueError, AssertionError, OSError, TarError) as error:
            raise UnavailableError(
                f"The prebuilt Lucene index '{name}' ({size:.1f} GB) could not be downloaded: {error}",
                hint="Fetch and unpack it elsewhere, and give its folder.",
            ) from error
