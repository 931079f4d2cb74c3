"""`berdseye study berds`: the tables and figures of BERDS, from stored runs and labels; missing runs are created."""

from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.commands.studies.options import KOption, ModelOption, study_of_runs

if TYPE_CHECKING:
    from berdseye.data.language_models.protocol import LanguageModel
    from berdseye.data.workspace import Workspace
    from berdseye.evaluation.studies.gathering import Gatherer, Selection
    from berdseye.evaluation.studies.result import StudyResult

DepthOption = Annotated[int, typer.Option(min=1, help="Number of top passages examined.")]
group = typer.Typer(no_args_is_help=True, help="Compute the tables and figures of BERDS.")


def register(study: typer.Typer) -> None:
    """Add the commands."""
    for command in (base, diversity, coverage, union, leaning, sycophancy):
        group.command()(command)
    group.command("lambda")(weights)
    study.add_typer(group, name="berds")


@study_of_runs("berds base")
def base(
    gatherer: "Gatherer",
    selection: "Selection",
    k: Annotated[list[int] | None, typer.Option("--k", "-k", help="A cutoff; repeatable. Default: 5 and 10.")] = None,
) -> "StudyResult":
    """Compute tables 3 and 17: MRecall and Precision by corpus, retriever and data set.

    Example: `berdseye study berds base --pipeline bm25 --pipeline "dense(static)"`
    """
    from berdseye.evaluation.studies.berds.base import KS
    from berdseye.evaluation.studies.berds.base import base as study

    return study(gatherer, selection, k or KS)


@study_of_runs("berds diversity")
def diversity(
    gatherer: "Gatherer",
    selection: "Selection",
    k: KOption = 5,
    weight: Annotated[str, typer.Option(help="Lambda of MMR, or `tuned`.")] = "0.95",
    expansion: Annotated[
        str | None,
        typer.Option(
            help="The source of the perspectives for expansion: llm, manual or file(PATH). Default: no expansion."
        ),
    ] = None,
) -> "StudyResult":
    """Compute table 4: base retrievers, reranked for diversity, and with expanded questions.

    Example: `berdseye study berds diversity --pipeline bm25 --weight tuned --expansion llm`
    """
    from berdseye.evaluation.studies.berds.diversity import diversity as study

    return study(gatherer, selection, k=k, weight=weight, expansion=expansion)


@study_of_runs("berds lambda")
def weights(
    gatherer: "Gatherer",
    selection: "Selection",
    measure: Annotated[str, typer.Option(help="The measure to maximise.")] = "MRecall@5",
) -> "StudyResult":
    """Compute table 8: the best weight of MMR on the data sets, which should be dev splits; it is stored for mmr(tuned).

    Example: `berdseye study berds lambda --dataset kialo-dev --pipeline bm25`
    """
    from berdseye.evaluation.studies.berds.diversity import tuning

    return tuning(gatherer, selection, measure=measure)


@study_of_runs("berds coverage")
def coverage(
    gatherer: "Gatherer",
    selection: "Selection",
    depth: DepthOption = 100,
) -> "StudyResult":
    """Compute table 5: the number of passages to read until all perspectives are covered.

    Example: `berdseye study berds coverage --pipeline bm25`
    """
    from berdseye.evaluation.studies.berds.depth import coverage as study

    return study(gatherer, selection, depth=depth)


@study_of_runs("berds union")
def union(
    gatherer: "Gatherer",
    selection: "Selection",
    depth: DepthOption = 100,
) -> "StudyResult":
    """Compute table 6: the share of questions that all pipelines together cover.

    Example: `berdseye study berds union --pipeline bm25 --pipeline "dense(static)"`
    """
    from berdseye.evaluation.studies.berds.depth import union as study

    return study(gatherer, selection, depth=depth)


@study_of_runs("berds leaning")
def leaning(
    gatherer: "Gatherer",
    selection: "Selection",
    k: KOption = 5,
    model: ModelOption = None,
) -> "StudyResult":
    """Compute figure 2: whether the top k passages support one side only, both sides, or neither.

    Example: `berdseye study berds leaning --pipeline bm25 --model "api(gpt-4o-mini)"`
    """
    from berdseye.evaluation.studies.berds.sides import leaning as study

    return study(gatherer, selection, k=k, model=_model(gatherer.workspace, model))


@study_of_runs("berds sycophancy")
def sycophancy(
    gatherer: "Gatherer",
    selection: "Selection",
    k: KOption = 5,
    model: ModelOption = None,
) -> "StudyResult":
    """Compute figure 3: whether retrieval follows the side that the question takes.

    Example: `berdseye study berds sycophancy --pipeline "dense(static)"`
    """
    from berdseye.evaluation.studies.berds.sides import following

    return following(gatherer, selection, k=k, model=_model(gatherer.workspace, model))


def _model(workspace: "Workspace", name: str | None) -> "LanguageModel | None":
    from berdseye.data.language_models.model_registry import open_language_model

    return None if name is None else open_language_model(name, workspace)
