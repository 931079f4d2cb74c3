"""`berdseye detector transfer`: measure detectors on data that none was trained on."""

from pathlib import Path
from typing import Annotated, Any

import typer

from berdseye.app.commands.console import counting, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, chosen_detector


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(transfer)


def transfer(
    folder: Annotated[Path, typer.Argument(help="Folder with stance/pairs.parquet and perspectrum/.")],
    detector: Annotated[list[str], typer.Option(help="A detector; repeatable.")],
    sample: Annotated[
        int | None,
        typer.Option(
            min=20, help="Measure on this many pairs of each part, half of them supporting, for slow detectors."
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Measure detectors on data like retrieved pairs that none was trained on, at thresholds chosen on other data again.

    Three sources: windows of articles, arguments with key points, and debates. Figures are in percent, at 16.8% supporting pairs,
    with 95% intervals over topics (over arguments for the second source). Then come the AUROC against each kind of negative, and
    tests of sides alone, and the AUROC against perspectives of other topics (off_topic_auroc), with pairs per second, the number
    of pairs with a cut text, and memory in MiB. Passages that were written to be hard follow, by what makes them so. Last are F1
    and the share called supporting at the detector's own threshold, and what three ways of moving a threshold from elsewhere
    change: to the share of pairs called supporting that is best on the other sources, from unlabelled pairs, and from 30 judged
    ones. Each detector runs in its own process.

    `docs/detector-tables.md` explains every column; the app shows it on the page Documentation.

    Example: `berdseye detector transfer data --detector stance --detector embedded`
    """
    import pandas as pd

    from berdseye.detectors.detector_registry import known_detector
    from berdseye.detectors.stance.held_out import check_readable
    from berdseye.evaluation.detection.own_process import in_own_process
    from berdseye.evaluation.detection.readable import readable
    from berdseye.evaluation.detection.transfer import (
        carried_table,
        kinds_table,
        sides_table,
        transfer_table,
        written_table,
    )

    for name in detector:
        known_detector(name)
    check_readable(folder)  # before a process is started for each detector
    results = [in_own_process(f"measured '{name}'", _measured, name, workspace, folder, sample) for name in detector]
    if json:
        print_json(results)
        return
    made = (transfer_table, kinds_table, sides_table, written_table, carried_table)
    tables: list[pd.DataFrame] = [table(results) for table in made]
    print("\n\n".join(readable(table).to_string(index=False) for table in tables if len(table)))


def _measured(name: str, workspace: Path | None, folder: Path, sample: int | None) -> dict[str, Any]:
    from berdseye.evaluation.detection.own_process import peak_mib
    from berdseye.evaluation.detection.transfer import transfer as transferred

    before = peak_mib()
    chosen = chosen_detector(name, workspace)
    with counting(chosen.name) as progress:
        found = transferred(chosen, folder, sample=sample, progress=progress)
    return found | {"memory_mib": round(peak_mib() - before)}
