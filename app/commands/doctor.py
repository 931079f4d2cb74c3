"""`berdseye doctor`: compare every stored file of a workspace with its checksum, and look for faults in the judgments."""

from typing import Annotated

import typer

from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(doctor)


def doctor(
    record: Annotated[
        bool,
        typer.Option(
            "--record", help="Record checksums for files that an older version wrote, with their present contents."
        ),
    ] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Compare every stored file with its checksum, and look for faults in the judgments. Exit status 1 means damage.

    The command prints one line for each damaged, missing or unexpected file of corpora, indexes, data sets, runs, labels and
    answers, with the command that recreates it. It changes nothing, except that --record writes missing checksums.
    `berdseye judgments doctor` checks only the judgments, in the workspace and in Label Studio.

    Example: `berdseye doctor`
    """
    from dataclasses import asdict

    from berdseye.app.jobs.examining import compare_files, examine_judgments

    ws = open_workspace(workspace)
    with counting("doctor") as progress:
        result = compare_files(ws, record=record, progress=progress)
    judgment_faults = examine_judgments(ws)
    bad = bool(result.damaged or judgment_faults)
    if json:
        print_json(asdict(result) | {"judgments": [one.as_json() for one in judgment_faults], "sound": not bad})
        raise typer.Exit(int(bad))
    for fault in result.damaged:
        print(f"damaged\t{fault}")
    for fault in result.unexpected:
        print(f"unexpected\t{fault}")
    for one in judgment_faults:
        print(f"judgments\t{one} See `berdseye judgments doctor`.")
    if result.recorded:
        note(f"Recorded the present checksums of {len(result.recorded):,} sets of files.")
    if result.unrecorded:
        note(
            f"{len(result.unrecorded):,} sets of files have no checksums, because an older version wrote them: "
            "`berdseye doctor --record` records their present checksums."
        )
    note(
        f"{result.files:,} files, {result.bytes / 1e6:,.1f} MB: {len(result.damaged):,} damaged or missing, "
        f"{len(result.unexpected):,} unexpected; {len(judgment_faults):,} faults in the judgments."
    )
    raise typer.Exit(int(bad))
