"""Checks of a construction by people: `berdseye construct check` and `outcome`."""

from typing import Annotated

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.console import note, print_json
from berdseye.app.commands.constructions.options import NameArgument
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, WorkspaceOption, open_workspace
from berdseye.data.errors import UnknownNameError
from berdseye.data.texts.counts import counted


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command()(check)
    group.command()(outcome)


def check(
    name: NameArgument,
    check_name: Annotated[
        str | None, typer.Argument(metavar="CHECK", help="The check. Default: list the checks.")
    ] = None,
    batch: Annotated[str, typer.Option(help="The name of the batch. Default: NAME-CHECK.")] = "",
    size: Annotated[int | None, typer.Option(min=1, help="The largest number of items. Default: the paper's.")] = None,
    per_item: Annotated[
        int | None, typer.Option(min=1, help="How many people check each item. Default: as in the paper.")
    ] = None,
    person: Annotated[list[str] | None, typer.Option(help="Who checks; repeatable. Default: everyone.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The seed of the draw.")] = 0,
    workspace: WorkspaceOption = None,
) -> None:
    """Send drawn items of a construction to people, as a batch that they judge on the page Annotate.

    Without CHECK, list the checks of this kind of construction, with what the paper found.

    Example: `berdseye construct check mine inspection --person Ada`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.evaluation.construction.checking import begin_check
    from berdseye.evaluation.construction.opening import open_construction

    ws = open_workspace(workspace)
    opened = open_construction(ws, name)
    if check_name is None:
        for one in opened.kind.checks:
            print(f"{one.name}\t{one.title}\t{one.printed}")
        return
    made = begin_check(
        opened,
        Judgments.open(ws.judgments_url),
        check_name,
        batch=batch,
        size=size,
        per_item=per_item,
        people=tuple(person or ()),
        seed=seed,
        made_by=acting_name(ws),
    )
    note(f"{made.name}: created. People judge it on the page Annotate.")


def outcome(
    name: NameArgument,
    apply: Annotated[
        str | None, typer.Option(metavar="BATCH", help="Reject the rows that people rejected in this batch.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Print what people decided in the checks of a construction, beside the paper's figures; with --apply, reject rows.

    An item is rejected when more than half of the people who were asked reject it, for example two of three.

    Example: `berdseye construct outcome mine --apply mine-grounded`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.evaluation.construction.checking import apply_outcome, checked
    from berdseye.evaluation.construction.opening import open_construction

    ws = open_workspace(workspace)
    opened = open_construction(ws, name)
    found = {done.batch.name: done for done in checked(opened, Judgments.open(ws.judgments_url))}
    if apply is not None:
        if apply not in found:
            raise UnknownNameError("batch of this construction", apply, found)
        rows = apply_outcome(opened, found[apply], made_by=acting_name(ws))
        note(f"{name}: {counted(len(rows), 'row')} rejected. Run `berdseye construct resume {name}`.")
        return
    if json:
        print_json(
            [
                {
                    "batch": batch,
                    "check": done.check.name,
                    "items": {item: one._asdict() for item, one in done.outcomes.items()},
                }
                for batch, done in found.items()
            ]
        )
        return
    for batch, done in found.items():
        print(f"{batch}\t{done.check.name}\t{done.text}")
