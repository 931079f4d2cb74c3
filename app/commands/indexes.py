"""`berdseye index`: build the indexes of a pipeline, on one machine or in shards over a Ray cluster."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.commands.console import counting, note
from berdseye.app.commands.options import WorkspaceOption, open_workspace

if TYPE_CHECKING:
    from berdseye.data.corpora import Corpus
    from berdseye.retrieval.protocol import Indexer


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(index)


def index(
    corpus: Annotated[str, typer.Argument(help="The corpus.")],
    pipeline: Annotated[str, typer.Option(help="The pipeline whose indexes are built.")] = "bm25",
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Rebuild existing indexes.")] = False,
    ray: Annotated[
        str | None,
        typer.Option(help="Build shards over the Ray cluster at HOST:PORT; `local` uses this machine only."),
    ] = None,
    shards: Annotated[int | None, typer.Option(help="With --ray: the number of shards. Default: one per node.")] = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Build the indexes that a pipeline needs. (`search` and `run` build missing indexes themselves.)

    With --ray, indexes are built in shards that are searched over the cluster. After an interruption, the same command
    resumes.

    Example: `berdseye index debates --pipeline "dense(static)"`
    """
    from berdseye.data.corpora import open_corpus
    from berdseye.data.errors import BadInputError
    from berdseye.evaluation.pipelines import pipeline_of

    if shards is not None and ray is None:
        raise BadInputError("--shards requires --ray.", hint="Pass --ray HOST:PORT or --ray local as well.")
    ws = open_workspace(workspace)
    opened_corpus, indexers = open_corpus(ws, corpus), pipeline_of(ws, pipeline).ranker.indexers
    if ray is None:
        _build_here(opened_corpus, indexers, rebuild)
    else:
        _build_shards(opened_corpus, indexers, ray, shards, rebuild)


def _build_here(corpus: "Corpus", indexers: "Sequence[Indexer[object]]", rebuild: bool) -> None:
    from berdseye.retrieval.indexes import ensure_index

    for indexer in indexers:
        with counting(corpus.name) as progress:
            ensure_index(corpus, indexer, wait=False, rebuild=rebuild, progress=progress)
        note(f"{corpus.name}: index {indexer.name} is ready")


def _build_shards(
    corpus: "Corpus", indexers: "Sequence[Indexer[object]]", address: str, shards: int | None, rebuild: bool
) -> None:
    from berdseye.retrieval.cluster.building import build_shards
    from berdseye.retrieval.cluster.connection import connect

    with connect(address) as cluster:
        for indexer in indexers:
            with counting(corpus.name) as progress:
                plan = build_shards(corpus, indexer, cluster, shards, rebuild=rebuild, progress=progress)
            note(f"{corpus.name}: index {indexer.name} is ready in {plan.shards} shards")
