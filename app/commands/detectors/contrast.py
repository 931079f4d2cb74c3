"""`detector contrast`: where detectors fail, by kinds of hard cases."""

from typing import Annotated

import typer

from berdseye.app.commands.options import JsonOption, WorkspaceOption, chosen_detector
from berdseye.app.console import print_json


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(contrast)


def contrast(
    detector: Annotated[list[str], typer.Option(help="A detector; may be given again.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Ask detectors of twins, one passage with two perspectives of which it supports one, in five kinds of hard cases.

    Pairwise is the share of twins whose supported perspective scores higher; accuracy is at the threshold; all are in percent,
    with 95% intervals. What chance and simple rules reach stands below.

    Example: `berdseye detector contrast --detector embedded --detector "similarity(static)"`
    """
    from berdseye.evaluation.detection.contrast import contrast as contrasted
    from berdseye.evaluation.detection.contrast import contrast_references, contrast_table
    from berdseye.evaluation.detection.readable import readable

    found = [result for name in detector for result in contrasted(chosen_detector(name, workspace))]
    table = contrast_table([*found, *contrast_references()])
    if json:
        print_json(table.to_dict("records"))
        return
    print(readable(table).to_string(index=False))
