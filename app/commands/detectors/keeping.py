"""`detector list`, `adopt` and `discard`."""

from typing import Annotated

import typer

from berdseye.app.acting import acting_name
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened
from berdseye.app.console import note, print_json


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command("list")(list_detectors)
    group.command()(adopt)
    group.command()(discard)


def list_detectors(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the detectors that ship and those trained here; the adopted one comes first.

    Example: `berdseye detector list --json`
    """
    from berdseye.data.errors import BerdseyeError
    from berdseye.detectors.registry import parse_detector
    from berdseye.detectors.trained import adopted_detector, detector_names

    held = opened(workspace)
    adopted = adopted_detector(held)
    rows: list[dict[str, object]] = []
    for name in detector_names(held):
        row: dict[str, object] = {"detector": name, "adopted": name == adopted}
        try:
            found = parse_detector(name, held)
            row |= {
                "version": found.version,
                "threshold": found.threshold,
                "threshold_source": found.threshold_source,
                "measured": found.measured,
                "problem": "",
            }
        except BerdseyeError as error:
            row |= {"version": "", "threshold": None, "threshold_source": "", "measured": "", "problem": str(error)}
        rows.append(row)
    if json:
        print_json(rows)
        return
    for row in rows:
        said = row["problem"] or f"{row['measured'] or 'not measured'}; threshold {row['threshold']}"
        print(f"{'*' if row['adopted'] else ' '} {row['detector']}\t{row['version']}\t{said}")


def adopt(
    detector: Annotated[str, typer.Argument(help="A detector, such as embedded or crossencoder(mine).")],
    workspace: WorkspaceOption = None,
) -> None:
    """Use a detector from now on where none is named, in the app and on the command line.

    Example: `berdseye detector adopt embedded`
    """
    from berdseye.detectors.registry import parse_detector
    from berdseye.detectors.trained import adopt as adopted

    held = opened(workspace)
    found = parse_detector(detector, held)
    adopted(held, found.name, made_by=acting_name(held))
    note(f"{found.name} ({found.version}) is used from now on.")


def discard(
    name: Annotated[str, typer.Argument(help="The name that it was trained under.")],
    workspace: WorkspaceOption = None,
) -> None:
    """Delete a detector that was trained here; labels that it gave stay.

    Example: `berdseye detector discard mine`
    """
    from berdseye.detectors.trained import discard as discarded

    discarded(opened(workspace), name)
    note(f"'{name}' is gone.")
