"""Options that the studies of runs share, and commands that take them.

`study list` and `study show`, and how every study's command tells and keeps its result.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, MinJudgedOption, WorkspaceOption, opened
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.result import StudyResult, Table

if TYPE_CHECKING:
    from berdseye.data.runs.stored import Run
    from berdseye.data.workspace import Workspace
    from berdseye.evaluation.studies.gathering import Gatherer, Selection
    from berdseye.evaluation.studies.result import StudyResult


class Form(StrEnum):
    """How tables are printed."""

    TEXT = "text"
    CSV = "csv"
    LATEX = "latex"
    JSON = "json"


_ASKED_FOR: ContextVar[list[StudyResult] | None] = ContextVar("results asked for by a caller", default=None)
FormOption = Annotated[Form, typer.Option("--format", help="How the tables are printed.", show_choices=True)]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command("list")(list_all)
    group.command()(show)


@contextmanager
def handed_over() -> Iterator[list[StudyResult]]:
    """Within it results are kept as ever, but given to the caller in this list and not printed."""
    found: list[StudyResult] = []
    before = _ASKED_FOR.set(found)
    try:
        yield found
    finally:
        _ASKED_FOR.reset(before)


def finish(workspace: Workspace, result: StudyResult, form: Form) -> None:
    """Keep the result in the workspace and print its tables; notes and the folder go to standard error."""
    from berdseye.evaluation.studies.result import save_result

    folder = save_result(workspace, result, made_by=acting_name(workspace))
    if (asked_for := _ASKED_FOR.get()) is not None:
        asked_for.append(result)
        return
    _print(list(result.tables), form)
    for text in result.notes:
        note(text)
    note(f"Kept in {folder}")


def list_all(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the stored results, the newest first.

    Example: `berdseye study list`
    """
    from berdseye.evaluation.studies.result import list_results, load_result

    held = opened(workspace)
    rows = [(r.name, r.created, r.settings) for r in (load_result(held, name) for name in list_results(held))]
    if json:
        print_json([{"name": n, "created": c, "settings": s} for n, c, s in rows])
        return
    for name, created, settings in rows:
        print(f"{name}\t{created}\t{', '.join(f'{k}={v}' for k, v in settings.items())}")


def show(
    name: Annotated[str, typer.Argument(help="A stored result, as `study list` names it.")],
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """Print the tables of a stored result again.

    Example: `berdseye study show berds-base-1f2e3d4c --format latex`
    """
    from berdseye.evaluation.studies.result import load_result

    _print(load_result(opened(workspace), name).tables, form)


def _print(tables: list[Table], form: Form) -> None:
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


DatasetsOption = Annotated[
    list[str] | None, typer.Option("--dataset", help="A data set; may be given again. Else all.")
]
CorporaOption = Annotated[list[str] | None, typer.Option("--corpus", help="A corpus; may be given again. Else all.")]
PipelinesOption = Annotated[
    list[str] | None, typer.Option("--pipeline", help="A pipeline; may be given again. Else those of the stored runs.")
]
LabelsOption = Annotated[
    str | None,
    typer.Option(
        help="human, gold, a detector, human>embedded, corrected(embedded); "
        "default: human>gold>DETECTOR with gold labels, else the detector."
    ),
]
ModelOption = Annotated[
    str | None, typer.Option(help="A language model that says which perspective supports, where the data do not.")
]


def stored_runs(workspace: "Workspace", dataset: str, corpus: str, pipelines: list[str] | None) -> "list[Run]":
    """The runs of a data set over a corpus, of all pipelines or those named; raises `UnknownNameError` with the nearest."""
    from berdseye.app.pipelines import pipeline_of
    from berdseye.data.errors import UnknownNameError
    from berdseye.data.runs.stored import list_runs, load_run

    known = {m.pipeline: m.name for m in list_runs(workspace) if (m.dataset, m.corpus) == (dataset, corpus)}
    wanted = (
        dict.fromkeys(p if p in known else str(pipeline_of(workspace, p)) for p in pipelines)
        if pipelines
        else list(known)
    )
    for name in wanted:
        if name not in known:
            raise UnknownNameError(f"run of '{dataset}' over '{corpus}' by", name, known)
    return [load_run(workspace, known[name]) for name in wanted]


KOption = Annotated[int, typer.Option("--k", "-k", help="How many passages count.")]
SeedOption = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Of everything random.")]


def study_of_runs(name: str) -> Callable[[Callable[..., "StudyResult"]], Callable[..., None]]:
    """Makes a command of a function of a gatherer, a selection and the study's own options.

    The command takes the shared options too, prints the result and keeps it.
    """

    def made(study: Callable[..., "StudyResult"]) -> Callable[..., None]:
        def command(
            *,
            dataset: DatasetsOption = None,
            corpus: CorporaOption = None,
            pipeline: PipelinesOption = None,
            labels: LabelsOption = None,
            min_judged: MinJudgedOption = None,
            form: FormOption = Form.TEXT,
            workspace: WorkspaceOption = None,
            **own: object,
        ) -> None:
            with gathering(name, workspace, dataset, corpus, pipeline, labels, min_judged) as (gatherer, selection):
                result = study(gatherer, selection, **own)
            finish(gatherer.workspace, result, form)

        shared = list(inspect.signature(command).parameters.values())[:-1]
        chosen = list(inspect.signature(study).parameters.values())[2:]
        both = [*shared[:4], *(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in chosen), *shared[4:]]
        command.__name__, command.__doc__ = study.__name__, study.__doc__
        command.__annotations__ = {p.name: p.annotation for p in both}
        command.__dict__["__signature__"] = inspect.Signature(both)  # what Typer reads the options from
        return command

    return made


@contextmanager
def gathering(
    what: str,
    workspace: Path | None,
    datasets: list[str] | None,
    corpora: list[str] | None,
    pipelines: list[str] | None,
    labels: str | None,
    min_judged: float | None = None,
) -> Iterator[tuple["Gatherer", "Selection"]]:
    """What gathers the runs and scores that a command asks for, with progress."""
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.evaluation.labels.sources import default_source, parse_label_source
    from berdseye.evaluation.studies.gathering import Gatherer, Selection, checked

    held = opened(workspace)
    selection = checked(held, Selection(tuple(datasets or ()), tuple(corpora or ()), tuple(pipelines or ())))
    source = parse_label_source(labels or default_source(held))
    with counting(what) as progress:
        yield Gatherer(held, Judgments.open(held.judgments_url), source, progress, min_judged), selection
