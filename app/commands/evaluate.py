"""`evaluate`: measures of a run, stored here or made elsewhere."""

from pathlib import Path
from typing import Annotated, Any

import typer

from app.commands.options import JsonOption, WorkspaceOption, opened
from app.console import counting, print_json


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(evaluate)


def evaluate(
    run: Annotated[
        str | None, typer.Option(help="A file in the released BERDS form, or a stored run; else all runs.")
    ] = None,
    measures: Annotated[str, typer.Option(help="Measures, separated by spaces.")] = "MRecall@5 Precision@5 Precision@1",
    labels: Annotated[
        str | None,
        typer.Option(help="For stored runs: human, gold, a detector, human>embedded; else the adopted detector."),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Compute measures, each with its 95% interval over n questions.

    A file is JSONL; each line has question, perspectives and ctxs, each ctx a text and a list of 0/1 under `labels`, one
    for each perspective. For stored runs the label source is named beside every number.

    Example: `berdseye evaluate --run results.jsonl --measures "MRecall@5 Precision@5" --json`
    """
    rows = (
        _file(Path(run), measures)
        if run is not None and Path(run).is_file()
        else _stored(run, measures, labels, workspace)
    )
    if json:
        print_json(rows)
        return
    for row in rows if isinstance(rows, list) else [{"measure": name, **values} for name, values in rows.items()]:
        print("\t".join(f"{v:.4f}" if isinstance(v, float) else str(v) for v in row.values()))


def _file(path: Path, measures: str) -> dict[str, dict[str, Any]]:
    from evaluation.intervals import mean_with_interval
    from evaluation.measures import parse_measures
    from evaluation.released import read_released_run

    parsed = parse_measures(measures)
    support = read_released_run(path)
    return {
        str(m): {**mean_with_interval(m.values(support))._asdict(), "judged": support.judged_at(m.k)} for m in parsed
    }


def _stored(run: str | None, measures: str, labels: str | None, workspace: Path | None) -> list[dict[str, Any]]:
    from annotation.judgments import Judgments
    from data.errors import BadInputError
    from data.runs import list_runs, load_run
    from detectors.trained import adopted_detector
    from evaluation.label_sources import parse_label_source
    from evaluation.measures import parse_measures
    from evaluation.scoring import macro_average, score_run

    if run is not None and Path(run).suffix in (".jsonl", ".json"):
        raise BadInputError("There is no such file.", where=run, hint="Check the path.")
    held, parsed = opened(workspace), parse_measures(measures)
    source = parse_label_source(labels or adopted_detector(held))
    names = [run] if run is not None else [r.name for r in list_runs(held)]
    if not names:
        raise BadInputError("There is no run yet.", hint="Make one with `berdseye run`, or name a file with --run.")
    judgments = Judgments.open(held.judgments_url)
    scores = []
    for name in names:
        with counting(name) as progress:
            scores += score_run(held, judgments, load_run(held, name), source, parsed, progress=progress)
    if run is None:
        scores += macro_average(scores)
    return [
        {
            "dataset": s.dataset,
            "corpus": s.corpus,
            "pipeline": s.pipeline,
            "measure": s.measure,
            **s.estimate._asdict(),
            "judged": s.judged,
            "labels": s.labels,
            "detector_version": s.detector_version,
        }
        for s in scores
    ]
