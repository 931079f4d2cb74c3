"""Options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.data.errors import UnavailableError
from berdseye.data.workspace import Workspace

if TYPE_CHECKING:
    from berdseye.detectors.protocol import Detector

WorkspaceOption = Annotated[
    Path | None,
    typer.Option(
        "--workspace", "-w", help="The workspace folder. Default: the one in BERDSEYE_WORKSPACE, otherwise ./workspace."
    ),
]


def _share_or_off(text: str | float) -> float:
    """Read a share from 0 to 1; the word off is 0."""
    try:
        share = 0.0 if text == "off" else float(text)
    except ValueError:
        share = float("nan")
    if not 0 <= share <= 1:
        raise typer.BadParameter(f"{text} is neither a share from 0 to 1 nor the word off.")
    return share


LARGEST_SEED = 2**31 - 1
"""The largest seed that every library and database involved accepts."""
MinJudgedOption = Annotated[
    float | None,
    typer.Option(
        parser=_share_or_off,
        metavar="SHARE|off",
        help="Withhold numbers where a smaller share of the pairs is judged; off or 0 shows all. "
        "Default: the setting min_judged (0.5).",
    ),
]
LimitOption = Annotated[int | None, typer.Option(min=1, help="Only the first N questions.")]
SampleOption = Annotated[
    int | None, typer.Option(min=1, help="Only N questions, drawn at random: equal seeds draw equal questions.")
]
SampleSeedOption = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The seed of --sample.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


def open_workspace(folder: Path | None) -> Workspace:
    """Open the workspace in `folder`, or the default workspace for None."""
    return Workspace.open(folder or Workspace.default_folder())


def workspace_if_any(folder: Path | None) -> Workspace | None:
    """Open the workspace in `folder`; for None the default workspace, or None if there is none.

    Raises `UnavailableError` where `folder` is not a workspace.
    """
    try:
        return open_workspace(folder)
    except UnavailableError:
        if folder is not None:
            raise
        return None


def chosen_detector(name: str | None, folder: Path | None) -> "Detector":
    """Open the detector called `name`, or the adopted one for None.

    Without a workspace, and with `folder` None, detectors that need no workspace still work. Raises `UnavailableError` where
    `folder` is not a workspace.
    """
    from berdseye.detectors.detector_registry import parse_detector
    from berdseye.detectors.protocol import DEFAULT_DETECTOR
    from berdseye.detectors.trained import adopted_detector

    ws = workspace_if_any(folder)
    if ws is None:
        return parse_detector(name or DEFAULT_DETECTOR)
    return parse_detector(name or adopted_detector(ws), ws)
