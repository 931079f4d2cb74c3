"""`berdseye detector score | table | contrast | grade | throughput | learning-curve`: measure detectors.

Figures on labelled pairs, tables in the layout of BERDS, hard cases, speed and cost, and the worth of corrections.
"""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from berdseye.app.commands.console import counting, note, note_truncated, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, chosen_detector, open_workspace, workspace_if_any


def register(group: typer.Typer) -> None:
    """Add the commands."""
    register_score(group)
    register_table(group)
    register_contrast(group)
    register_grade(group)
    register_throughput(group)
    register_learning_curve(group)


def register_score(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(score)


def score(
    file: Annotated[
        Path,
        typer.Argument(help="TSV, CSV, JSONL or Parquet with the columns document, perspective and label (0 or 1)."),
    ],
    detector: Annotated[str | None, typer.Option(help="The detector. Default: the adopted one.")] = None,
    threshold: Annotated[float | None, typer.Option(help="The threshold. Default: the detector's own.")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Score a detector on labelled pairs: every figure of detection with its 95% interval, and the pairs per second.

    Figures are shares from 0 to 1; pct_positive is the percentage of pairs labelled as supporting. A figure that the labels
    leave undefined is null. Intervals resample questions, where the file has a column question. `truncated` is the number of
    pairs with a text that the detector cut, where it reports this. `unsure` is the share of pairs whose probability is within the
    setting `unsure` of the threshold, for a detector of grade stance.

    Example: `berdseye detector score pairs.tsv --detector embedded --json`
    """
    from berdseye.detectors.labelling import share_unsure, unsure_width
    from berdseye.evaluation.detection.pairs import read_judged_pairs
    from berdseye.evaluation.detection.scoring import FIGURES
    from berdseye.evaluation.detection.scoring import score as scored

    rows = read_judged_pairs([file])
    chosen = chosen_detector(detector, workspace)
    with counting(chosen.name) as progress:
        scores = scored(chosen, rows, threshold, progress=progress)
    note_truncated(scores.detector, scores.truncated)
    ws, quality = workspace_if_any(workspace), scores.quality
    unsure = share_unsure(ws, chosen, scores.probabilities, quality.threshold)
    if json:
        print_json(scores.as_row() | {"unsure": unsure})
        return
    print(f"{scores.detector} ({scores.version}), {quality.n:,} pairs, {quality.positives:,} supporting")
    print(
        f"threshold {quality.threshold:g} ({scores.threshold_source}): {quality.pct_positive:.1f}% labelled as supporting"
    )
    for name in FIGURES:
        low, high = quality.intervals[name]
        interval = "no interval" if low != low else f"[{low:.3f}, {high:.3f}]"
        print(f"{name.replace('_', ' '):<18}{getattr(quality, name):.3f}  {interval}")
    if unsure is not None:
        print(f"{'unsure':<18}{unsure:.3f}  within {unsure_width(ws):g} of the threshold")
    print(f"{scores.pairs_per_second:,.0f} pairs per second")


class DetectionTable(StrEnum):
    """The tables of the report."""

    DETECTION = "detection"
    SLICES = "slices"
    DOMAINS = "domains"
    AGREEMENT = "agreement"


def register_table(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(table)


def table(
    files: Annotated[list[Path], typer.Argument(help="Labelled pairs, as for `detector score`.")],
    detector: Annotated[list[str], typer.Option(help="A detector; repeatable.")],
    tuned: Annotated[bool, typer.Option("--tuned", help="Choose each threshold on the rows of split dev.")] = False,
    part: Annotated[DetectionTable | None, typer.Option(help="Print only this table.", show_choices=True)] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print one table as CSV.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print one table as LaTeX.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Compare detectors with one another and with the published ones: figures, slices, domains and agreement, in percent.

    From files with a column split, only the rows of split test are used. Slices are by length and, where the files have these
    columns, by dataset, corpus and stance. Domains are corpora, with retrievers where the files have a column retriever. --csv
    and --latex print the first table, or the table named by --part.

    Example: `berdseye detector table pairs.tsv --detector embedded --detector "similarity(static)" --csv`
    """
    from berdseye.data.errors import BadInputError
    from berdseye.data.files.tables import to_csv
    from berdseye.evaluation.detection.readable import readable
    from berdseye.evaluation.detection.tables import detection_report

    if csv + latex + json > 1:
        raise BadInputError("--csv, --latex and --json exclude one another.", hint="Give one of them.")
    chosen = list({one.name: one for one in (chosen_detector(name, workspace) for name in detector)}.values())
    with counting("detectors") as progress:
        report = detection_report(chosen, files, tuned=tuned, progress=progress)
    note(f"Measured on {report.rows}.")
    for name, truncated in report.truncated.items():
        note_truncated(name, truncated)
    one = report.parts[part or DetectionTable.DETECTION]
    if csv:
        sys.stdout.write(to_csv(one).decode("utf-8"))
    elif latex:
        print(readable(one).rename(columns=lambda name: name.replace("_", " ")).to_latex(index=False, escape=True))
    elif json:
        wanted = report.parts if part is None else {str(part): one}
        print_json(
            {"rows": report.rows, "unit": "percent"}
            | {name: part_table.to_dict("records") for name, part_table in wanted.items()}
        )
    else:
        for name, part_table in report.parts.items():
            if len(part_table) and part in (None, name):
                print(f"{name}\n{readable(part_table).to_string(index=False)}\n")


def register_contrast(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(contrast)


def contrast(
    detector: Annotated[list[str], typer.Option(help="A detector; repeatable.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Test detectors on five kinds of hard cases: twins of one passage and two perspectives, only one of which it supports.

    Pairwise is the share of twins whose supported perspective scores higher; accuracy is at the threshold. Both are in percent,
    with 95% intervals. `pct_positive` is the percentage of cases that a detector calls supporting; 50% are right. The last rows
    show what chance and simple rules reach.

    `docs/detector-tables.md` explains every column; the app shows it on the page Documentation.

    Example: `berdseye detector contrast --detector embedded --detector "similarity(static)"`
    """
    from berdseye.evaluation.detection.contrast import contrast as contrasted
    from berdseye.evaluation.detection.contrast import contrast_references, contrast_table
    from berdseye.evaluation.detection.readable import readable

    results = [result for name in detector for result in contrasted(chosen_detector(name, workspace))]
    table = contrast_table([*results, *contrast_references()])
    if json:
        print_json(table.to_dict("records"))
        return
    print(readable(table).to_string(index=False))


def register_grade(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(grade)


def grade(
    detector: Annotated[list[str], typer.Argument(help="Detectors, such as stance or embedded.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Measure whether detectors tell sides, and keep their grades: `stance`, or `topic`.

    The labels of a detector of grade topic say what is on topic; pages then show "on topic" instead of "supports", and warn where
    figures depend on sides. A detector without a grade counts as topic. The measure is the share of contrasts that the
    detector gets right, each a passage with two statements, as a mean over six kinds; the lower end of its 95% interval must be
    above 60%.

    Example: `berdseye detector grade stance "crossencoder(mine)"`
    """
    from berdseye.detectors.detector_registry import parse_detector
    from berdseye.evaluation.detection.grading import grade_in

    ws = open_workspace(workspace)
    found = [grade_in(ws, parse_detector(name, ws)) for name in detector]
    if json:
        print_json([one._asdict() for one in found])
        return
    for one in found:
        print(f"{one.detector} ({one.version}): {one}")


def register_throughput(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(throughput)


def throughput(
    detector: Annotated[list[str], typer.Option(help="A detector; repeatable.")],
    file: Annotated[
        Path | None, typer.Argument(help="Labelled pairs to read. Default: artificial pairs of 100 words.")
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="Approximate measuring time per detector in seconds.", min=0.1, max=86_400)
    ] = 20.0,
    pairs: Annotated[int, typer.Option(help="Maximum number of pairs per detector.", min=2)] = 20_000,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Measure the speed, memory, tokens and cost of detectors, each in its own process.

    The detector lab shows the latest measurement. Tokens and dollars are per 1,000 pairs sent to a language model. BERDS reports
    15 minutes per data set, about 8 pairs per second, on an A40 with vLLM; the table also has the minutes that such a data set
    would take on this machine.

    Example: `berdseye detector throughput --detector embedded --seconds 5`
    """
    from dataclasses import asdict

    import pandas as pd

    from berdseye.data.datasets.labelled_pairs import read_labelled_pairs
    from berdseye.detectors.detector_registry import known_detector
    from berdseye.evaluation.detection.readable import readable
    from berdseye.evaluation.detection.throughput import measure_throughput, save_throughput

    for name in detector:
        known_detector(name)  # report an unknown name before starting a process
    file_pairs = None if file is None else [row.pair for row in read_labelled_pairs(file)][:pairs]
    ws = workspace_if_any(workspace)
    folder = None if ws is None else ws.folder
    measurements = [
        measure_throughput(name, folder, pairs=file_pairs, most=pairs, seconds=seconds) for name in detector
    ]
    if ws is not None:
        for measured in measurements:
            save_throughput(ws, measured)
    for measured in measurements:
        note_truncated(measured.detector, measured.truncated, measured.pairs)
    rows = [asdict(measured) for measured in measurements]
    if json:
        print_json(rows)
        return
    print(readable(pd.DataFrame(rows)).to_string(index=False))


def register_learning_curve(group: typer.Typer) -> None:
    """Add the command."""
    group.command("learning-curve")(learning_curve)


def learning_curve(
    file: Annotated[
        Path, typer.Argument(help="Labelled pairs with a column question, otherwise as for `detector score`.")
    ],
    detector: Annotated[str, typer.Option(help="stance, embedded, or embedded(NAME) from the workspace.")] = "stance",
    held_out: Annotated[
        Literal["questions", "passages"],
        typer.Option(help="What dev and test do not share with training: questions, or only passages."),
    ] = "questions",
    written: Annotated[
        Path | None, typer.Option(help="Labelled pairs that every training also reads; see `detector adapt --save`.")
    ] = None,
    batch: Annotated[int, typer.Option(help="Number of corrections between two trainings.", min=1)] = 50,
    rounds: Annotated[int, typer.Option(help="Number of batches.", min=1)] = 20,
    seeds: Annotated[int, typer.Option(help="Number of repetitions, each with other questions.", min=1)] = 3,
    strategy: Annotated[
        list[str] | None,
        typer.Option(help="How corrections are chosen: uncertain, random or all; repeatable. Default: each of them."),
    ] = None,
    chart: Annotated[
        Path | None,
        typer.Option(dir_okay=False, writable=True, help="Also draw the curve into an .svg, .png or .html file."),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Replay labels as corrections: retrain after every batch, and measure AUROC and F1 on held-out questions.

    Corrections come from the train split, chosen by uncertainty and at random; thresholds come from dev, and figures from test,
    with F1 at 16.8% positive. Without a column split, questions are divided 80/10/10; --held-out passages divides the passages of
    the same questions instead. The strategy `all` uses every train pair. A training of `stance` takes a minute
    or more for every 250 pairs, one of `embedded` seconds.

    Example: `berdseye detector learning-curve judged.tsv --rounds 10`
    """
    from berdseye.app.components.charts import worth_of_corrections
    from berdseye.app.jobs.training_sets import one_of
    from berdseye.data.files.atomic import write_bytes
    from berdseye.evaluation.charts import drawer
    from berdseye.evaluation.detection.learning_curve import FIGURES, GAIN, STRATEGIES, corrections_for_gain
    from berdseye.evaluation.detection.learning_curve import learning_curve as measured
    from berdseye.evaluation.detection.readable import readable

    strategies = [one_of("strategy", one, STRATEGIES) for one in strategy or STRATEGIES]
    draw = None if chart is None else drawer(chart)  # report an unusable file name before an hour's work
    chosen = chosen_detector(detector, workspace)
    with counting(chosen.name) as progress:
        curve, truncated = measured(
            chosen,
            file,
            batch=batch,
            rounds=rounds,
            seeds=seeds,
            held_out=held_out,
            written=written,
            strategies=strategies,
            progress=progress,
        )
    note_truncated(chosen.name, truncated)
    if chart is not None and draw is not None:
        write_bytes(chart, draw(worth_of_corrections(curve)))
        note(f"Chart: {chart}")
    needed = {figure: dict(corrections_for_gain(curve, figure)) for figure in FIGURES}
    if json:
        print_json({"curve": curve.to_dict("records"), "corrections_for_10_points": needed, "truncated": truncated})
        return
    print(readable(curve).to_string(index=False))
    for figure, by_strategy in needed.items():
        counts = ", ".join(f"{strategy} {count or 'never'}" for strategy, count in by_strategy.items())
        print(f"Corrections for {100 * GAIN:.0f} points of {figure.upper()}: {counts}.")
