"""Files that people upload in the app, in the workspace until a job has read them."""

import hashlib
import shutil
import time
from io import BytesIO
from pathlib import Path, PurePosixPath

from berdseye.data.errors import BadInputError
from berdseye.data.files.atomic import replacing
from berdseye.data.workspace import Workspace

_CHUNK = 1 << 20
_UNUSED_SECONDS = 24 * 3600.0


def keep_upload(workspace: Workspace, name: str, content: BytesIO) -> Path:
    """Store an uploaded file under its name and return its path. The same content under the same name is stored once."""
    stem = PurePosixPath(name.replace("\\", "/")).name
    if not stem or stem.startswith("."):
        raise BadInputError(f"'{name}' is not the name of a file.", hint="Rename the file and upload it again.")
    content.seek(0)
    digest = hashlib.file_digest(content, lambda: hashlib.blake2b(digest_size=8)).hexdigest()
    path = workspace.uploads_folder / digest / stem
    if not path.exists():
        content.seek(0)
        with replacing(path) as draft, draft.open("wb") as file:
            shutil.copyfileobj(content, file, _CHUNK)
    path.parent.touch()
    return path


def remove_unused_uploads(workspace: Workspace, in_use: set[Path], *, seconds: float = _UNUSED_SECONDS) -> None:
    """Delete the uploads that nobody has used for `seconds`, except those `in_use`."""
    kept = {path.parent for path in in_use}
    for folder in workspace.uploads_folder.glob("*"):
        if folder not in kept and time.time() - folder.stat().st_mtime > seconds:
            shutil.rmtree(folder, ignore_errors=True)
