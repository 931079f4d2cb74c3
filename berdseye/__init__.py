"""The Python interface of Berdseye: a workspace, its runs, and the tables of pages and commands as pandas data frames.

    import berdseye

    ws = berdseye.demo()
    run = ws.run("debate", "web", "bm25")
    run.measures("MRecall@5 Precision@5", labels="human>embedded")

Every error that a caller can fix is a `BerdseyeError`, whose message says what to do. docs/python.md describes the whole
interface, with examples.
"""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from berdseye.app.python.run import Compared, Run
    from berdseye.app.python.workspace import Workspace
    from berdseye.data.errors import BerdseyeError

__all__ = ["BerdseyeError", "Compared", "Run", "Workspace", "create", "demo", "measures", "open"]

# Imported at first use, so that `import berdseye` stays fast: every module of the package imports this file first.
_HOMES = {
    "BerdseyeError": "berdseye.data.errors",
    "Compared": "berdseye.app.python.run",
    "Run": "berdseye.app.python.run",
    "Workspace": "berdseye.app.python.workspace",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'berdseye' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def open(folder: str | Path | None = None) -> "Workspace":
    """Open the workspace in `folder`, by default the one in BERDSEYE_WORKSPACE or `./workspace`.

    Raises `UnavailableError` if there is no workspace.
    """
    from berdseye.app.python.workspace import Workspace
    from berdseye.data.workspace import Workspace as Folder

    return Workspace(Folder.open(_folder(folder)))


def create(folder: str | Path | None = None) -> "Workspace":
    """Open the workspace in `folder`, by default as in `open`, and create an empty one if it does not exist."""
    from berdseye.app.python.workspace import Workspace
    from berdseye.data.workspace import Workspace as Folder

    return Workspace(Folder.create(_folder(folder)))


def demo(folder: str | Path | None = None) -> "Workspace":
    """Open the demo workspace in `folder`, by default as in `open`, and build it if it does not exist (about half a minute)."""
    from berdseye.app.demo import build_demo
    from berdseye.app.python.workspace import Workspace

    return Workspace(build_demo(_folder(folder), lambda *_: None))


def measures(runs: "Run | Iterable[Run]", names: str | None = None, labels: str | None = None) -> "pd.DataFrame":
    """Compute measures of one or more runs of a workspace, as the table that `Workspace.measures` describes.

    `names` are names of measures separated by spaces, by default those of the Runs page. Raises `BadInputError` without a run.
    """
    from berdseye.app.python.run import USUAL, Run
    from berdseye.data.errors import BadInputError

    chosen = [runs] if isinstance(runs, Run) else list(runs)
    if not chosen:
        raise BadInputError("There is no run to measure.", hint="Create one with ws.run(dataset, corpus, pipeline).")
    return chosen[0].workspace.measures(chosen, names or USUAL, labels)


def _folder(folder: str | Path | None) -> Path:
    from berdseye.data.workspace import Workspace as Folder

    return Folder.default_folder() if folder is None else Path(folder)
