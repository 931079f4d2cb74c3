"""`runs`: what is stored, and runs and labels in the formats of other programs."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened
from berdseye.data.errors import BadInputError
from berdseye.evaluation.interchange.made_elsewhere import Missing, RunFormat

if TYPE_CHECKING:
    from berdseye.data.runs.stored import Run
    from berdseye.data.workspace import Workspace

runs = typer.Typer(no_args_is_help=True, help="Stored runs; runs and labels in the formats of other programs.")


class LabelFormat(StrEnum):
    """The formats of labels."""

    DIVERSITY = "diversity"
    TREC = "trec"
    JSONL = "jsonl"


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    runs.command("list")(list_all)
    runs.command("export")(export_run)
    runs.command("import")(import_run)
    runs.command("labels")(export_labels)
    cli.add_typer(runs, name="runs")


def list_all(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the stored runs.

    Example: `berdseye runs list`
    """
    from berdseye.data.runs.stored import list_runs

    held = list_runs(opened(workspace))
    if json:
        rows = [(r.name, r.dataset, r.corpus, r.pipeline, r.k, r.questions, r.created) for r in held]
        fields = ("name", "dataset", "corpus", "pipeline", "k", "questions", "created")
        print_json([dict(zip(fields, row, strict=True)) for row in rows])
        return
    for r in held:
        print(f"{r.name}\t{r.questions} questions\t{r.k} deep\t{r.created}")


def export_run(
    name: Annotated[str, typer.Argument(help="A stored run.")],
    file: Annotated[Path, typer.Argument(dir_okay=False, writable=True, help="The file to write.")],
    form: Annotated[RunFormat, typer.Option("--format", help="The format.", show_choices=True)] = RunFormat.TREC,
    labels: Annotated[str | None, typer.Option(help="For the BERDS form: labels from this source too.")] = None,
    model: Annotated[
        str, typer.Option(help="For the BERDS form: write the labels as this model's predictions too, such as mistral.")
    ] = "",
    workspace: WorkspaceOption = None,
) -> None:
    """Write a stored run as a TREC run file, in the form BERDS releases, or as JSONL.

    Passages go by their ids in the corpus: in TREC files with ten digits, so that ties break alike everywhere.

    Example: `berdseye runs export debate--web--bm25 bm25.run`
    """
    from berdseye.data.files.atomic import write_bytes
    from berdseye.data.runs.stored import load_run
    from berdseye.evaluation.interchange.jsonl import jsonl_run
    from berdseye.evaluation.interchange.trec import trec_run

    if form is not RunFormat.BERDS and (labels is not None or model):
        raise BadInputError("--labels and --model are for --format berds.", hint="See `berdseye runs labels`.")
    if model and labels is None:
        raise BadInputError("A model's predictions need labels.", hint="Give --labels SOURCE.")
    held = opened(workspace)
    run = load_run(held, name)
    match form:
        case RunFormat.TREC:
            written = trec_run(run.question_ids, run.ids, run.scores, name)
        case RunFormat.JSONL:
            written = jsonl_run(run.question_ids, run.ids, run.scores)
        case RunFormat.BERDS:
            written = _released(held, run, labels, model)
    write_bytes(file, written)
    note(f"{file}: {len(run.question_ids)} questions")


def import_run(
    file: Annotated[Path, typer.Argument(help="A TREC run file or our JSONL, over a corpus here.")],
    dataset: Annotated[str, typer.Option(help="The data set its questions are of.")],
    corpus: Annotated[str, typer.Option(help="The corpus its passages are of.")],
    name: Annotated[str, typer.Option(help="What stands for the pipeline; else imported(TAG).")] = "",
    workspace: WorkspaceOption = None,
) -> None:
    """Store a run that was made elsewhere, so that every page and command sees it.

    Example: `berdseye runs import colbert.run --dataset debate --corpus web --name "imported(colbert)"`
    """
    from berdseye.data.runs.stored import list_runs, save_run
    from berdseye.evaluation.interchange.made_elsewhere import IMPORTED, as_run, missing_note, read_run

    held = opened(workspace)
    made, absent = as_run(held, read_run(file), dataset, corpus, name)
    stands = next((r for r in list_runs(held) if r.name == made.manifest.name), None)
    if stands is not None and IMPORTED not in stands.versions:
        raise BadInputError(
            f"'{stands.name}' was ranked here, and is not replaced.", hint="Give the import another --name."
        )
    if absent:
        note(missing_note(absent, len(made.question_ids), str(file), Missing.ZERO))
    manifest = save_run(
        held,
        dataset=dataset,
        corpus=corpus,
        corpus_hash=made.manifest.corpus_hash,
        pipeline=made.manifest.pipeline,
        question_ids=made.question_ids,
        ids=made.ids,
        scores=made.scores,
        milliseconds_per_question=0.0,
        versions=made.manifest.versions,
        made_by=acting_name(held),
    )
    note(f"{manifest.name}: {manifest.questions} questions, {manifest.k} deep")


