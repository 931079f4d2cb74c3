"""What of a workspace goes into a backup: all that was made here, and nothing that can be had again or is secret."""

from collections.abc import Iterator
from pathlib import Path

from berdseye.data.workspace import Workspace

JUDGMENTS = "judgments.db"
SETTINGS = "berdseye.toml"
LEFT_OUT = {
    "downloads": "published data sets, which can be fetched again",
    "label_studio": "Label Studio's own database and its secrets; what people judged there is in the judgments once pulled",
    "jobs": "what the app started in the background: the results of what has ended are kept",
    "corpora": "corpora and their indexes, unless --corpora is said",
}
_LIVE = (JUDGMENTS, f"{JUDGMENTS}-wal", f"{JUDGMENTS}-shm", f"{JUDGMENTS}-journal", f"{JUDGMENTS}.migrating", SETTINGS)
_LOGS = ("-wal", "-shm", "-journal")


def files(workspace: Workspace, *, corpora: bool) -> Iterator[Path]:
    """The files to be kept, by name, without the judgments and the settings, which need care.

    Files and folders that begin with a dot are drafts, locks and caches; the logs of databases are in their copies.
    """
    top = workspace.folder
    for path in sorted(top.rglob("*")):
        parts = path.relative_to(top).parts
        if (
            path.is_symlink()
            or not path.is_file()
            or any(part.startswith(".") for part in parts)
            or parts[0] in LEFT_OUT.keys() - ({"corpora"} if corpora else set())
            or (len(parts) == 1 and parts[0] in _LIVE)
            or parts[-1].endswith(_LOGS)
        ):
            continue
        yield path


def is_database(path: Path) -> bool:
    """Whether a file is a SQLite database, which must not be copied byte by byte while it is written."""
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"
