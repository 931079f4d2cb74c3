"""`berdseye backup` and `berdseye restore`: a workspace as one file, and back."""

import os
from pathlib import Path
from typing import Annotated

import typer

from berdseye.app.commands.console import counting, end_cleanly, note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.data.errors import BadInputError
from berdseye.data.texts.counts import counted


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.command()(backup)
    cli.command()(restore)


def backup(
    file: Annotated[
        Path,
        typer.Argument(dir_okay=False, writable=True, help="The .zip file to write; it must not exist yet."),
    ],
    corpora: Annotated[bool, typer.Option(help="Include the corpora and their indexes, which can be large.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Back up the workspace into one file; annotators may keep working meanwhile.

    The backup contains judgments, settings, data sets, runs, labels, detectors, thresholds, training sets and results of
    studies, each file with its SHA-256. It excludes downloads, Label Studio's own data, which contain secrets, and, without
    --corpora, corpora.

    Example: `berdseye backup monday.zip`
    """
    from berdseye.annotation.backup.writing import back_up, left_out

    ws = open_workspace(workspace)
    end_cleanly()
    with counting("backup") as progress:
        manifest = back_up(ws, file, corpora=corpora, progress=progress)
    size = file.stat().st_size
    if json:
        summary = {"file": str(file), "bytes": size, "files": len(manifest.files), "events": manifest.events}
        print_json(summary | {"gone": manifest.gone, "left_out": left_out(ws, manifest)})
        return
    note(
        f"{file}: {counted(len(manifest.files), 'file')}, {counted(manifest.events, 'judgment event')}, {size:,} bytes"
    )
    for name, why in left_out(ws, manifest).items():
        note(f"Not included: {name} ({why}).")
    for name in manifest.gone:
        note(f"Deleted while the backup was written: {name}.")


def restore(
    file: Annotated[Path, typer.Argument(help="The backup to restore.")],
    folder: Annotated[
        Path,
        typer.Argument(
            file_okay=False, writable=True, help="The folder of the new workspace; it must be empty or not exist."
        ),
    ],
    judgments_url: Annotated[
        str,
        typer.Option(help="URL of an empty PostgreSQL or SQLite database for the judgments, instead of judgments.db."),
    ] = "",
) -> None:
    """Restore a workspace from a backup.

    Berdseye compares every file with its SHA-256 and counts the judgments before it creates the folder.

    Example: `berdseye restore monday.zip restored`
    """
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    from berdseye.annotation.backup.restoring import restore as restore_backup

    try:
        password = make_url(judgments_url).password if judgments_url else None
    except ArgumentError as error:
        raise BadInputError(
            "--judgments-url is not a database URL.", hint="Write it like postgresql://USER@HOST/NAME."
        ) from error
    with counting("restore") as progress:
        restored, manifest = restore_backup(file, folder, judgments_url=judgments_url, progress=progress)
    note(
        f"Workspace {restored.folder}: {counted(len(manifest.files), 'file')}, {counted(manifest.events, 'judgment event')}, "
        f"as of {manifest.created}."
    )
    if password:
        note("The settings do not contain the database password: set BERDSEYE_JUDGMENTS_URL or PGPASSWORD.")
    if os.environ.get("BERDSEYE_JUDGMENTS_URL") and not judgments_url:
        note("BERDSEYE_JUDGMENTS_URL is set and overrides the restored judgments: unset it to use them.")
