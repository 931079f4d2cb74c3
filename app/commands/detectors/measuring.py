"""`detector learning-curve`: what corrections are worth.

`detector score`: the figures of a detector on a labelled file.

`detector table`: detectors side by side, in the layout of BERDS.

`detector contrast`: where detectors fail, by kinds of hard cases.

`detector throughput`: pairs a second, memory, tokens and money.
"""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, chosen_detector, opened


def register(group: typer.Typer) -> None:
    """Add the commands."""
    register_score(group)
    register_table(group)
    register_contrast(group)
    register_throughput(group)
    register_learning_curve(group)


def register_score(group: typer.Typer) -> None:
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
    from berdseye.evaluation.detection.pairs import read_judged_pairs
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


class DetectionTable(StrEnum):
    """The tables there are."""

    DETECTION = "detection"
    SLICES = "slices"
    DOMAINS = "domains"
    AGREEMENT = "agreement"


def register_table(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(table)


def table(
    files: Annotated[list[Path], typer.Argument(help="Labelled pairs, as for `detector score`.")],
    detector: Annotated[list[str], typer.Option(help="A detector; may be given again.")],
    tuned: Annotated[bool, typer.Option("--tuned", help="Choose thresholds on the rows of split dev.")] = False,
    part: Annotated[DetectionTable | None, typer.Option(help="One table alone.", show_choices=True)] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print one table as CSV.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print one table as LaTeX.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Set detectors side by side with the published ones: figures, slices, domains, and agreement, in percent.

    Of files with a column split only the rows of split test are used. Slices are by dataset, corpus and stance, where the files
    have these columns, and by length. With --csv or --latex the first table is printed, or the one of --part.

    Example: `berdseye detector table pairs.tsv --detector embedded --detector "similarity(static)" --csv`
    """
    from berdseye.data.errors import BadInputError
    from berdseye.data.files.tables import to_csv
    from berdseye.evaluation.detection.readable import readable
    from berdseye.evaluation.detection.tables import detection_report

    if csv + latex + json > 1:
        raise BadInputError("One of --csv, --latex and --json at a time.", hint="Choose one.")
    chosen = list({found.name: found for found in (chosen_detector(name, workspace) for name in detector)}.values())
    with counting("detectors") as progress:
        report = detection_report(chosen, files, tuned=tuned, progress=progress)
    note(f"On {report.rows}.")
    one = report.parts[part or DetectionTable.DETECTION]
    if csv:
        sys.stdout.write(to_csv(one).decode("utf-8"))
    elif latex:
        print(readable(one).rename(columns=lambda name: name.replace("_", " ")).to_latex(index=False, escape=True))
    elif json:
        wanted = report.parts if part is None else {str(part): one}
        print_json(
            {"rows": report.rows, "unit": "percent"} | {name: held.to_dict("records") for name, held in wanted.items()}
        )
    else:
        for name, held in report.parts.items():
            if len(held) and part in (None, name):
                print(f"{name}\n{readable(held).to_string(index=False)}\n")


def register_contrast(group: typer.Typer) -> None:
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


def register_throughput(group: typer.Typer) -> None:
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

    from berdseye.data.datasets.labelled_pairs import read_labelled_pairs
    from berdseye.data.errors import UnavailableError
    from berdseye.data.workspace import Workspace
    from berdseye.detectors.detector_registry import known_detector
    from berdseye.evaluation.detection.readable import readable
    from berdseye.evaluation.detection.throughput import keep, measure_throughput

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


def register_learning_curve(group: typer.Typer) -> None:
    """Add the command."""
    group.command("learning-curve")(learning_curve)


def learning_curve(
    file: Annotated[Path, typer.Argument(help="Labelled pairs with a column question, as for `detector score`.")],
    detector: Annotated[str, typer.Option(help="embedded, or embedded(NAME) of the workspace.")] = "embedded",
    batch: Annotated[int, typer.Option(help="Corrections between two trainings.", min=1)] = 50,
    rounds: Annotated[int, typer.Option(help="How many batches.", min=1)] = 20,
    seeds: Annotated[int, typer.Option(help="How often it is tried, each time with other questions.", min=1)] = 3,
    chart: Annotated[
        Path | None, typer.Option(dir_okay=False, writable=True, help="Also draw it, into an .svg, .png or .html file.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Replay labels as corrections: retrain after every batch, and measure AUROC and F1 on questions held out.

    Corrections come from the train split, chosen by uncertainty and by random; thresholds from dev; figures from test, F1 at
    16.8% positive. Without a column split, questions are divided 80/10/10. The row `all` has every train pair.

    Example: `berdseye detector learning-curve judged.tsv --rounds 10`
    """
    from berdseye.app.components.charts import worth_of_corrections
    from berdseye.data.files.atomic import write_bytes
    from berdseye.evaluation.charts import drawer
    from berdseye.evaluation.detection.learning_curve import FIGURES, GAIN, corrections_for_gain
    from berdseye.evaluation.detection.learning_curve import learning_curve as measured
    from berdseye.evaluation.detection.readable import readable

    draw = None if chart is None else drawer(chart)  # a name that cannot be is said before an hour's work
    chosen = chosen_detector(detector, workspace)
    with counting(chosen.name) as progress:
        curve = measured(chosen, file, batch=batch, rounds=rounds, seeds=seeds, progress=progress)
    if chart is not None and draw is not None:
        write_bytes(chart, draw(worth_of_corrections(curve)))
        note(f"Drawn: {chart}")
    needed = {figure: dict(corrections_for_gain(curve, figure)) for figure in FIGURES}
    if json:
        print_json({"curve": curve.to_dict("records"), "corrections_for_10_points": needed})
        return
    print(readable(curve).to_string(index=False))
    for figure, by_strategy in needed.items():
        said = ", ".join(f"{strategy} {count or 'never'}" for strategy, count in by_strategy.items())
        print(f"Corrections for {100 * GAIN:.0f} points of {figure.upper()}: {said}.")
