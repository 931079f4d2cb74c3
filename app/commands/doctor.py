"""`doctor`: is everything in the workspace as it was written?"""

from dataclasses import asdict
from typing import Annotated

import typer

from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened
from berdseye.app.console import counting, note, print_json


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(doctor)


def doctor(
    record: Annotated[
        bool, typer.Option("--record", help="Record checksums of what an older version wrote, as it is now.")
    ] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Compare every stored file with its checksum, and look for faults of the judgments. Exit status 1: something is damaged.

    Each damaged, missing or unexpected file of corpora, indexes, data sets, runs, labels and answers is a line with the command
    that makes it again. Nothing is changed, except that --record writes checksums where there are none. `judgments doctor`
    looks at the judgments alone, and at Label Studio.

    Example: `berdseye doctor`
    """
    from berdseye.app.judgments_state import examine_judgments
    from berdseye.app.stored_files import examine

    held = opened(workspace)
    with counting("doctor") as progress:
        found = examine(held, record=record, progress=progress)
    judged = examine_judgments(held)
    bad = bool(found.damaged or judged)
    if json:
        print_json(asdict(found) | {"judgments": [one.as_json() for one in judged], "sound": not bad})
        raise typer.Exit(int(bad))
    for fault in found.damaged:
        print(f"damaged\t{fault}")
    for fault in found.unexpected:
        print(f"unexpected\t{fault}")
    for one in judged:
        print(f"judgments\t{one} Look: `berdseye judgments doctor`.")
    if found.recorded:
        note(f"Checksums of {len(found.recorded):,} sets of files were recorded as they are now.")
    if found.unrecorded:
        note(
            f"{len(found.unrecorded):,} sets of files have no checksums, since an older version wrote them: "
            "`berdseye doctor --record` records them as they are now."
        )
    note(
        f"{found.files:,} files, {found.bytes / 1e6:,.1f} MB: {len(found.damaged):,} damaged or missing, "
        f"{len(found.unexpected):,} unexpected; {len(judged):,} faults of the judgments."
    )
    raise typer.Exit(int(bad))
