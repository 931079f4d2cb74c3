"""`berdseye tune`: choose the weight of MMR on a dev split."""

from typing import Annotated

import typer

from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.app.commands.unjudged_option import UnjudgedOption


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(tune)


def tune(
    dataset: Annotated[list[str], typer.Option(help="A data set of the dev split; repeatable.")],
    corpus: Annotated[str, typer.Option(help="The corpus.")],
    pipeline: Annotated[str, typer.Option(help="A pipeline that ends in mmr(tuned).")] = "bm25 >> mmr(tuned)",
    measure: Annotated[str, typer.Option(help="The measure to maximise.")] = "MRecall@5",
    labels: Annotated[
        str | None,
        typer.Option(help="The label source. Default: human>gold>DETECTOR with gold labels, otherwise the detector."),
    ] = None,
    unjudged: UnjudgedOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Choose lambda of `mmr(tuned)` from BERDS's grid, and store it for this pipeline and corpus.

    From then on, `mmr(tuned)` uses that weight in `search`, `run` and the app.

    Example: `berdseye tune --dataset kialo --dataset opinionqa --corpus debates --pipeline "bm25 >> mmr(tuned)"`
    """
    from dataclasses import asdict

    from berdseye.annotation.judgments.log import Judgments
    from berdseye.evaluation.labels.sources import default_source, parse_label_source
    from berdseye.evaluation.measures import parse_measure
    from berdseye.evaluation.scores.tuning import tune as tuned

    ws = open_workspace(workspace)
    parsed = parse_measure(measure)
    with counting(f"{pipeline} over {corpus}") as progress:
        chosen = tuned(
            ws,
            Judgments.open(ws.judgments_url),
            dataset,
            corpus,
            pipeline,
            parse_label_source(labels or default_source(ws)),
            parsed,
            unjudged=unjudged,
            progress=progress,
        )
    if json:
        print_json(asdict(chosen))
        return
    for weight, value in chosen.scores.items():
        print(f"{weight}\t{value:.4f}{'  <- chosen' if float(weight) == chosen.weight else ''}")
    note(
        f"mmr(tuned) is now mmr({chosen.weight:g}) for this pipeline over '{corpus}', by {chosen.measure} ({chosen.labels}, "
        f"unjudged: {chosen.unjudged})."
    )
