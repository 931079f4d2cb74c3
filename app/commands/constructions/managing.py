"""Commands about existing constructions: what they kept and rejected, people's decisions, and the data sets that they give."""

from typing import Annotated

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.console import note, print_json
from berdseye.app.commands.constructions.options import NameArgument, name_and_value, print_funnel
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, WorkspaceOption, open_workspace
from berdseye.data.errors import BadInputError
from berdseye.data.texts.counts import counted

_LONGEST = 300
"""The characters of a printed text; with --json, texts are whole."""
StepOption = Annotated[str | None, typer.Option(help="Only this step.")]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    for command in (show, report, rejected, overrule, dataset, remove):
        group.command()(command)
    group.command("list")(list_all)


def show(name: NameArgument, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Print how many rows each step of a construction kept and rejected, beside the paper's counts, with reasons and costs.

    Example: `berdseye construct show mine`
    """
    from berdseye.evaluation.construction.opening import open_construction

    print_funnel(open_construction(open_workspace(workspace), name), json)


def report(name: NameArgument, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Print the report of a construction: what each step kept, and what is special to its kind, such as sources and topics.

    Example: `berdseye construct report mine`
    """
    from berdseye.evaluation.construction.opening import open_construction

    opened = open_construction(open_workspace(workspace), name)
    lines = [] if opened.kind.report is None else opened.kind.report(opened)
    if json:
        print_json({"name": opened.name, "kind": opened.kind.name, "lines": lines})
        return
    print_funnel(opened, json)
    for line in lines:
        print(line)


def rejected(
    name: NameArgument,
    step: StepOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List the rows that are not used: the step, the row, the reason, and the beginning of the row's text.

    Example: `berdseye construct rejected mine --step perspectives`
    """
    from berdseye.evaluation.construction.opening import open_construction
    from berdseye.evaluation.construction.reporting import rejections

    rows = [one._asdict() for one in rejections(open_construction(open_workspace(workspace), name), step)]
    if json:
        print_json(rows)
        return
    for row in rows:
        print("\t".join(_in_a_line(str(value)) for value in row.values()))


def _in_a_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def overrule(
    name: NameArgument,
    step: Annotated[str, typer.Argument(help="The step that rejected or kept the rows.")],
    rows: Annotated[list[str], typer.Argument(help="The ids of rows.")],
    drop: Annotated[
        bool, typer.Option("--drop", help="Drop rows that the step kept. Default: keep rejected ones.")
    ] = False,
    why: Annotated[str, typer.Option(help="The reason.")] = "",
    field: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD=TEXT", help="A text to keep the rows with, such as one that the model did not write."
        ),
    ] = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Keep rows that a step rejected, or drop rows that it kept. The steps after it run again with `construct resume`.

    Example: `berdseye construct overrule mine personal 12 17 --why "asks for an opinion"`
    """
    from berdseye.evaluation.construction.opening import open_construction

    ws = open_workspace(workspace)
    opened = open_construction(ws, name)
    fields = dict(name_and_value(text, "--field") for text in field or [])
    opened.overrule(step, dict.fromkeys(rows, why), keep=not drop, made_by=acting_name(ws), fields=fields)
    note(
        f"{name}: {counted(len(rows), 'row')} {'dropped' if drop else 'kept'} in {step}. Run `berdseye construct resume {name}`."
    )


def dataset(
    name: NameArgument,
    as_name: Annotated[
        str | None, typer.Option("--as", help="The name of the data set. Default: the construction's.")
    ] = None,
    dev_share: Annotated[
        float, typer.Option(help="Divide the questions into NAME-dev, with this share of them, and NAME-test.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The seed of the division.")] = 0,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Replace existing data sets of these names, and a corpus with its gold labels."),
    ] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Add what a finished construction has made as a data set.

    Example: `berdseye construct dataset mine --dev-share 0.25`
    """
    from berdseye.evaluation.construction.finishing import finish
    from berdseye.evaluation.construction.opening import open_construction

    opened = open_construction(open_workspace(workspace), name)
    for line in finish(opened, as_name or name, dev_share=dev_share, seed=seed, replacing=replace):
        note(line)


def list_all(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the constructions with their kinds, and the steps that are finished.

    Example: `berdseye construct list`
    """
    from berdseye.evaluation.construction.opening import list_constructions, open_construction

    ws = open_workspace(workspace)
    rows = []
    for opened in (open_construction(ws, name) for name in list_constructions(ws)):
        finished = [step for step in opened.step_names if opened.made_from(step) is not None]
        rows.append({"name": opened.name, "kind": opened.kind.name, "created": opened.created, "finished": finished})
    if json:
        print_json(rows)
        return
    for row in rows:
        print(f"{row['name']}\t{row['kind']}\t{row['created']}\t{', '.join(row['finished'])}")


def remove(
    name: NameArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Confirm that its rows are deleted.")] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Delete a construction and its rows. Data sets that were made from it stay, and so do completions.

    Example: `berdseye construct remove mine --yes`
    """
    from berdseye.evaluation.construction.opening import open_construction, remove_construction

    ws = open_workspace(workspace)
    open_construction(ws, name)
    if not yes:
        raise BadInputError(f"This deletes the rows of '{name}'.", hint="Pass --yes to confirm.")
    remove_construction(ws, name)
    note(f"{name}: deleted")
