"""Removing a corpus with its indexes. Runs, labels and judgments of its passages stay."""

import shutil

from berdseye.data.corpora.manifest import is_complete
from berdseye.data.errors import BerdseyeError, UnknownNameError
from berdseye.data.files.locks import locked
from berdseye.data.workspace import Workspace


def remove_corpus(workspace: Workspace, name: str) -> None:
    """Delete a corpus and its indexes.

    Raises `UnknownNameError`, and `BerdseyeError` while another process writes the corpus. The corpus disappears at once, by a
    rename; a crash leaves a hidden folder, which the next corpus of this name replaces.
    """
    folder = workspace.corpus_folder(name)
    busy = BerdseyeError(
        f"Another process is writing corpus '{folder.name}'.", hint="Wait until it has finished, then try again."
    )
    with locked(folder.parent / f".{folder.name}.lock", busy=busy):
        if not is_complete(folder):
            raise UnknownNameError("corpus", name, workspace.corpora())
        old = folder.parent / f".{folder.name}.old"
        shutil.rmtree(old, ignore_errors=True)
        folder.rename(old)
        shutil.rmtree(old, ignore_errors=True)
