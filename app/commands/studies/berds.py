"""`berdseye study berds`: the tables and figures of BERDS, from stored runs and labels; missing runs are created."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from berdseye.app.commands.studies.options import KOption, ModelOption, study_command

DepthOption = Annotated[int, typer.Option(min=1, help="Number of top passages examined.")]
SidesPromptOption = Annotated[
    Path | None,
    typer.Option(
        help="A file with another prompt for that model: a text with [Question], [First answer] and [Second answer] that asks "
        "for 1 or 2, the answer that is supporting."
    ),
]
EmbedderOption = Annotated[
    str, typer.Option(help="The encoder that compares passages in MMR; the paper's is UAE-Large-V1.")
]
group = typer.Typer(no_args_is_help=True, help="Compute the tables and figures of BERDS.")


def register(study: typer.Typer) -> None:
    """Add the commands."""
    for command in (base, diversity, coverage, union, leaning, sycophancy):
        group.command()(command)
    group.command("lambda")(weights)
    study.add_typer(group, name="berds")


@study_command("berds base", of_runs=True)
def base(
    k: Annotated[list[int] | None, typer.Option("--k", "-k", help="A cutoff; repeatable. Default: 5 and 10.")] = None,
) -> None:
    """Compute tables 3 and 17: MRecall and Precision by corpus, retriever and data set.

    Example: `berdseye study berds base --pipeline bm25 --pipeline "dense(static)"`
    """


@study_command("berds diversity", of_runs=True)
def diversity(
    k: KOption = 5,
    weight: Annotated[str, typer.Option(help="Lambda of MMR, or `tuned` for the stored one.")] = "0.95",
    dev: Annotated[
        list[str] | None,
        typer.Option(help="A data set on which lambda is tuned for each corpus and pipeline; repeatable."),
    ] = None,
    embedder: EmbedderOption = "static",
    expansion: Annotated[
        str | None,
        typer.Option(
            help="The source of the perspectives for expansion: llm, manual or file(PATH). Default: no expansion."
        ),
    ] = None,
    queries: Annotated[
        Literal["released", "paper"],
        typer.Option(help="The expanded queries: perspectives after the question (released) or alone (paper)."),
    ] = "released",
) -> None:
    """Compute table 4: base retrievers, reranked for diversity, and with expanded questions; and the relative changes.

    Example: `berdseye study berds diversity --dataset kialo --dev kialo-dev --embedder UAE-Large-V1 --expansion llm`
    """


@study_command("berds lambda", of_runs=True)
def weights(
    measure: Annotated[str, typer.Option(help="The measure to maximise.")] = "MRecall@5",
    embedder: EmbedderOption = "static",
) -> None:
    """Compute table 8: the best weight of MMR on the data sets, which should be dev splits; it is stored for mmr(tuned).

    Example: `berdseye study berds lambda --dataset kialo-dev --pipeline bm25`
    """


@study_command("berds coverage", of_runs=True)
def coverage(
    depth: DepthOption = 100,
) -> None:
    """Compute table 5: the number of passages to read until all perspectives are covered.

    Example: `berdseye study berds coverage --pipeline bm25`
    """


@study_command("berds union", of_runs=True)
def union(
    depth: DepthOption = 100,
) -> None:
    """Compute table 6: the share of questions that all pipelines together cover.

    Example: `berdseye study berds union --pipeline bm25 --pipeline "dense(static)"`
    """


@study_command("berds leaning", of_runs=True)
def leaning(
    k: KOption = 5,
    model: ModelOption = None,
    prompt: SidesPromptOption = None,
) -> None:
    """Compute figure 2: whether the top k passages support one side only, both sides, or neither.

    Example: `berdseye study berds leaning --pipeline bm25 --model "api(gpt-4o-mini)"`
    """


@study_command("berds sycophancy", of_runs=True)
def sycophancy(
    k: KOption = 5,
    model: ModelOption = None,
    prompt: SidesPromptOption = None,
) -> None:
    """Compute figure 3: whether retrieval follows the side that the question takes.

    Example: `berdseye study berds sycophancy --pipeline "dense(static)"`
    """
