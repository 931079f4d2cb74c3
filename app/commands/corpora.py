"""`corpus` and `index`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from app.commands.options import JsonOption, WorkspaceOption, opened
from app.console import counting, note, print_json

corpus = typer.Typer(no_args_is_help=True, help="Add and list corpora.")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(corpus, name="corpus")
    cli.command()(index)


@corpus.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Its name in the workspace.")],
    path: Annotated[Path, typer.Argument(help="A file (.jsonl .json .csv .tsv .parquet .html .txt .md) or a folder.")],
    pages: Annotated[bool, typer.Option("--pages", help="Keep web pages whole; cut them for each question.")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Take the place of a corpus of this name.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows out, and list them.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Read documents, cut them into passages of about 100 words, and add them as a corpus.

    A row has `text` (or contents, passage), and may have `id`, `title`, `url`. Also read: DPR's TSV, the corpora of PIR
    tasks, debates with arguments (the layout of Perspectrum's sources).

    Example: `berdseye corpus add debates debatewise.json`
    """
    from data.corpora import add_corpus

    with counting(name) as progress:
        manifest = add_corpus(
            opened(workspace),
            name,
            path,
            kind="pages" if pages else "passages",
            replace=replace,
            skip_bad=skip_bad,
            progress=progress,
        )
    if json:
        print_json(asdict(manifest))
        return
    unit = "pages" if pages else "passages"
    note(
        f"{name}: {manifest.count:,} {unit} of {manifest.documents:,} documents, {manifest.duplicates_merged} duplicates merged"
    )
    for row in manifest.bad_rows:
        note(f"left out: {row}")


@corpus.command("list")
def list_all(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the corpora.

    Example: `berdseye corpus list --json`
    """
    from data.corpora import open_corpus

    held = opened(workspace)
    manifests = [open_corpus(held, name).manifest for name in held.corpora()]
    if json:
        print_json([asdict(m) for m in manifests])
        return
    for m in manifests:
        print(f"{m.name}\t{m.count}\t{m.kind}\t{m.created}")


def index(
    corpus: Annotated[str, typer.Argument(help="The corpus.")],
    pipeline: Annotated[str, typer.Option(help="The pipeline whose retriever is to be indexed.")] = "bm25",
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Build it even if it stands.")] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Build the index a pipeline needs. (`search` and `run` build a missing one by themselves.)

    Example: `berdseye index debates --pipeline "dense(static)"`
    """
    from data.corpora import open_corpus
    from retrieval.indexes import ensure_index
    from retrieval.registry import parse_pipeline

    retriever = parse_pipeline(pipeline).retriever
    with counting(f"{corpus} {retriever.name}") as progress:
        ensure_index(open_corpus(opened(workspace), corpus), retriever, wait=False, rebuild=rebuild, progress=progress)
    note(f"{corpus}: index {retriever.name} is ready")
