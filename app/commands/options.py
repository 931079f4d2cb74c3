"""Options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.data.errors import UnavailableError
from berdseye.data.workspace import Workspace

if TYPE_CHECKING:
    from berdseye.detectors.protocol import Detector

WorkspaceOption = Annotated[Path | None, typer.Option("--workspace", "-w", help="The workspace folder.")]
LARGEST_SEED = 2**31 - 1
"""What every library and database that takes a seed can hold."""
MinJudgedOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Show no number over less than this share of judged pairs; 0 shows all. Else the setting min_judged (0.5).",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


def opened(folder: Path | None) -> Workspace:
    """The workspace of the option, or the default one."""
    return Workspace.open(folder or Workspace.default_folder())


def chosen_detector(name: str | None, folder: Path | None) -> "Detector":
    """The detector of the option, or else the adopted one. Without any workspace, those that need none still serve."""
    from berdseye.detectors.detector_registry import parse_detector
    from berdseye.detectors.protocol import DEFAULT_DETECTOR
    from berdseye.detectors.trained import adopted_detector

    try:
        held = opened(folder)
    except UnavailableError:
        if folder is not None:
            raise
        return parse_detector(name or DEFAULT_DETECTOR)
    return parse_detector(name or adopted_detector(held), held)
