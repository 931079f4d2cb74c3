"""`study berds`: the tables and figures of BERDS, from stored runs and labels; runs that are missing are made."""

from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.options import WorkspaceOption
from app.commands.studies.options import (
    CorporaOption,
    DatasetsOption,
    LabelsOption,
    ModelOption,
    PipelinesOption,
    gathering,
)
from app.commands.studies.results import Form, FormOption, finish

if TYPE_CHECKING:
    from data.language_models.protocol import LanguageModel
    from data.workspace import Workspace

group = typer.Typer(no_args_is_help=True, help="The tables and figures of BERDS.")


def register(study: typer.Typer) -> None:
    """Add the commands."""
    for command in (base, diversity, coverage, union, leaning, sycophancy):
        group.command()(command)
    group.command("lambda")(weights)
    study.add_typer(group, name="berds")


def base(
    dataset: DatasetsOption = None,
    corpus: CorporaOption = None,
    pipeline: PipelinesOption = None,
    labels: LabelsOption = None,
    k: Annotated[
        list[int] | None, typer.Option("--k", "-k", help="A cutoff; may be given again. Else 5 and 10.")
    ] = None,
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """Tables 3 and 17: MRecall and Precision by corpus, retriever and data set.

    Example: `berdseye study berds base --pipeline bm25 --pipeline "dense(static)"`
    """
    from evaluation.studies.berds.base import KS
    from evaluation.studies.berds.base import base as study

    with gathering("berds base", workspace, dataset, corpus, pipeline, labels) as (gatherer, selection):
        result = study(gatherer, selection, k or KS)
    finish(gatherer.workspace, result, form)


def diversity(
    dataset: DatasetsOption = None,
    corpus: CorporaOption = None,
    pipeline: PipelinesOption = None,
    labels: LabelsOption = None,
    k: Annotated[int, typer.Option("--k", "-k", help="How many passages count.")] = 5,
    weight: Annotated[str, typer.Option(help="Lambda of MMR, or tuned.")] = "0.95",
    expansion: Annotated[
        str | None, typer.Option(help="Where perspectives for expansion come from: llm, typed, file(PATH).")
    ] = None,
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """Table 4: base retrievers, reranked for diversity, and with expanded questions.

    Example: `berdseye study berds diversity --pipeline bm25 --weight tuned --expansion llm`
    """
    from evaluation.studies.berds.diversity import diversity as study

    with gathering("berds diversity", workspace, dataset, corpus, pipeline, labels) as (gatherer, selection):
        result = study(gatherer, selection, k=k, weight=weight, expansion=expansion)
    finish(gatherer.workspace, result, form)


def weights(
    dataset: DatasetsOption = None,
    corpus: CorporaOption = None,
    pipeline: PipelinesOption = None,
    labels: LabelsOption = None,
    measure: Annotated[str, typer.Option(help="The measure that decides.")] = "MRecall@5",
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """Table 8: the weight of MMR that is best on the data sets, which should be dev splits; it is kept for mmr(tuned).

    Example: `berdseye study berds lambda --dataset kialo-dev --pipeline bm25`
    """
    from evaluation.studies.berds.diversity import tuning

    with gathering("berds lambda", workspace, dataset, corpus, pipeline, labels) as (gatherer, selection):
        result = tuning(gatherer, selection, measure=measure)
    finish(gatherer.workspace, result, form)


def coverage(
    dataset: DatasetsOption = None,
    corpus: CorporaOption = None,
    pipeline: PipelinesOption = None,
    labels: LabelsOption = None,
    depth: Annotated[int, typer.Option(min=1, help="How deep is looked.")] = 100,
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """Table 5: how many passages must be read until all perspectives are covered.

    Example: `berdseye study berds coverage --pipeline bm25`
    """
    from evaluation.studies.berds.depth import coverage as study

    with gathering("berds coverage", workspace, dataset, corpus, pipeline, labels) as (gatherer, selection):
        result = study(gatherer, selection, depth=depth)
    finish(gatherer.workspace, result, form)


def union(
    dataset: DatasetsOption = None,
    corpus: CorporaOption = None,
    pipeline: PipelinesOption = None,
    labels: LabelsOption = None,
    depth: Annotated[int, typer.Option(min=1, help="How deep is looked.")] = 100,
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """Table 6: the share of questions that all pipelines together cover.

    Example: `berdseye study berds union --pipeline bm25 --pipeline "dense(static)"`
    """
    from evaluation.studies.berds.depth import union as study

    with gathering("berds union", workspace, dataset, corpus, pipeline, labels) as (gatherer, selection):
        result = study(gatherer, selection, depth=depth)
    finish(gatherer.workspace, result, form)


def leaning(
    dataset: DatasetsOption = None,
    corpus: CorporaOption = None,
    pipeline: PipelinesOption = None,
    labels: LabelsOption = None,
    k: Annotated[int, typer.Option("--k", "-k", help="How many passages count.")] = 5,
    model: ModelOption = None,
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """Figure 2: whether the top k speak for one side alone, for both, or for neither.

    Example: `berdseye study berds leaning --pipeline bm25 --model "api(gpt-4o-mini)"`
    """
    from evaluation.studies.berds.sides import leaning as study

    with gathering("berds leaning", workspace, dataset, corpus, pipeline, labels) as (gatherer, selection):
        result = study(gatherer, selection, k=k, model=_model(gatherer.workspace, model))
    finish(gatherer.workspace, result, form)


def sycophancy(
    dataset: DatasetsOption = None,
    corpus: CorporaOption = None,
    pipeline: PipelinesOption = None,
    labels: LabelsOption = None,
    k: Annotated[int, typer.Option("--k", "-k", help="How many passages count.")] = 5,
    model: ModelOption = None,
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """Figure 3: whether retrieval follows the side that asks.

    Example: `berdseye study berds sycophancy --pipeline "dense(static)"`
    """
    from evaluation.studies.berds.sides import following

    with gathering("berds sycophancy", workspace, dataset, corpus, pipeline, labels) as (gatherer, selection):
        result = following(gatherer, selection, k=k, model=_model(gatherer.workspace, model))
    finish(gatherer.workspace, result, form)


def _model(workspace: "Workspace", name: str | None) -> "LanguageModel | None":
    from data.language_models.registry import open_language_model

    return None if name is None else open_language_model(name, workspace)
