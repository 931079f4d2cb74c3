"""Options shared by studies, the storing and printing of their results, and `berdseye study list` and `study show`."""

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
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, MinJudgedOption, WorkspaceOption, open_workspace
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.result import StudyResult, Table

if TYPE_CHECKING:
    from berdseye.data.runs.stored import Run
    from berdseye.evaluation.studies.gathering import Gatherer, Selection


_HANDED_OVER: ContextVar[list[StudyResult] | None] = ContextVar("results handed over to a caller", default=None)
DatasetsOption = Annotated[list[str] | None, typer.Option("--dataset", help="A data set; repeatable. Default: all.")]
CorporaOption = Annotated[list[str] | None, typer.Option("--corpus", help="A corpus; repeatable. Default: all.")]
PipelinesOption = Annotated[
    list[str] | None, typer.Option("--pipeline", help="A pipeline; repeatable. Default: those of the stored runs.")
]
LabelsOption = Annotated[
    str | None,
    typer.Option(
        help="The label source: human, gold, a detector, human>embedded or corrected(embedded). "
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


@contextmanager
def collected_results() -> Iterator[list[StudyResult]]:
    """Within this context, results are stored as usual and appended to the list it yields, but not printed."""
    results: list[StudyResult] = []
    before = _HANDED_OVER.set(results)
    try:
        yield results
    finally:
        _HANDED_OVER.reset(before)


def finish(workspace: Workspace, result: StudyResult, form: Form) -> None:
    """Store the result in the workspace and print its tables; print notes and the folder on standard error."""
    from berdseye.app.jobs.studies import KEPT
    from berdseye.evaluation.studies.result import save_result

    folder = save_result(workspace, result, made_by=acting_name(workspace))
    if (results := _HANDED_OVER.get()) is not None:
        results.append(result)
        return
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


def stored_runs(workspace: Workspace, dataset: str, corpus: str, pipelines: list[str] | None) -> "list[Run]":
    """The stored runs of a data set over a corpus, of all pipelines or those in `pipelines`.

    Raises `UnknownNameError` with the nearest names where a pipeline has no run.
    """
    from berdseye.app.pipelines import pipeline_of
    from berdseye.data.errors import UnknownNameError
    from berdseye.data.runs.stored import list_runs, load_run

    names = {m.pipeline: m.name for m in list_runs(workspace) if (m.dataset, m.corpus) == (dataset, corpus)}
    wanted = (
        dict.fromkeys(p if p in names else str(pipeline_of(workspace, p)) for p in pipelines)
        if pipelines
        else list(names)
    )
    for pipeline in wanted:
        if pipeline not in names:
            raise UnknownNameError(f"run of '{dataset}' over '{corpus}' by", pipeline, names)
    return [load_run(workspace, names[pipeline]) for pipeline in wanted]


def study_of_runs(name: str) -> Callable[[Callable[..., StudyResult]], Callable[..., None]]:
    """A decorator that makes a command from a study: a function of a gatherer, a selection and the study's own options.

    The command also takes the options shared by studies of runs, and prints and stores the result.
    """

    def as_command(study: Callable[..., StudyResult]) -> Callable[..., None]:
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
        own_options = list(inspect.signature(study).parameters.values())[2:]
        parameters = [*shared[:4], *(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own_options), *shared[4:]]
        command.__name__, command.__doc__ = study.__name__, study.__doc__
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        command.__dict__["__signature__"] = inspect.Signature(parameters)  # what Typer reads the options from
        return command

    return as_command


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
    """The gatherer of the runs and scores that a command needs, with its progress shown, and the checked selection."""
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.evaluation.labels.sources import default_source, parse_label_source
    from berdseye.evaluation.studies.gathering import Gatherer, Selection, checked

    ws = open_workspace(workspace)
    selection = checked(ws, Selection(tuple(datasets or ()), tuple(corpora or ()), tuple(pipelines or ())))
    source = parse_label_source(labels or default_source(ws))
    with counting(what) as progress:
        yield Gatherer(ws, Judgments.open(ws.judgments_url), source, progress, min_judged), selection
