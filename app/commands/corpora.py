"""`corpus`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from berdseye.app.commands.arguments import only_with
from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened
from berdseye.data.progress import Progress
from berdseye.data.texts.near_duplicates import DEFAULT_THRESHOLD
from berdseye.data.workspace import Workspace

corpus = typer.Typer(no_args_is_help=True, help="Add and list corpora.")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(corpus, name="corpus")


@corpus.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Its name in the workspace.")],
    path: Annotated[Path, typer.Argument(help="A file (.jsonl .json .csv .tsv .parquet .html .txt .md), or a folder.")],
    lucene: Annotated[
        bool,
        typer.Option("--lucene", help="The path is a Lucene index, or a prebuilt one's name, that stores its texts."),
    ] = False,
    pages: Annotated[bool, typer.Option("--pages", help="Keep web pages whole; cut them for each question.")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Take the place of a corpus of this name.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows out, and list them.")] = False,
    chunker: Annotated[
        str | None, typer.Option(help="words(100), characters(2000), sentences(100) or whole; words(100) by default.")
    ] = None,
    near_duplicates: Annotated[
        Literal["keep", "drop"], typer.Option(help="Whether passages that nearly repeat another are kept.")
    ] = "keep",
    threshold: Annotated[float, typer.Option(help="From which Jaccard similarity on they do.")] = DEFAULT_THRESHOLD,
    restart: Annotated[bool, typer.Option("--restart", help="Begin anew where an earlier load was cut off.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Read documents, cut them into passages of about 100 words, and add them as a corpus.

    A row has `text` (or contents, passage), and may have `id`, `title`, `url`. Also read: DPR's `psgs_w100.tsv` and
    Sphere's shards (their passages stay as they are), BEIR folders, the corpora of PIR tasks, debates with arguments
    (the layout of Perspectrum's sources); all of these compressed (.gz .bz2 .zst) and, where they are texts, in tar
    archives. Cut off, the same command goes on where it stopped.

    Example: `berdseye corpus add wikipedia psgs_w100.tsv.gz`
    """
    from berdseye.data.corpora import add_corpus

    only_with("--near-duplicates drop", near_duplicates == "drop", "threshold")
    held = opened(workspace)
    with counting(name) as progress, _source(held, name, path, lucene, progress) as source:
        manifest = add_corpus(
            held,
            name,
            source,
            kind="pages" if pages else "passages",
            replace=replace,
            skip_bad=skip_bad,
            chunker="whole" if lucene and chunker is None else chunker,
            near_duplicates=near_duplicates,
            threshold=threshold,
            restart=restart,
            progress=progress,
            say=note,
        )
    if json:
        print_json(manifest.to_dict())
        return
    unit = "pages" if pages else "passages"
    near = f", {manifest.near_duplicates:,} near-duplicates dropped" if near_duplicates == "drop" else ""
    note(
        f"{name}: {manifest.count:,} {unit} of {manifest.documents:,} documents, "
        f"{manifest.duplicates_merged:,} duplicates merged{near}"
    )
    for row in manifest.bad_rows:
        note(f"left out: {row}")
    if manifest.left_out > len(manifest.bad_rows):
        note(f"left out in all: {manifest.left_out:,} rows, listed in left_out.txt beside the corpus")


@contextmanager
def _source(held: Workspace, name: str, path: Path, lucene: bool, progress: Progress) -> Iterator[Path]:
    """What is to be read: the path, or a file of what a Lucene index stores, which is removed afterwards."""
    if not lucene:
        yield path
        return
    from berdseye.retrieval.lucene.documents import write_documents

    written = held.corpus_folder(name).parent / f".{name}.lucene.jsonl"
    written.parent.mkdir(parents=True, exist_ok=True)
    try:
        write_documents(str(path), written, progress)
        yield written
    finally:
        written.unlink(missing_ok=True)


@corpus.command()
def web(
    name: Annotated[str, typer.Argument(help="Its name in the workspace.")],
    provider: Annotated[Literal["searxng", "serper"], typer.Option(help="Who searches.")] = "searxng",
    address: Annotated[str, typer.Option(help="Address of the SearXNG server.")] = "",
    count: Annotated[int, typer.Option(help="How many pages a question takes.")] = 100,
    trusted: Annotated[
        list[str] | None, typer.Option(help="A domain ending to keep to, such as gov or ac.*; may be given again.")
    ] = None,
    language: Annotated[str, typer.Option(help="Language of the search, such as en.")] = "",
    chunker: Annotated[str | None, typer.Option(help="As for `corpus add`.")] = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Fetch from private addresses too: for an intranet alone.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Take the place of a corpus of this name.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Add a corpus of the web: each question is searched for, and its pages are fetched, cut and ranked.

    serper.dev takes its key from SERPER_API_KEY. A SearXNG server must offer `json` among its search formats. What was
    found is kept by question and day, so that `--day` repeats a run.

    Example: `berdseye corpus web google --provider serper --trusted gov --trusted edu --trusted org`
    """
    from berdseye.data.corpora.web import add_web_corpus
    from berdseye.data.web.settings import WebSettings

    settings = WebSettings(
        provider=provider,
        address=address,
        count=count,
        trusted=tuple(trusted or ()),
        language=language,
        allow_private=allow_private,
    )
    manifest = add_web_corpus(opened(workspace), name, settings, chunker=chunker, replace=replace)
    if json:
        print_json(manifest.to_dict())
        return
    note(f"{name}: asks {manifest.source}, {count} pages a question")


@corpus.command()
def duplicates(
    name: Annotated[str, typer.Argument(help="The corpus.")],
    threshold: Annotated[
        float, typer.Option(help="From which Jaccard similarity of word 5-grams on passages are near-duplicates.")
    ] = DEFAULT_THRESHOLD,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List groups of passages that nearly repeat one another: a line a group, of their ids, the first first.

    Example: `berdseye corpus duplicates web --threshold 0.8`
    """
    from berdseye.data.corpora import open_corpus
    from berdseye.data.texts.near_duplicates import NearDuplicates

    opened_corpus = open_corpus(opened(workspace), name)
    with counting(name) as progress:
        groups = NearDuplicates(threshold).groups(lambda: opened_corpus.texts(progress))
    if json:
        print_json(groups)
        return
    for group in groups:
        print(*group, sep="\t")
    note(f"{name}: {len(groups):,} groups, {sum(map(len, groups)) - len(groups):,} passages more than needed")


@corpus.command("list")
def list_all(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the corpora.

    Example: `berdseye corpus list --json`
    """
    from berdseye.data.corpora import open_corpus

    held = opened(workspace)
    manifests = [open_corpus(held, name).manifest for name in held.corpora()]
    if json:
        print_json([m.to_dict() for m in manifests])
        return
    for m in manifests:
        print(f"{m.name}\t{m.count}\t{m.kind}\t{m.created}")
