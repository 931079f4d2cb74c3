"""`detector learning-curve`: what corrections are worth."""

from pathlib import Path
from typing import Annotated

import typer

from berdseye.app.commands.options import JsonOption, WorkspaceOption, chosen_detector
from berdseye.app.console import counting, note, print_json


def register(group: typer.Typer) -> None:
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
    from berdseye.data.atomic import write_bytes
    from berdseye.evaluation.chart_files import drawer
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
