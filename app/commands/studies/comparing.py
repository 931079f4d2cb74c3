"""`study compare`, `study curves` and `study corrected`: systems against each other, by k, and by whose labels."""

from typing import Annotated, Literal

import typer

from app.commands.options import WorkspaceOption
from app.commands.studies.options import CorporaOption, DatasetsOption, LabelsOption, PipelinesOption, gathering
from app.commands.studies.results import Form, FormOption, finish

Test = Literal["t", "randomisation", "bootstrap"]
Correction = Literal["holm", "bonferroni", "fdr_bh", "none"]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    for command in (compare, curves, corrected):
        group.command()(command)


def compare(
    dataset: DatasetsOption = None,
    corpus: CorporaOption = None,
    pipeline: PipelinesOption = None,
    labels: LabelsOption = None,
    measure: Annotated[str, typer.Option(help="What is compared.")] = "MRecall@5",
    test: Annotated[Test, typer.Option(help="The paired test.")] = "randomisation",
    correction: Annotated[Correction, typer.Option(help="For the number of comparisons.")] = "holm",
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """Compare every two systems on the same questions, corrected for the number of comparisons.

    With corrected labels the differences of corrected means are tested.

    Example: `berdseye study compare --measure Precision@5 --test t`
    """
    from evaluation.studies.comparing import comparisons

    with gathering("compare", workspace, dataset, corpus, pipeline, labels) as (gatherer, selection):
        result = comparisons(gatherer, selection, measure, test=test, correction=correction)
    finish(gatherer.workspace, result, form)


def curves(
    dataset: DatasetsOption = None,
    corpus: CorporaOption = None,
    pipeline: PipelinesOption = None,
    labels: LabelsOption = None,
    measure: Annotated[str, typer.Option(help="The measure, without its k.")] = "MRecall",
    deepest: Annotated[int, typer.Option(min=1, max=100, help="The largest k.")] = 20,
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """Draw a measure against k.

    Example: `berdseye study curves --measure Coverage --deepest 50`
    """
    from evaluation.studies.comparing import k_curves

    with gathering("curves", workspace, dataset, corpus, pipeline, labels) as (gatherer, selection):
        result = k_curves(gatherer, selection, measure, deepest=deepest)
    finish(gatherer.workspace, result, form)


def corrected(
    dataset: DatasetsOption = None,
    corpus: CorporaOption = None,
    pipeline: PipelinesOption = None,
    labels: Annotated[str | None, typer.Option(help="The detector; else the adopted one.")] = None,
    measures: Annotated[str, typer.Option(help="Measures, separated by spaces.")] = "MRecall@5 Precision@5",
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """Set side by side what the detector says, what people say, and the detector corrected by people.

    Example: `berdseye study corrected --dataset kialo`
    """
    from evaluation.studies.comparing import correction

    with gathering("corrected", workspace, dataset, corpus, pipeline, labels) as (gatherer, selection):
        result = correction(gatherer, selection, measures.split())
    finish(gatherer.workspace, result, form)
