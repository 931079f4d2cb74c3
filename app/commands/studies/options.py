"""Options and their meaning that the studies of runs share."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.options import opened
from app.console import counting

if TYPE_CHECKING:
    from data.runs import Run
    from data.workspace import Workspace
    from evaluation.studies.gathering import Gatherer, Selection

DatasetsOption = Annotated[
    list[str] | None, typer.Option("--dataset", help="A data set; may be given again. Else all.")
]
CorporaOption = Annotated[list[str] | None, typer.Option("--corpus", help="A corpus; may be given again. Else all.")]
PipelinesOption = Annotated[
    list[str] | None, typer.Option("--pipeline", help="A pipeline; may be given again. Else those of the stored runs.")
]
LabelsOption = Annotated[
    str | None,
    typer.Option(help="human, gold, a detector, human>embedded, corrected(embedded); else the adopted detector."),
]
ModelOption = Annotated[
    str | None, typer.Option(help="A language model that says which perspective supports, where the data do not.")
]


def stored_runs(workspace: "Workspace", dataset: str, corpus: str, pipelines: list[str] | None) -> "list[Run]":
    """The runs of a data set over a corpus, of all pipelines or those named; raises `UnknownNameError` with the nearest."""
    from data.errors import UnknownNameError
    from data.runs import list_runs, load_run
    from retrieval.registry import parse_pipeline

    known = {m.pipeline: m.name for m in list_runs(workspace) if (m.dataset, m.corpus) == (dataset, corpus)}
    wanted = dict.fromkeys(str(parse_pipeline(p)) for p in pipelines) if pipelines else list(known)
    for name in wanted:
        if name not in known:
            raise UnknownNameError(f"run of '{dataset}' over '{corpus}' by", name, known)
    return [load_run(workspace, known[name]) for name in wanted]


@contextmanager
def gathering(
    what: str,
    workspace: Path | None,
    datasets: list[str] | None,
    corpora: list[str] | None,
    pipelines: list[str] | None,
    labels: str | None,
) -> Iterator[tuple["Gatherer", "Selection"]]:
    """What gathers the runs and scores that a command asks for, with progress."""
    from annotation.judgments import Judgments
    from detectors.trained import adopted_detector
    from evaluation.label_sources import parse_label_source
    from evaluation.studies.gathering import Gatherer, Selection, checked

    held = opened(workspace)
    selection = checked(held, Selection(tuple(datasets or ()), tuple(corpora or ()), tuple(pipelines or ())))
    source = parse_label_source(labels or adopted_detector(held))
    with counting(what) as progress:
        yield Gatherer(held, Judgments.open(held.judgments_url), source, progress), selection
