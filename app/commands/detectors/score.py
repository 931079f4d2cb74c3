"""`detector score`: the figures of a detector on a labelled file."""

from pathlib import Path
from typing import Annotated

import typer

from berdseye.app.commands.options import JsonOption, WorkspaceOption, chosen_detector
from berdseye.app.console import counting, print_json


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(score)


def score(
    file: Annotated[Path, typer.Argument(help="TSV, CSV, JSONL or Parquet: document, perspective, label (0/1).")],
    detector: Annotated[str | None, typer.Option(help="The detector; else the adopted one.")] = None,
    threshold: Annotated[float | None, typer.Option(help="Another threshold than the detector's own.")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Score a detector on labelled pairs: every figure of detection with its 95% interval, and pairs a second.

    Figures are shares from 0 to 1; pct_positive is the percentage called supporting. A figure that the labels leave undefined
    is null. Intervals are drawn over questions, where the file has that column.

    Example: `berdseye detector score pairs.tsv --detector embedded --json`
    """
    from berdseye.evaluation.detection.labelled_files import read_judged_pairs
    from berdseye.evaluation.detection.scoring import FIGURES
    from berdseye.evaluation.detection.scoring import score as scored

    rows = read_judged_pairs([file])
    chosen = chosen_detector(detector, workspace)
    with counting(chosen.name) as progress:
        found = scored(chosen, rows, threshold, progress=progress)
    if json:
        print_json(found.as_row())
        return
    held = found.quality
    print(f"{found.detector} ({found.version}), {held.n:,} pairs, {held.positives:,} supporting")
    print(f"threshold {held.threshold:g} ({found.threshold_source}): {held.pct_positive:.1f}% called supporting")
    for name in FIGURES:
        low, high = held.intervals[name]
        interval = "no interval" if low != low else f"[{low:.3f}, {high:.3f}]"
        print(f"{name.replace('_', ' '):<18}{getattr(held, name):.3f}  {interval}")
    print(f"{found.pairs_per_second:,.0f} pairs a second")
