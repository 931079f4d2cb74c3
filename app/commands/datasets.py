"""`dataset`: questions with their perspectives."""

from pathlib import Path
from typing import Annotated

import typer

from app.commands.options import JsonOption, WorkspaceOption, opened
from app.console import note, print_json
from data.errors import BadInputError

dataset = typer.Typer(no_args_is_help=True, help="Add and list data sets.")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(dataset, name="dataset")


@dataset.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Its name in the workspace.")],
    path: Annotated[Path, typer.Argument(help="A .jsonl or .json file.")],
    replace: Annotated[bool, typer.Option("--replace", help="Take the place of a data set of this name.")] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Add questions with perspectives. The layout is recognised by what the file holds.

    Ours is JSONL, a question a line: {"id", "question", "perspectives": ["text" or {"text", "stance"}]}. Also read: BERDS
    releases, PIR tasks (with gold), Perspectrum (with its pool beside it), debates (with gold).

    Example: `berdseye dataset add kialo kialo.jsonl`
    """
    from data.datasets import import_dataset

    held = opened(workspace)
    if name in held.datasets() and not replace:
        raise BadInputError(f"There is a data set '{name}' already.", hint="Choose another name, or pass --replace.")
    imported = import_dataset(held, name, path)
    note(f"{name}: {len(imported.questions)} questions ({imported.layout}), {len(imported.gold)} gold labels")


@dataset.command("list")
def list_all(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the data sets.

    Example: `berdseye dataset list`
    """
    from data.datasets import load_dataset

    held = opened(workspace)
    rows = [(name, load_dataset(held, name)) for name in held.datasets()]
    table = [{"name": n, "questions": len(q), "perspectives": sum(len(x.perspectives) for x in q)} for n, q in rows]
    if json:
        print_json(table)
        return
    for row in table:
        print("\t".join(map(str, row.values())))
