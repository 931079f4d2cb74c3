"""`pir`: p-Recall over the released tasks of PIR."""

from pathlib import Path
from typing import Annotated

import typer

from app.commands.options import JsonOption
from app.console import counting, print_json

_ENCODER = "dense(static)"


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(pir)


def pir(
    task: Annotated[list[Path], typer.Argument(help="Released task files.")],
    pipeline: Annotated[
        list[str] | None, typer.Option(help="A pipeline; may be given again. Without one: those of the table.")
    ] = None,
    encoder: Annotated[str, typer.Option(help="The dense retriever of the table's projections.")] = _ENCODER,
    k: Annotated[int, typer.Option("--k", "-k", help="How many passages count.")] = 5,
    singleton_zero: Annotated[
        bool, typer.Option("--singleton-zero", help="Count roots with one query as 0, as the released notebook does.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """p-Recall@k and Recall@k of pipelines over PIR's tasks.

    Example: `berdseye pir perspectrum.json ambigqa.json --encoder "dense(all-MiniLM-L6-v2)"`
    """
    from data.pir_tasks import read_pir_task
    from evaluation.perspective_recall import perspective_recalls
    from retrieval.projection.forms import FORMS
    from retrieval.registry import parse_pipeline

    names = pipeline or [
        "bm25(okapi-notebook)",
        "bm25",
        *dict.fromkeys((_ENCODER, encoder)),
        *(f"{encoder} >> {form}" for form in FORMS),
        f"{encoder} >> pap(perspective=difference)",
    ]
    parsed = [parse_pipeline(name) for name in names]
    rows = []
    for path in task:
        read = read_pir_task(path)
        with counting(read.name) as progress:
            found = perspective_recalls(read, parsed, k, singleton="zero" if singleton_zero else "mean")
            for number, (one, values) in enumerate(zip(parsed, found, strict=True), start=1):
                progress(number, "pipelines")
                rows.append({"task": read.name, "pipeline": str(one), "k": k, **values._asdict()})
    if json:
        print_json(rows)
        return
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    held = {(row["task"], row["pipeline"]): row for row in rows}
    print("\t".join(["pipeline", *(f"{t} p-Recall@{k} (Recall, root)" for t in tasks)]))
    for name in map(str, parsed):
        cells = [held[t, name] for t in tasks]
        shown = [f"{100 * c['p_recall']:.1f} ({100 * c['recall']:.1f}, {100 * c['root_recall']:.1f})" for c in cells]
        print("\t".join([name, *shown]))
