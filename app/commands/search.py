"""`berdseye search`, `detect`, `expansion` and `run`: query a corpus, label a passage, store perspectives, and store runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, chosen_detector, open_workspace, workspace_if_any
from berdseye.data.texts.counts import counted

if TYPE_CHECKING:
    from berdseye.data.corpora import Corpus
    from berdseye.retrieval.protocol import Searchable


def register_detect(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(detect)


def detect(
    passage: Annotated[str, typer.Argument(help="The text of a passage, or a file that contains it.")],
    perspective: Annotated[list[str], typer.Argument(help="One or more perspectives.")],
    title: Annotated[str, typer.Option(help="The title of the passage's document.")] = "",
    detector: Annotated[str | None, typer.Option(help="The detector. Default: the adopted one.")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Report for each perspective whether the passage supports it, opposes it or does neither, with the probability of this.

    For "unsure" it is P(supports). A detector of grade topic only tells whether the passage is on the perspective's topic
    (`berdseye detector grade`): for "on topic" it is P(supports), for "off topic" 1 - P(supports). In JSON, "probability" is
    always P(supports), and "opposing" is P(opposes).

    Example: `berdseye detect "Mornings are calmer since the blazers came." "School uniforms should be compulsory." --json`
    """
    from berdseye.data.errors import BadInputError
    from berdseye.data.records import Pair
    from berdseye.detectors.labelling import opined_at_once

    chosen = chosen_detector(detector, workspace)
    path = Path(passage) if len(passage) < 250 else None
    text = path.read_text(encoding="utf-8") if path is not None and path.is_file() else passage
    if not all(one.strip() for one in (text, *perspective)):
        raise BadInputError("The passage and each perspective must have at least one word.")
    ws = workspace_if_any(workspace)
    found = opined_at_once(ws, chosen, [Pair(text, p, title) for p in perspective])
    rows = [
        {
            "perspective": p,
            "probability": one.label.probability,
            "opposing": None if isnan(one.opposing) else one.opposing,
            "supports": one.label.supports,
            "opinion": one.opinion,
            "detector": chosen.name,
            "version": chosen.version,
        }
        for p, one in zip(perspective, found, strict=True)
    ]
    if json:
        print_json(rows)
        return
    for p, one in zip(perspective, found, strict=True):
        print(f"{one.opinion}  {one.probability:.3f}  {p}")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    register_detect(cli)
    cli.command()(search)
    cli.command()(expansion)
    cli.command()(run)


def search(
    question: Annotated[str, typer.Argument(help="The question.")],
    corpus: Annotated[str, typer.Option(help="The corpus.")],
    pipeline: Annotated[str, typer.Option(help="The pipeline.")] = "bm25",
    k: Annotated[int, typer.Option("--k", "-k", help="Number of passages.")] = 5,
    perspective: Annotated[
        list[str] | None, typer.Option(help="A perspective to cover or to project on; repeatable.")
    ] = None,
    root: Annotated[
        str, typer.Option(help="The question without its perspective, for projections. Default: the question.")
    ] = "",
    day: Annotated[
        str | None, typer.Option(help="For a web corpus: the day (YYYY-MM-DD) whose search results are used.")
    ] = None,
    ray: Annotated[str | None, typer.Option(help="Search the shards over the Ray cluster at HOST:PORT.")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Show the top k passages for a question.

    Example: `berdseye search "Should zoos keep large animals?" --corpus web --pipeline "dense(static)" --k 5 --json`
    """
    from berdseye.data.corpora import open_corpus
    from berdseye.evaluation.pipelines import pipeline_of
    from berdseye.retrieval.pipeline import search as ranked
    from berdseye.retrieval.protocol import Query

    ws = open_workspace(workspace)
    opened_corpus = open_corpus(ws, corpus)
    perspectives = tuple(perspective or ())
    query = Query(question, root or question, perspectives[0] if perspectives else "", perspectives)
    with _shards(opened_corpus, ray) as over:
        ids, scores = ranked(opened_corpus, pipeline_of(ws, pipeline), [query], k, day=day, over=over)
    passage_ids = [i for i in ids[0].tolist() if i >= 0]
    rows = [
        {"rank": rank, "passage": p.id, "title": p.title, "text": p.text, "score": score}
        for rank, (p, score) in enumerate(
            zip(opened_corpus.passages(passage_ids), scores[0].tolist(), strict=False), start=1
        )
    ]
    if json:
        print_json(rows)
        return
    if not rows:
        note(f"No passage of {corpus} was found for '{question}'")
    for row in rows:
        print(f"{row['rank']}. {row['title']}  [{row['passage']}, {row['score']:.3f}]\n   {row['text']}\n")


def expansion(
    question: Annotated[str, typer.Argument(help="The question.")],
    perspective: Annotated[
        list[str], typer.Argument(help="Its perspectives, in the order in which they are searched.")
    ],
    workspace: WorkspaceOption = None,
) -> None:
    """Store perspectives for a question, for pipelines that begin with `expand(manual)`.

    Example: `berdseye expansion "Should zoos exist?" "Zoos save species." "Captivity is cruel."`
    """
    from berdseye.retrieval.expansion.manual import ManualPerspectives

    ManualPerspectives(open_workspace(workspace)).put(question, perspective)
    note(f"{counted(len(perspective), 'perspective')} stored for '{question}'")


def run(
    dataset: Annotated[list[str], typer.Option(help="A data set; repeatable.")],
    corpus: Annotated[list[str], typer.Option(help="A corpus; repeatable.")],
    pipeline: Annotated[list[str], typer.Option(help="A pipeline; repeatable.")],
    k: Annotated[int, typer.Option("--k", "-k", help="Number of passages per question.")] = 20,
    day: Annotated[
        str | None, typer.Option(help="For a web corpus: the day (YYYY-MM-DD) whose search results are used.")
    ] = None,
    ray: Annotated[str | None, typer.Option(help="Search the shards over the Ray cluster at HOST:PORT.")] = None,
    missing: Annotated[
        bool,
        typer.Option(
            "--missing", help="Skip runs that exist, are at least as deep, and are up to date with the corpus."
        ),
    ] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Run pipelines on whole data sets and store the runs.

    Example: `berdseye run --dataset kialo --corpus debates --pipeline bm25 --pipeline "dense(static)"`
    """
    from berdseye.data.corpora import open_corpus
    from berdseye.detectors.labelling import label_function
    from berdseye.retrieval.running import is_up_to_date, run_pipeline

    ws = open_workspace(workspace)
    person = acting_name(ws)
    for c in corpus:
        with _shards(open_corpus(ws, c), ray) as over:
            for d, p in product(dataset, pipeline):
                if missing and is_up_to_date(ws, d, c, p, k, label_function=label_function(ws), day=day):
                    note(f"{p} on {d} over {c}: already exists")
                    continue
                with counting(f"{p} on {d} over {c}") as progress:
                    manifest = run_pipeline(
                        ws,
                        d,
                        c,
                        p,
                        k,
                        label_function=label_function(ws),
                        day=day,
                        over=over,
                        progress=progress,
                        made_by=person,
                    )
                note(
                    f"{manifest.name}: {counted(manifest.questions, 'question')}, "
                    f"{manifest.milliseconds_per_question:.1f} ms per question"
                )


@contextmanager
def _shards(corpus: "Corpus", address: str | None) -> Iterator["Searchable | None"]:
    """The shards of `corpus` on the Ray cluster at `address`; None for no address."""
    if address is None:
        yield None
        return
    from berdseye.retrieval.cluster.searching import sharded

    with sharded(corpus, address) as passages:
        yield passages