def export_labels(
    dataset: Annotated[str, typer.Argument(help="A data set.")],
    corpus: Annotated[str, typer.Argument(help="A corpus.")],
    file: Annotated[Path, typer.Argument(dir_okay=False, writable=True, help="The file to write.")],
    labels: Annotated[
        str | None,
        typer.Option(help="The label source; default: human>gold>DETECTOR with gold labels, else the detector."),
    ] = None,
    form: Annotated[
        LabelFormat, typer.Option("--format", show_choices=True, help="diversity: a label a perspective.")
    ] = (LabelFormat.DIVERSITY),
    workspace: WorkspaceOption = None,
) -> None:
    """Write the labels of every pair of the stored runs of a data set over a corpus, as TREC qrels or JSONL.

    In the diversity flavour the second field is the perspective's number, which alpha-nDCG and ERR-IA of ir_measures take for
    a subtopic. In the plain one a passage is relevant where it supports any.

    Example: `berdseye runs labels debate web debate.qrels --labels gold`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.files.atomic import write_bytes
    from berdseye.evaluation.interchange.jsonl import jsonl_labels
    from berdseye.evaluation.interchange.trec import diversity_qrels, trec_qrels
    from berdseye.evaluation.labels.qrels import pooled_qrels
    from berdseye.evaluation.labels.sources import default_source, parse_label_source

    held = opened(workspace)
    source = parse_label_source(labels or default_source(held))
    if source.corrected:
        raise BadInputError(f"{source} corrects means, and has no labels of its own.", hint=f"Choose {source.plain}.")
    judgments = Judgments.open(held.judgments_url)
    with counting(f"labels of {dataset} over {corpus}") as progress:
        pool = pooled_qrels(held, judgments, dataset, corpus, source, progress=progress)
    writer = {LabelFormat.DIVERSITY: diversity_qrels, LabelFormat.TREC: trec_qrels, LabelFormat.JSONL: jsonl_labels}[
        form
    ]
    write_bytes(file, writer(pool.question_ids, pool.passages, pool.labels))
    if pool.left_out:
        note(f"Left out, since they fit no more: {', '.join(pool.left_out)}.")
    note(f"{file}: labels by {source} of {sum(map(len, pool.passages)):,} passages in {len(pool.runs)} runs")


def _released(workspace: "Workspace", run: "Run", labels: str | None, model: str) -> bytes:
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.datasets.stored import load_dataset
    from berdseye.data.runs.pairs import run_pairs
    from berdseye.evaluation.interchange.berds import released_run
    from berdseye.evaluation.labels.sources import labels_of, parse_label_source
    from berdseye.evaluation.scores.counted import counted_questions

    questions = load_dataset(workspace, run.manifest.dataset)
    found = run_pairs(workspace, run, questions, run.manifest.k)
    said, counted = None, None
    if labels is not None:
        with counting(run.manifest.name) as progress:
            source = parse_label_source(labels).plain
            judgments, m = Judgments.open(workspace.judgments_url), run.manifest
            values = labels_of(workspace, judgments, source, found.pairs, progress=progress)
            counted = counted_questions(workspace, judgments, m.dataset, m.corpus, source, progress=progress)
        said = found.by_question(values, questions)
    rankings = [[found.passages[i] for i in row[row >= 0].tolist()] for row in run.ids]
    scores = [row[: len(held)].tolist() for row, held in zip(run.scores, rankings, strict=True)]
    return released_run(questions, rankings, scores, said, model=model, counted=counted)
