"""`judgments push | pull | export`."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from app.commands.options import JsonOption, WorkspaceOption, opened
from app.console import counting, note, print_json

judgments = typer.Typer(no_args_is_help=True, help="Exchange judgments with Label Studio, and export them.")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(judgments, name="judgments")


@judgments.command("push")
def push(
    run: Annotated[
        list[str] | None, typer.Option(help="Also send the pairs of this stored run; may be given again.")
    ] = None,
    k: Annotated[int, typer.Option("--k", "-k", help="Top k of those runs.")] = 5,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Send what waits to Label Studio; sending again sends nothing twice.

    Example: `berdseye judgments push --run "debate--web--bm25" --k 5`
    """
    from annotation.judgments import Judgments
    from app.exchange import send

    held = opened(workspace)
    with counting("sent") as progress:
        report = send(held, Judgments.open(held.judgments_url), run or [], k, progress=_counted(progress))
    print_json(report.__dict__) if json else note(str(report))


@judgments.command("pull")
def pull(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Bring here what was annotated in Label Studio; each judgment counts once.

    Example: `berdseye judgments pull`
    """
    from annotation.judgments import Judgments
    from app.exchange import receive

    held = opened(workspace)
    with counting("received") as progress:
        report = receive(held, Judgments.open(held.judgments_url), progress=_counted(progress))
    print_json(report.__dict__) if json else note(str(report))


@judgments.command("export")
def export(
    path: Annotated[Path, typer.Argument(help="A .csv, .jsonl or .parquet file.")],
    what: Annotated[
        Literal["judgments", "training"], typer.Option(help="All judgments, or fine-tuning data.")
    ] = "judgments",
    demo: Annotated[bool, typer.Option(help="Include the demo annotators.")] = True,
    workspace: WorkspaceOption = None,
) -> None:
    """Write the present judgments, or fine-tuning data split by question.

    Example: `berdseye judgments export train.jsonl --what training --no-demo`
    """
    from annotation.adjudication import gold_words
    from annotation.export import write_table
    from annotation.judgments import Judgments
    from annotation.training_data import training_data

    judged = Judgments.open(opened(workspace).judgments_url)
    frame = judged.frame()
    frame = frame if demo else frame[~frame["demo"].astype(bool)]
    table = frame if what == "judgments" else training_data(frame, adjudicated=gold_words(judged))
    write_table(table, path)
    note(f"{path}: {len(table)} rows")
    if what == "training" and (made_up := int(frame["demo"].astype(bool).sum())):
        note(
            f"{made_up:,} of {len(frame):,} judgments are of the demo's made-up annotators: leave them out with --no-demo."
        )


def _counted(progress: Callable[[int, str], None]) -> Callable[[int, int], None]:
    return lambda done, total: progress(done, f"of {total}")
