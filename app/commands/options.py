"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from data.workspace import Workspace

WorkspaceOption = Annotated[Path | None, typer.Option("--workspace", "-w", help="The workspace folder.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


def opened(folder: Path | None) -> Workspace:
    """The workspace of the option, or the default one."""
    return Workspace.open(folder or Workspace.default_folder())
