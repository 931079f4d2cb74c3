"""Options shared by studies, the storing and printing of their results, and `berdseye study list` and `study show`."""

import inspect
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, MinJudgedOption, WorkspaceOption, open_workspace
from berdseye.app.commands.unjudged_option import UnjudgedOption
from berdseye.data.workspace import Workspace

if TYPE_CHECKING:
    from berdseye.evaluation.studies.result import StudyResult, Table

DatasetsOption = Annotated[list[str] | None, typer.Option("--dataset", help="A data set; repeatable. Default: all.")]
CorporaOption = Annotated[list[str] | None, typer.Option("--corpus", help="A corpus; repeatable. Default: all.")]
PipelinesOption = Annotated[
    list[str] | None, typer.Option("--pipeline", help="A pipeline; repeatable. Default: those of the stored runs.")
]
LabelsOption = Annotated[
    str | None,
    typer.Option(
        help="The label source: human, gold, a detector, human>embedded, corrected(embedded) or corrected(stance,embedded). "
        "Default: human>gold>DETECTOR with gold labels, otherwise the detector."
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        help="A language model that decides which perspective is supporting where the data set does not state it."
    ),
]
KOption = Annotated[int, typer.Option("--k", "-k", help="Number of top passages that count.")]
SeedOption = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The seed of all random draws.")]


class Form(StrEnum):
    """The output formats of tables."""

    TEXT = "text"
    CSV = "csv"
    LATEX = "latex"
    JSON = "json"


FormOption = Annotated[Form, typer.Option("--format", help="The output format of the tables.", show_choices=True)]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command("list")(list_all)
    group.command()(show)


def finish(workspace: Workspace, result: "StudyResult", form: Form) -> None:
    """Store the result in the workspace and print its tables; print notes and the folder on standard error."""
    from berdseye.app.jobs.studies import KEPT
    from berdseye.evaluation.studies.result import save_result

    folder = save_result(workspace, result, made_by=acting_name(workspace))
    _print(list(result.tables), form)
    for text in result.notes:
        note(text)
    note(f"{KEPT}{folder}")


def list_all(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the stored results of studies, the newest first.

    Example: `berdseye study list`
    """
    from berdseye.evaluation.studies.result import list_results, load_result

    ws = open_workspace(workspace)
    rows = [(r.name, r.created, r.settings) for r in (load_result(ws, name) for name in list_results(ws))]
    if json:
        print_json([{"name": n, "created": c, "settings": s} for n, c, s in rows])
        return
    for name, created, settings in rows:
        print(f"{name}\t{created}\t{', '.join(f'{k}={v}' for k, v in settings.items())}")


def show(
    name: Annotated[str, typer.Argument(help="The name of a stored result, from `berdseye study list`.")],
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """Print the tables of a stored result again.

    Example: `berdseye study show berds-base-1f2e3d4c --format latex`
    """
    from berdseye.evaluation.studies.result import load_result

    _print(load_result(open_workspace(workspace), name).tables, form)


def _print(tables: "list[Table]", form: Form) -> None:
    from berdseye.data.files.tables import to_csv

    if form is Form.JSON:
        print_json({t.name: t.cells.to_dict("records") for t in tables})
        return
    for table in tables:
        match form:
            case Form.CSV:
                print(to_csv(table.cells).decode("utf-8"), end="")
            case Form.LATEX:
                print(table.latex())
            case _:
                print(f"{table.caption}\n{table.laid_out().to_string()}\n")
                for text in table.notes:
                    note(text)


def study_command(name: str, *, of_runs: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator that makes the command of the study `name` from a function without a body, which declares the study's options.

    The command also takes the output format and the workspace and, with `of_runs`, the options shared by studies of runs. It
    runs the study, and stores and prints the result.
    """

    def as_command(declaring: Callable[..., None]) -> Callable[..., None]:
        def shared_of_runs(
            *,
            dataset: DatasetsOption = None,
            corpus: CorporaOption = None,
            pipeline: PipelinesOption = None,
            labels: LabelsOption = None,
            min_judged: MinJudgedOption = None,
            unjudged: UnjudgedOption = None,
        ) -> None: ...

        def command(*, form: FormOption = Form.TEXT, workspace: WorkspaceOption = None, **options: object) -> None:
            run(name, workspace, form, **options)

        own, runs, shared = (_parameters(one) for one in (declaring, shared_of_runs, command))
        parameters = [*runs[:-2], *own, *runs[-2:], *shared[:-1]] if of_runs else [*own, *shared[:-1]]
        command.__name__, command.__doc__ = declaring.__name__, declaring.__doc__
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        command.__dict__["__signature__"] = inspect.Signature(parameters)  # what Typer reads the options from
        return command

    return as_command


def run(name: str, workspace: Path | None, form: Form, **options: object) -> None:
    """Run the study `name` with all of its options, and store and print the result."""
    from berdseye.evaluation.studies.by_name.study_registry import STUDIES

    ws = open_workspace(workspace)
    with counting(name) as progress:
        result = STUDIES[name](ws, progress, **options)
    finish(ws, result, form)


def _parameters(function: Callable[..., None]) -> list[inspect.Parameter]:
    found = inspect.signature(function).parameters.values()
    return [p if p.kind is p.VAR_KEYWORD else p.replace(kind=p.KEYWORD_ONLY) for p in found]
