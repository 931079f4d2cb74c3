"""`judgments push | pull | drift | doctor | import | export`."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from berdseye.app.commands.arguments import only_with
from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.label_studio import import_file
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened

judgments = typer.Typer(no_args_is_help=True, help="Exchange judgments with Label Studio, and export them.")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    judgments.command("import")(import_file)
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
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.exchange import push_workspace
    from berdseye.detectors.labelling import adopted_predictions

    only_with("--run", run, "k")
    held = opened(workspace)
    with counting("sent") as progress:
        report = push_workspace(
            held,
            Judgments.open(held.judgments_url),
            adopted_predictions(held),
            run or [],
            k,
            progress=_counted(progress),
        )
    print_json(report.__dict__) if json else note(str(report))


@judgments.command("pull")
def pull(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Bring here what was annotated in Label Studio; each judgment counts once.

    Example: `berdseye judgments pull`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.exchange import pull_workspace

    held = opened(workspace)
    with counting("received") as progress:
        report = pull_workspace(held, Judgments.open(held.judgments_url), progress=_counted(progress))
    print_json(report.__dict__) if json else note(str(report))


@judgments.command("drift")
def drift(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Compare the judgments here with Label Studio's, word by word; neither side is changed. Exit status 1: they differ.

    Example: `berdseye judgments drift`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.exchange import drifts

    held = opened(workspace)
    found = drifts(held, Judgments.open(held.judgments_url))
    if json:
        print_json([one.as_json() for one in found])
    for one in () if json else found:
        note(str(one))
        for word in one.words:
            note(f"  {word.person}, pair {word.pair}: here {word.here}, there {word.there}; {word.cure}")
    if not found:
        note("No project of Label Studio holds judgments of this workspace yet.")
    raise typer.Exit(int(any(found)))


@judgments.command("doctor")
def doctor(
    mend: Annotated[bool, typer.Option("--fix", help="Mend what can be; no event is changed or deleted.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Look for faults in the judgments database and, where it answers, in Label Studio. Exit status 1: some are left.

    Example: `berdseye judgments doctor --fix`
    """
    from berdseye.annotation.doctor.examine import mend as mended
    from berdseye.annotation.doctor.finding import Finding
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.exchange import check_health

    held = opened(workspace)
    judged = Judgments.open(held.judgments_url)
    left, unreached = check_health(held, judged)
    done: list[Finding] = []
    if mend:
        done, left = mended(judged, lambda: check_health(held, judged)[0])
    if json:
        told = {"mended": [one.as_json() for one in done], "left": [one.as_json() for one in left]}
        print_json(told | {"label_studio": unreached or "examined"})
        raise typer.Exit(int(bool(left)))
    for one in done:
        note(f"Mended. {one.check}: {one.text}")
    for one in left:
        note(str(one))
    if unreached:
        note(f"Only the judgments here were looked at: {unreached}")
    if not left:
        note("Nothing is wrong." if not done else "Nothing is wrong any more.")
    raise typer.Exit(int(bool(left)))


@judgments.command("export")
def export(
    path: Annotated[Path, typer.Argument(dir_okay=False, writable=True, help="A .csv, .jsonl or .parquet file.")],
    what: Annotated[
        Literal["judgments", "training"], typer.Option(help="All judgments, or fine-tuning data.")
    ] = "judgments",
    demo: Annotated[
        bool | None,
        typer.Option(
            "--demo/--no-demo", help="With the demo's made-up annotators; else in judgments, not in training."
        ),
    ] = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Write the present judgments, or fine-tuning data split by question.

    Example: `berdseye judgments export train.jsonl --what training`
    """
    from berdseye.annotation.judgments.adjudication import adjudicated_labels
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.training_sets.labelling import training_data
    from berdseye.data.files.tables import write_table

    judged = Judgments.open(opened(workspace).judgments_url)
    frame = judged.frame()
    frame = frame if (what == "judgments" if demo is None else demo) else frame[~frame["demo"].astype(bool)]
    table = frame if what == "judgments" else training_data(frame, adjudicated=adjudicated_labels(judged))
    write_table(table, path)
    note(f"{path}: {len(table)} rows")
    if demo and what == "training" and (made_up := int(frame["demo"].astype(bool).sum())):
        note(
            f"{made_up:,} of {len(frame):,} judgments are of the demo's made-up annotators: "
            "a detector that learns them learns nothing."
        )


def _counted(progress: Callable[[int, str], None]) -> Callable[[int, int], None]:
    return lambda done, total: progress(done, f"of {total}")
