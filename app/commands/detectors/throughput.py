"""`detector throughput`: pairs a second, memory, tokens and money."""

from pathlib import Path
from typing import Annotated

import typer

from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened
from berdseye.app.console import print_json


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(throughput)


def throughput(
    detector: Annotated[list[str], typer.Option(help="A detector; may be given again.")],
    file: Annotated[Path | None, typer.Argument(help="Labelled pairs to read; else made ones of 100 words.")] = None,
    seconds: Annotated[float, typer.Option(help="For about how long each is asked.", min=0.1, max=86_400)] = 20.0,
    pairs: Annotated[int, typer.Option(help="At most how many pairs each is asked.", min=2)] = 20_000,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Measure how fast detectors are and what they take, each in a process of its own; the lab shows what was measured last.

    Tokens and dollars are per 1,000 pairs that a language model was asked. BERDS reports 15 minutes a data set, about 8 pairs a
    second, on an A40 with vLLM; the minutes that such a data set would take here stand beside.

    Example: `berdseye detector throughput --detector embedded --seconds 5`
    """
    from dataclasses import asdict

    import pandas as pd

    from berdseye.data.errors import UnavailableError
    from berdseye.data.labelled_pairs import read_labelled_pairs
    from berdseye.data.workspace import Workspace
    from berdseye.detectors.registry import known_detector
    from berdseye.evaluation.detection.kept_throughput import keep
    from berdseye.evaluation.detection.readable import readable
    from berdseye.evaluation.detection.throughput import measure_throughput

    for name in detector:
        known_detector(name)  # before a process is started for it
    given = None if file is None else [row.pair for row in read_labelled_pairs(file)][:pairs]
    try:
        folder = opened(workspace).folder
    except UnavailableError:
        if workspace is not None:
            raise
        folder = None
    found = [measure_throughput(name, folder, pairs=given, most=pairs, seconds=seconds) for name in detector]
    if folder is not None:
        for measured in found:
            keep(Workspace.open(folder), measured)
    rows = [asdict(measured) for measured in found]
    if json:
        print_json(rows)
        return
    print(readable(pd.DataFrame(rows)).to_string(index=False))
