"""Berdseye from Python: a workspace, its runs, and what the pages and the command line say of them, as tables of pandas.

    import berdseye

    ws = berdseye.demo()
    run = ws.run("debate", "web", "bm25")
    run.measures("MRecall@5 Precision@5", labels="human>embedded")

Errors that a person can mend are `BerdseyeError`s with a hint. docs/python.md tells of everything, with examples.
"""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from app.python.compared import Compared
from app.python.run import USUAL, Run
from app.python.workspace import Workspace
from data.errors import BadInputError, BerdseyeError
from data.workspace import Workspace as Folder

__all__ = ["BerdseyeError", "Compared", "Run", "Workspace", "create", "demo", "measures", "open"]


def open(folder: str | Path | None = None) -> Workspace:
    """The workspace in a folder; else the one in BERDSEYE_WORKSPACE, else `./workspace`. Raises `UnavailableError` for none."""
    return Workspace(Folder.open(_folder(folder)))


def create(folder: str | Path | None = None) -> Workspace:
    """The same, and made empty where there is none."""
    return Workspace(Folder.create(_folder(folder)))


def demo(folder: str | Path | None = None) -> Workspace:
    """The workspace with the demo in it, which is made where it is missing (about half a minute)."""
    from app.demo import build_demo

    return Workspace(build_demo(_folder(folder), lambda *_: None))


def measures(runs: Run | Iterable[Run], names: str = USUAL, labels: str | None = None) -> pd.DataFrame:
    """Measures of one run or several of one workspace, as `Workspace.measures` gives them."""
    chosen = [runs] if isinstance(runs, Run) else list(runs)
    if not chosen:
        raise BadInputError("There is no run to measure.", hint="Make one: ws.run(dataset, corpus, pipeline).")
    return chosen[0].workspace.measures(chosen, names, labels)


def _folder(given: str | Path | None) -> Path:
    return Folder.default_folder() if given is None else Path(given)
