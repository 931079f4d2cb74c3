"""`berdseye judgments`: exchange judgments with Label Studio, compare and repair both sides, and export judgments."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.label_studio import import_file
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.data.given_options import only_with

judgments = typer.Typer(no_args_is_help=True, help="Exchange judgments with Label Studio, check them, and export them.")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    judgments.command("import")(import_file)
    cli.add_typer(judgments, name="judgments")


@judgments.command("push")
def push(
    run: Annotated[list[str] | None, typer.Option(help="Also push the pairs of this stored run; repeatable.")] = None,
    k: Annotated[
        int, typer.Option("--k", "-k", help="Number of top passages taken from each question of those runs.")
    ] = 5,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Push everything pending to Label Studio; pushing again sends nothing twice.

    Example: `berdseye judgments push --run "debate--web--bm25" --k 5`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.exchange import push_workspace
    from berdseye.detectors.labelling import adopted_predictions

    only_with("--run", run, "k")
    ws = open_workspace(workspace)
    with counting("pushed") as progress:
        report = push_workspace(
            ws,
            Judgments.open(ws.judgments_url),
            adopted_predictions(ws),
            run or [],
            k,
            progress=_counted(progress),
        )
    print_json(report.__dict__) if json else note(str(report))


@judgments.command("pull")
def pull(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Pull annotations from Label Studio; each judgment counts once.

    Example: `berdseye judgments pull`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.exchange import pull_workspace

    ws = open_workspace(workspace)
    with counting("pulled") as progress:
        report = pull_workspace(ws, Judgments.open(ws.judgments_url), progress=_counted(progress))
    print_json(report.__dict__) if json else note(str(report))


@judgments.command("drift")
def drift(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Compare the judgments in the workspace with those in Label Studio one by one, and change nothing.

    Exit status 1 means that they differ.

    Example: `berdseye judgments drift`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.drift import drifts

    ws = open_workspace(workspace)
    drift_by_project = drifts(ws, Judgments.open(ws.judgments_url))
    if json:
        print_json([one.as_json() for one in drift_by_project])
    for one in () if json else drift_by_project:
        note(str(one))
        for judgment in one.judgments:
            note(
                f"  {judgment.person}, pair {judgment.pair}: in the workspace {judgment.here}, in Label Studio "
                f"{judgment.there}; {judgment.remedy}"
            )
    if not drift_by_project:
        note("No Label Studio project contains judgments of this workspace yet.")
    raise typer.Exit(int(any(drift_by_project)))


@judgments.command("doctor")
def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Fix what can be fixed; no event is changed or deleted.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Look for faults in the judgments database and, where it responds, in Label Studio.

    Exit status 1 means that faults remain.

    Example: `berdseye judgments doctor --fix`
    """
    from berdseye.annotation.doctor.examine import fix_all as fix_faults
    from berdseye.annotation.doctor.finding import Finding
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.drift import check_health

    ws = open_workspace(workspace)
    judged = Judgments.open(ws.judgments_url)
    left, unreached = check_health(ws, judged)
    fixed: list[Finding] = []
    if fix:
        fixed, left = fix_faults(judged, lambda: check_health(ws, judged)[0])
    if json:
        report = {"mended": [one.as_json() for one in fixed], "left": [one.as_json() for one in left]}
        print_json(report | {"label_studio": unreached or "examined"})
        raise typer.Exit(int(bool(left)))
    for one in fixed:
        note(f"Fixed. {one.check}: {one.text}")
    for one in left:
        note(str(one))
    if unreached:
        note(f"Only the judgments in the workspace were checked: {unreached}")
    if not left:
        note("No faults found." if not fixed else "No faults remain.")
    raise typer.Exit(int(bool(left)))


@judgments.command("export")
def export(
    path: Annotated[Path, typer.Argument(dir_okay=False, writable=True, help="A .csv, .jsonl or .parquet file.")],
    what: Annotated[
        Literal["judgments", "training"], typer.Option(help="What to write: current judgments, or fine-tuning data.")
    ] = "judgments",
    demo: Annotated[
        bool | None,
        typer.Option(
            "--demo/--no-demo",
            help="Include the simulated annotators of the demo. Default: included in judgments, excluded from training data.",
        ),
    ] = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Write the current judgments, or fine-tuning data split by question.

    Example: `berdseye judgments export train.jsonl --what training`
    """
    from berdseye.annotation.judgments.adjudication import adjudicated_labels
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.training_sets.labelling import training_data
    from berdseye.data.files.tables import write_table

    judged = Judgments.open(open_workspace(workspace).judgments_url)
    frame = judged.frame()
    frame = frame if (what == "judgments" if demo is None else demo) else frame[~frame["demo"].astype(bool)]
    table = frame if what == "judgments" else training_data(frame, adjudicated=adjudicated_labels(judged))
    write_table(table, path)
    note(f"{path}: {len(table)} rows")
    if demo and what == "training" and (simulated := int(frame["demo"].astype(bool).sum())):
        note(
            f"{simulated:,} of {len(frame):,} judgments are by simulated annotators of the demo: "
            "a detector trained on them learns nothing."
        )


def _counted(progress: Callable[[int, str], None]) -> Callable[[int, int], None]:
    return lambda done, total: progress(done, f"of {total}")
