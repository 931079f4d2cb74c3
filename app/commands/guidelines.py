"""`guidelines show | set | list`: what annotators are told, by version."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.arguments import not_with
from berdseye.app.commands.console import note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened
from berdseye.data.errors import BadInputError

if TYPE_CHECKING:
    from berdseye.annotation.guidelines.versions import Guidelines

guidelines = typer.Typer(no_args_is_help=True, help="What annotators are told, by version.")
TaskOption = Annotated[
    Literal["judge", "verify", "prefer"], typer.Option(help="The task whose pairs the text stands beside.")
]


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    guidelines.command("show")(show)
    guidelines.command("set")(set_text)
    guidelines.command("list")(list_all)
    cli.add_typer(guidelines, name="guidelines")


def show(
    version: Annotated[str | None, typer.Argument(help="A version; else what is in use.")] = None,
    task: TaskOption = "judge",
    batch: Annotated[str | None, typer.Option(help="What the annotators of this batch are told.")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Print the guidelines in use, of a batch, or of a version that judgments carry.

    Example: `berdseye guidelines show --task prefer`
    """
    from berdseye.annotation.batches.stored import load_batch
    from berdseye.annotation.guidelines.versions import in_use, load
    from berdseye.annotation.judgments.log import Judgments

    not_with("VERSION", version is not None, "batch", "task", why="which is one text")
    not_with("--batch", batch is not None, "task", why="which has a task of its own")
    judgments = Judgments.open(opened(workspace).judgments_url)
    if version is not None:
        found = load(judgments, version)
    elif batch is not None:
        held = load_batch(judgments, batch)
        found = in_use(judgments, held.task, held)
    else:
        found = in_use(judgments, task)
    print_json(found._asdict()) if json else print(found.text)


def set_text(
    path: Annotated[Path | None, typer.Argument(help="A Markdown file; none: the packaged text again.")] = None,
    task: TaskOption = "judge",
    workspace: WorkspaceOption = None,
) -> None:
    """Put a text beside pairs from now on; annotators are told once what changed. Batches with their own keep it.

    Example: `berdseye guidelines set ours.md`
    """
    from berdseye.annotation.guidelines.versions import use
    from berdseye.annotation.judgments.log import Judgments

    held = opened(workspace)
    text = None if path is None else read_guidelines(path)
    used: Guidelines = use(Judgments.open(held.judgments_url), text, task=task, made_by=acting_name(held))
    note(f"version {used.version} stands beside pairs to {task}")


def list_all(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the versions that are kept, and what each is in use for.

    Example: `berdseye guidelines list`
    """
    from berdseye.annotation.guidelines.versions import list_guidelines
    from berdseye.annotation.judgments.log import Judgments

    found = list_guidelines(Judgments.open(opened(workspace).judgments_url))
    if json:
        print_json([one._asdict() for one in found])
        return
    for one in found:
        used = f"in use to {', '.join(one.used_for)}" if one.used_for else "not in use"
        print(f"{one.version}\t{one.at[:10]}\t{one.made_by}\t{used}\t{one.text.splitlines()[0][:60]}")


def read_guidelines(path: Path) -> str:
    """The text of a file; raises `BadInputError` for one that cannot be read as UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"The guidelines cannot be read: {error}.", where=path, hint="Give a text file.") from error
