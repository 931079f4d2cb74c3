"""`index`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.commands.console import counting, note
from berdseye.app.commands.options import WorkspaceOption, opened

if TYPE_CHECKING:
    from berdseye.data.corpora import Corpus
    from berdseye.retrieval.protocol import Indexer


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(index)


def index(
    corpus: Annotated[str, typer.Argument(help="The corpus.")],
    pipeline: Annotated[str, typer.Option(help="The pipeline whose indexes are to be built.")] = "bm25",
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Build them even if they stand.")] = False,
    ray: Annotated[
        str | None,
        typer.Option(help="Build shards over the Ray cluster at HOST:PORT, or local for this machine alone."),
    ] = None,
    shards: Annotated[
        int | None, typer.Option(help="With --ray: how many shards; one for each node by default.")
    ] = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Build the indexes a pipeline needs. (`search` and `run` build a missing one by themselves.)

    With --ray they are built in shards, to be searched over the cluster. Cut off, the same command goes on where it
    stopped.

    Example: `berdseye index debates --pipeline "dense(static)"`
    """
    from berdseye.app.pipelines import pipeline_of
    from berdseye.data.corpora import open_corpus
    from berdseye.data.errors import BadInputError

    if shards is not None and ray is None:
        raise BadInputError("--shards needs a cluster.", hint="Pass --ray ADDRESS as well.")
    held = opened(workspace)
    opened_corpus, indexers = open_corpus(held, corpus), pipeline_of(held, pipeline).ranker.indexers
    if ray is None:
        _in_one_piece(opened_corpus, indexers, rebuild)
    else:
        _in_shards(opened_corpus, indexers, ray, shards, rebuild)


def _in_one_piece(corpus: "Corpus", indexers: "Sequence[Indexer[object]]", rebuild: bool) -> None:
    from berdseye.retrieval.indexes import ensure_index

    for indexer in indexers:
        with counting(corpus.name) as progress:
            ensure_index(corpus, indexer, wait=False, rebuild=rebuild, progress=progress)
        note(f"{corpus.name}: index {indexer.name} is ready")


def _in_shards(
    corpus: "Corpus", indexers: "Sequence[Indexer[object]]", address: str, shards: int | None, rebuild: bool
) -> None:
    from berdseye.retrieval.cluster.building import build_shards
    from berdseye.retrieval.cluster.connection import connect

    with connect(address) as cluster:
        for indexer in indexers:
            with counting(corpus.name) as progress:
                plan = build_shards(corpus, indexer, cluster, shards, rebuild=rebuild, progress=progress)
            note(f"{corpus.name}: index {indexer.name} is ready in {plan.shards} shards")
