"""`berdseye corpus`: add, list and inspect corpora."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.facts import print_facts
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.data.errors import BadInputError
from berdseye.data.given_options import only_with
from berdseye.data.progress import Progress
from berdseye.data.texts.counts import counted
from berdseye.data.texts.near_duplicates import DEFAULT_THRESHOLD
from berdseye.data.workspace import Workspace

corpus = typer.Typer(no_args_is_help=True, help="Add and list corpora, and find near-duplicate passages.")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(corpus, name="corpus")


@corpus.command("add")
def add(
    name: Annotated[str, typer.Argument(help="The name of the corpus in the workspace.")],
    path: Annotated[Path, typer.Argument(help="A file (.jsonl .json .csv .tsv .parquet .html .txt .md) or a folder.")],
    lucene: Annotated[
        bool,
        typer.Option("--lucene", help="PATH is a Lucene index that stores its texts, or the name of a prebuilt one."),
    ] = False,
    pages: Annotated[
        bool, typer.Option("--pages", help="Keep web pages whole, and cut them into passages for each question.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace an existing corpus of this name.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip invalid rows, and list them.")] = False,
    chunker: Annotated[
        str | None,
        typer.Option(
            help="How documents are cut: words(100), blocks(100), characters(2000), sentences(100) or whole. "
            "Default: words(100)."
        ),
    ] = None,
    near_duplicates: Annotated[
        Literal["keep", "drop"],
        typer.Option(help="Whether passages that nearly repeat another passage are kept or dropped."),
    ] = "keep",
    threshold: Annotated[
        float, typer.Option(help="The Jaccard similarity of word 5-grams from which two passages are near-duplicates.")
    ] = DEFAULT_THRESHOLD,
    restart: Annotated[
        bool,
        typer.Option(
            "--restart", help="Start again from the beginning after an interrupted load, instead of resuming."
        ),
    ] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Read documents, cut them into passages of about 100 words, and add them as a corpus.

    A row has `text` (or `contents`, or `passage`), and may have `id`, `title` and `url`. Berdseye also reads DPR's
    `psgs_w100.tsv` and Sphere's shards (whose passages stay unchanged), BEIR folders, the corpora of PIR tasks, and debates
    with arguments (the layout of Perspectrum's sources). All of these may be compressed (.gz .bz2 .zst); text files may be in
    tar archives. After an interruption, the same command resumes.

    Example: `berdseye corpus add wikipedia psgs_w100.tsv.gz`
    """
    from berdseye.data.corpora import add_corpus

    only_with("--near-duplicates drop", near_duplicates == "drop", "threshold")
    ws = open_workspace(workspace)
    with counting(name) as progress, _source(ws, name, path, lucene, progress) as source:
        manifest = add_corpus(
            ws,
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
    held = counted(manifest.count, "page" if pages else "passage")
    near = f", {counted(manifest.near_duplicates, 'near-duplicate')} dropped" if near_duplicates == "drop" else ""
    note(
        f"{name}: {held} from {counted(manifest.documents, 'document')}, "
        f"{counted(manifest.duplicates_merged, 'duplicate')} merged{near}"
    )
    for row in manifest.bad_rows:
        note(f"skipped: {row}")
    if manifest.left_out > len(manifest.bad_rows):
        note(f"{manifest.left_out:,} rows skipped in total; left_out.txt in the folder of the corpus lists them")


@contextmanager
def _source(ws: Workspace, name: str, path: Path, lucene: bool, progress: Progress) -> Iterator[Path]:
    """The file to read: `path` itself, or a temporary file with the texts that a Lucene index stores."""
    if not lucene:
        yield path
        return
    from berdseye.retrieval.lucene.documents import write_documents

    documents = ws.corpus_folder(name).parent / f".{name}.lucene.jsonl"
    documents.parent.mkdir(parents=True, exist_ok=True)
    try:
        write_documents(str(path), documents, progress)
        yield documents
    finally:
        documents.unlink(missing_ok=True)


@corpus.command()
def web(
    name: Annotated[str, typer.Argument(help="The name of the corpus in the workspace.")],
    provider: Annotated[Literal["searxng", "serper"], typer.Option(help="The search service.")] = "searxng",
    address: Annotated[str, typer.Option(help="The URL of the SearXNG server.")] = "",
    count: Annotated[int, typer.Option(help="Number of pages fetched per question.")] = 100,
    trusted: Annotated[
        list[str] | None,
        typer.Option(
            help="A domain ending to restrict the search to, such as gov or ac.*, or a list of them: debateqa (the endings of "
            "the paper) or institutions (of every country); repeatable."
        ),
    ] = None,
    language: Annotated[str, typer.Option(help="Language of the search, such as en. Default: any.")] = "",
    chunker: Annotated[str | None, typer.Option(help="How pages are cut, as for `corpus add`.")] = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Also fetch from private addresses; for an intranet only.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace an existing corpus of this name.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Add a web corpus: for each question, Berdseye searches the web, and fetches, cuts and ranks the pages.

    The key of serper.dev is read from SERPER_API_KEY. A SearXNG server must offer `json` among its search formats. Results
    are stored by question and day, so that `--day` repeats a run.

    Example: `berdseye corpus web google --provider serper --trusted gov --trusted edu --trusted org`
    """
    from berdseye.data.corpora.web import add_web_corpus
    from berdseye.data.web.settings import WebSettings, trusted_endings

    settings = WebSettings(
        provider=provider,
        address=address,
        count=count,
        trusted=trusted_endings(trusted or ()),
        language=language,
        allow_private=allow_private,
    )
    manifest = add_web_corpus(open_workspace(workspace), name, settings, chunker=chunker, replace=replace)
    if json:
        print_json(manifest.to_dict())
        return
    note(f"{name}: searches {manifest.source}, {counted(count, 'page')} per question")


@corpus.command()
def duplicates(
    name: Annotated[str, typer.Argument(help="The corpus.")],
    threshold: Annotated[
        float, typer.Option(help="The Jaccard similarity of word 5-grams from which two passages are near-duplicates.")
    ] = DEFAULT_THRESHOLD,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List groups of passages that nearly repeat one another: one line of passage ids per group, the lowest id first.

    Example: `berdseye corpus duplicates web --threshold 0.8`
    """
    from berdseye.data.corpora import open_corpus
    from berdseye.data.texts.near_duplicates import NearDuplicates

    opened_corpus = open_corpus(open_workspace(workspace), name)
    with counting(name) as progress:
        groups = NearDuplicates(threshold).groups(lambda: opened_corpus.texts(progress))
    if json:
        print_json(groups)
        return
    for group in groups:
        print(*group, sep="\t")
    note(f"{name}: {len(groups):,} groups, {sum(map(len, groups)) - len(groups):,} redundant passages")


@corpus.command()
def remove(
    name: Annotated[str, typer.Argument(help="The corpus.")],
    yes: Annotated[bool, typer.Option("--yes", help="Confirm that the corpus and its indexes are deleted.")] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Delete a corpus and its indexes. Runs and judgments stay, but runs on a deleted corpus are no longer shown.

    Example: `berdseye corpus remove web --yes`
    """
    from berdseye.data.corpora import open_corpus, remove_corpus

    ws = open_workspace(workspace)
    count = open_corpus(ws, name).manifest.count
    if not yes:
        raise BadInputError(f"This deletes the {counted(count, 'passage')} of '{name}'.", hint="Pass --yes to confirm.")
    remove_corpus(ws, name)
    note(f"{name}: deleted")


@corpus.command("describe")
def describe(
    name: Annotated[str, typer.Argument(help="The corpus.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List the sizes and lengths of a corpus, beside those that the papers print.

    Passages and documents, words and tokens per passage, and the most frequent hosts of web addresses.

    Example: `berdseye corpus describe web`
    """
    from berdseye.evaluation.describing import describe_corpus

    print_facts(describe_corpus(open_workspace(workspace), name), json)


@corpus.command("list")
def list_all(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the corpora.

    Example: `berdseye corpus list --json`
    """
    from berdseye.data.corpora import open_corpus

    ws = open_workspace(workspace)
    manifests = [open_corpus(ws, name).manifest for name in ws.corpora()]
    if json:
        print_json([m.to_dict() for m in manifests])
        return
    for m in manifests:
        print(f"{m.name}\t{m.count}\t{m.kind}\t{m.created}")
