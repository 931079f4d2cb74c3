"""`backup` and `restore`."""

import os
from pathlib import Path
from typing import Annotated

import typer

from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened
from berdseye.data.errors import BadInputError


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.command()(backup)
    cli.command()(restore)


def backup(
    file: Annotated[
        Path,
        typer.Argument(dir_okay=False, writable=True, help="The .zip file to write; an existing one is not replaced."),
    ],
    corpora: Annotated[bool, typer.Option(help="With corpora and their indexes, which can be large.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Write the workspace's precious parts into one file, also while people judge.

    Judgments, settings, data sets, runs, labels, detectors, thresholds, training sets and results of studies, each with its
    SHA-256. Not in it: corpora unless asked for, downloads, and Label Studio's own data, which hold secrets.

    Example: `berdseye backup monday.zip`
    """
    from berdseye.annotation.backup.writing import back_up, left_out

    held = opened(workspace)
    with counting("backup") as progress:
        manifest = back_up(held, file, corpora=corpora, progress=progress)
    size = file.stat().st_size
    if json:
        told = {"file": str(file), "bytes": size, "files": len(manifest.files), "events": manifest.events}
        print_json(told | {"gone": manifest.gone, "left_out": left_out(held, manifest)})
        return
    note(f"{file}: {len(manifest.files)} files, {manifest.events:,} events of judging, {size:,} bytes")
    for name, why in left_out(held, manifest).items():
        note(f"Not in it: {name} ({why}).")
    for name in manifest.gone:
        note(f"Vanished while it was written: {name}.")


def restore(
    file: Annotated[Path, typer.Argument(help="A backup.")],
    folder: Annotated[
        Path,
        typer.Argument(
            file_okay=False, writable=True, help="The new workspace; a folder that holds anything is refused."
        ),
    ],
    judgments_url: Annotated[
        str, typer.Option(help="An empty PostgreSQL (or SQLite) database for the judgments, in place of judgments.db.")
    ] = "",
) -> None:
    """Make a workspace of a backup: every hash is compared, the judgments are counted, and only then the folder appears.

    Example: `berdseye restore monday.zip restored`
    """
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    from berdseye.annotation.backup.restoring import restore as restored

    try:
        password = make_url(judgments_url).password if judgments_url else None
    except ArgumentError as error:
        raise BadInputError(
            "--judgments-url is not the address of a database.", hint="Write it like postgresql://USER@HOST/NAME."
        ) from error
    with counting("restore") as progress:
        made, manifest = restored(file, folder, judgments_url=judgments_url, progress=progress)
    note(f"Workspace {made.folder}: {len(manifest.files)} files, {manifest.events:,} events, as of {manifest.created}.")
    if password:
        note("The password of the database is not in the settings: set BERDSEYE_JUDGMENTS_URL, or PGPASSWORD.")
    if os.environ.get("BERDSEYE_JUDGMENTS_URL") and not judgments_url:
        note("BERDSEYE_JUDGMENTS_URL is set and comes before the restored judgments: unset it to use them.")
