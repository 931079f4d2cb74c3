"""Running the notebooks: for the tests, and (`make notebooks`) to keep them with their outputs."""

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).parents[2] / "notebooks"
RELEASED = FOLDER.parents[1] / "shared" / "data"
LIMIT = 180
"""Seconds that a cell, and on two quiet cores a whole notebook, may take."""


def notebooks() -> list[Path]:
    """All of them, in their order."""
    return sorted(FOLDER.glob("*.ipynb"))


def executed(path: Path, folder: Path, *, last: str = "", limit: int | None = LIMIT) -> NotebookNode:
    """The notebook with the outputs of a fresh kernel that works in `folder`; `last` is code that is run after its own,
    `limit` the seconds that a cell may take.

    Raises `nbclient.exceptions.CellExecutionError` where a cell fails.
    """
    notebook = nbformat.read(path, as_version=4)
    if last:
        notebook.cells.append(nbformat.v4.new_code_cell(last))
    where = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, kernel_name="python3", timeout=limit, record_timing=False, resources=where).execute()
    notebook.metadata["language_info"] = {"name": "python"}  # not which of Python's versions ran it
    return notebook


def shape(notebook: NotebookNode) -> list[list[str]]:
    """What each code cell gives, without its numbers: the kinds of its outputs, whatever was said on standard error."""
    return [
        [" ".join((o.output_type, *sorted(o.get("data", {})))) for o in cell.outputs if o.get("name") != "stderr"]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def main(names: list[str]) -> None:
    """Run those named (else all) and keep them with their outputs."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"BERDSEYE_WORKSPACE": str(Path(folder) / "workspace"), "BERDSEYE_RELEASED": str(RELEASED)}
        for path in notebooks():
            if not names or path.stem in names:
                notebook = executed(path, Path(folder), limit=None)
                for cell in notebook.cells:
                    if cell.cell_type == "code":
                        cell.outputs = [o for o in cell.outputs if o.get("name") != "stderr"]
                nbformat.write(notebook, path)
                print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:])
