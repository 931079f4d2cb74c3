"""Options that the studies of runs share, and commands that take them."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.commands.options import LARGEST_SEED, MinJudgedOption, WorkspaceOption, opened
from berdseye.app.commands.studies.results import Form, FormOption, finish
from berdseye.app.console import counting

if TYPE_CHECKING:
    from berdseye.data.runs import Run
    from berdseye.data.workspace import Workspace
    from berdseye.evaluation.studies.gathering import Gatherer, Selection
    from berdseye.evaluation.studies.result import StudyResult

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
    from berdseye.data.errors import UnknownNameError
    from berdseye.data.runs import list_runs, load_run
    from berdseye.retrieval.registry import parse_pipeline

    known = {m.pipeline: m.name for m in list_runs(workspace) if (m.dataset, m.corpus) == (dataset, corpus)}
    wanted = dict.fromkeys(str(parse_pipeline(p)) for p in pipelines) if pipelines else list(known)
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
    from berdseye.annotation.judgments import Judgments
    from berdseye.evaluation.label_sources import default_source, parse_label_source
    from berdseye.evaluation.studies.gathering import Gatherer, Selection, checked

    held = opened(workspace)
    selection = checked(held, Selection(tuple(datasets or ()), tuple(corpora or ()), tuple(pipelines or ())))
    source = parse_label_source(labels or default_source(held))
    with counting(what) as progress:
        yield Gatherer(held, Judgments.open(held.judgments_url), source, progress, min_judged), selection
