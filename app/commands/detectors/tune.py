"""`detector tune`: choosing a threshold on labelled pairs, and forgetting it."""

from pathlib import Path
from typing import Annotated

import typer

from berdseye.app.acting import acting_name
from berdseye.app.arguments import not_with
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened
from berdseye.app.console import counting, note, print_json


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(tune)


def tune(
    file: Annotated[Path | None, typer.Argument(help="Labelled pairs, as for `detector score`.")] = None,
    detector: Annotated[str | None, typer.Option(help="The detector; else the adopted one.")] = None,
    at_base_rate: Annotated[bool, typer.Option(help="Weight the rows so that 16.8% are positive.")] = False,
    forget: Annotated[bool, typer.Option(help="Remove the tuned threshold; needs no file.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Choose the threshold with the best F1 on a file, and use it from now on in this workspace.

    Of a file with a column split only the rows of split dev are used, never those of split test.

    Example: `berdseye detector tune judged.tsv --detector embedded --at-base-rate`
    """
    from dataclasses import asdict

    from berdseye.data.errors import BadInputError
    from berdseye.detectors.registry import parse_detector
    from berdseye.detectors.thresholds import forget_threshold, write_threshold
    from berdseye.detectors.trained import adopted_detector
    from berdseye.evaluation.detection.threshold_choice import choose_threshold

    not_with("--forget", forget, "file", "at_base_rate")
    held = opened(workspace)
    chosen = parse_detector(detector or adopted_detector(held), held)
    if forget:
        gone = forget_threshold(held, chosen.name)
        again = parse_detector(chosen.name, held).threshold
        if json:
            print_json({"detector": chosen.name, "forgotten": bool(gone), "value": again})
        note(f"{chosen.name} {'is back at' if gone else 'had no tuned threshold: it stays at'} {again:g}.")
        return
    if file is None:
        raise BadInputError("No file is named.", hint="Name labelled pairs, or say --forget.")
    with counting(chosen.name) as progress:
        tuned = choose_threshold(chosen, file, at_base_rate=at_base_rate, made_by=acting_name(held), progress=progress)
    write_threshold(held, tuned)
    if json:
        print_json(asdict(tuned))
        return
    print(f"{tuned.detector}\t{tuned.value:g}\t{tuned.source}")
