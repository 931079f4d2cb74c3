"""What people and figures say of a constructed D-MERIT: `berdseye construct verify`, `audit` and `figures`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.console import note, print_json
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, WorkspaceOption, open_workspace
from berdseye.data.errors import BadInputError

if TYPE_CHECKING:
    from berdseye.data.workspace import Workspace
    from berdseye.evaluation.construction.stored import Construction

NameArgument = Annotated[str, typer.Argument(help="The name of the construction, of the kind dmerit.")]
PersonOption = Annotated[list[str] | None, typer.Option(help="Who judges; repeatable. Default: everyone.")]
PerPairOption = Annotated[int, typer.Option(min=1, help="How many people judge each pair.")]
SeedOption = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The seed of the draw.")]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    for command in (verify, audit, figures):
        group.command()(command)


def verify(
    name: NameArgument,
    batch: Annotated[str, typer.Option(help="The name of the batch. Default: NAME-verified.")] = "",
    size: Annotated[int, typer.Option(min=2, help="How many decisions. Default: as many as in the paper.")] = 1_300,
    per_pair: PerPairOption = 1,
    person: PersonOption = None,
    seed: SeedOption = 0,
    workspace: WorkspaceOption = None,
) -> None:
    """Send random decisions of the language model to people, who say which are right: half for evidence, half against.

    They are a batch of the task verify on the page Annotate; `construct figures --verified BATCH` prints the outcome.

    Example: `berdseye construct verify lists --size 1300 --person Ada`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.evaluation.construction.dmerit.verification import begin_verification

    ws = open_workspace(workspace)
    made = begin_verification(
        Judgments.open(ws.judgments_url),
        _opened(ws, name),
        batch or f"{name}-verified",
        size=size,
        seed=seed,
        per_pair=per_pair,
        people=tuple(person or ()),
        made_by=acting_name(ws),
    )
    note(f"{made.name}: created. People verify it on the page Annotate.")


def audit(
    name: NameArgument,
    dataset: Annotated[
        str | None,
        typer.Option(help="The data set of the construction, and its corpus. Default: the construction's name."),
    ] = None,
    batch: Annotated[str, typer.Option(help="The name of the batch. Default: NAME-audited.")] = "",
    k: Annotated[int, typer.Option("--k", "-k", min=2, help="How many passages of each ranking to pool.")] = 20,
    queries: Annotated[int, typer.Option(min=1, help="How many random queries.")] = 23,
    per_pair: PerPairOption = 1,
    person: PersonOption = None,
    seed: SeedOption = 0,
    workspace: WorkspaceOption = None,
) -> None:
    """Pool what all stored runs find for random queries, and send what is no evidence yet to people.

    They answer the check `relevant` on the page Annotate; `construct figures --audited BATCH` prints how much evidence the
    construction has missed. The pool needs at least two runs of k passages.

    Example: `berdseye construct audit lists --k 20 --queries 23 --person Ada`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.evaluation.construction.dmerit.audit import begin_audit

    ws = open_workspace(workspace)
    made = begin_audit(
        Judgments.open(ws.judgments_url),
        _opened(ws, name),
        dataset or name,
        batch or f"{name}-audited",
        k=k,
        queries=queries,
        seed=seed,
        per_pair=per_pair,
        people=tuple(person or ()),
        made_by=acting_name(ws),
    )
    note(f"{made.name}: created. People judge it on the page Annotate.")


def figures(
    name: NameArgument,
    verified_by: Annotated[
        str | None, typer.Option("--verified", metavar="BATCH", help="A batch that `construct verify` created.")
    ] = None,
    audited_by: Annotated[
        str | None, typer.Option("--audited", metavar="BATCH", help="A batch that `construct audit` created.")
    ] = None,
    charts: Annotated[
        Path | None, typer.Option(help="With --audited: a folder for the paper's figures 6 and 7, as SVG files.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Print the statistics of the queries and evidence, and what people said of them, beside the paper's.

    Example: `berdseye construct figures lists --verified lists-verified --audited lists-audited`
    """
    from berdseye.annotation.batches.stored import load_batch
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.files.atomic import write_bytes
    from berdseye.evaluation.charts import svg
    from berdseye.evaluation.construction.dmerit import statistics
    from berdseye.evaluation.construction.dmerit.audit import audited
    from berdseye.evaluation.construction.dmerit.queries import NATURAL
    from berdseye.evaluation.construction.dmerit.verification import verification_figures, verified

    if charts is not None and audited_by is None:
        raise BadInputError("--charts needs an audit.", hint="Add --audited BATCH.")
    ws = open_workspace(workspace)
    rows = statistics.figures(_opened(ws, name).kept(NATURAL.name))
    judgments = Judgments.open(ws.judgments_url)
    if verified_by is not None:
        rows += verification_figures(verified(judgments, load_batch(judgments, verified_by)))
    if audited_by is not None:
        found = audited(ws, judgments, load_batch(judgments, audited_by))
        rows += found.figures
        if found.undecided:
            note(f"{audited_by}: {found.undecided:,} items have no decision yet, and count as no evidence.")
        if charts is not None:
            for chart, drawn in found.charts.items():
                write_bytes(charts / f"{chart}.svg", svg(drawn))
    if json:
        print_json([row._asdict() for row in rows])
        return
    for row in rows:
        print(statistics.line(row))


def _opened(ws: "Workspace", name: str) -> "Construction":
    from berdseye.evaluation.construction.dmerit.kind import DMERIT
    from berdseye.evaluation.construction.opening import open_construction

    opened = open_construction(ws, name)
    if opened.kind.name != DMERIT.name:
        raise BadInputError(
            f"'{name}' is of the kind {opened.kind.name}, not {DMERIT.name}.",
            hint="See what it has: `berdseye construct check NAME`, `berdseye construct show NAME`.",
        )
    return opened
