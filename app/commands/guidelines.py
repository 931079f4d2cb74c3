"""`berdseye guidelines`: show, set and list the versions of the annotation guidelines."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.console import note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.data.errors import BadInputError
from berdseye.data.given_options import not_with

if TYPE_CHECKING:
    from berdseye.annotation.guidelines.versions import Guidelines

guidelines = typer.Typer(no_args_is_help=True, help="Show, set and list the versions of the annotation guidelines.")
TaskOption = Annotated[
    Literal["judge", "verify", "prefer", "check"], typer.Option(help="The annotation task that the guidelines are for.")
]


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    guidelines.command("show")(show)
    guidelines.command("set")(set_text)
    guidelines.command("list")(list_all)
    cli.add_typer(guidelines, name="guidelines")


def show(
    version: Annotated[str | None, typer.Argument(help="A version. Default: the version in use.")] = None,
    task: TaskOption = "judge",
    batch: Annotated[str | None, typer.Option(help="Show the guidelines of this batch.")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Print the guidelines in use, those of a batch, or a version that judgments refer to.

    Example: `berdseye guidelines show --task prefer`
    """
    from berdseye.annotation.batches.stored import load_batch
    from berdseye.annotation.guidelines.versions import in_use, load
    from berdseye.annotation.judgments.log import Judgments

    not_with("VERSION", version is not None, "batch", "task", why="which identifies one text")
    not_with("--batch", batch is not None, "task", why="which has its own task")
    judgments = Judgments.open(open_workspace(workspace).judgments_url)
    if version is not None:
        shown = load(judgments, version)
    elif batch is not None:
        stored_batch = load_batch(judgments, batch)
        shown = in_use(judgments, stored_batch.task, stored_batch)
    else:
        shown = in_use(judgments, task)
    print_json(shown._asdict()) if json else print(shown.text)


def set_text(
    path: Annotated[
        Path | None, typer.Argument(help="A Markdown file. Default: the guidelines packaged with Berdseye.")
    ] = None,
    task: TaskOption = "judge",
    workspace: WorkspaceOption = None,
) -> None:
    """Show these guidelines to annotators from now on, who see once what changed. Batches with their own guidelines keep them.

    Example: `berdseye guidelines set ours.md`
    """
    from berdseye.annotation.guidelines.versions import use
    from berdseye.annotation.judgments.log import Judgments

    ws = open_workspace(workspace)
    text = None if path is None else read_guidelines(path)
    used: Guidelines = use(Judgments.open(ws.judgments_url), text, task=task, made_by=acting_name(ws))
    note(f"version {used.version} is now in use for the task {task}")


def list_all(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the stored versions, and the tasks that each is in use for.

    Example: `berdseye guidelines list`
    """
    from berdseye.annotation.guidelines.versions import list_guidelines
    from berdseye.annotation.judgments.log import Judgments

    versions = list_guidelines(Judgments.open(open_workspace(workspace).judgments_url))
    if json:
        print_json([one._asdict() for one in versions])
        return
    for one in versions:
        used = f"in use for {', '.join(one.used_for)}" if one.used_for else "not in use"
        print(f"{one.version}\t{one.at[:10]}\t{one.made_by}\t{used}\t{one.text.splitlines()[0][:60]}")


def read_guidelines(path: Path) -> str:
    """The text of the file at `path`. Raises `BadInputError` where it cannot be read as UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(
            f"The guidelines cannot be read: {error}.", where=path, hint="Give a UTF-8 text file."
        ) from error
