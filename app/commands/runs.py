"""`berdseye runs`: list stored runs, and exchange runs and labels with other programs."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.data.errors import BadInputError
from berdseye.data.texts.counts import counted
from berdseye.evaluation.interchange.choices import Missing, RunFormat

if TYPE_CHECKING:
    from berdseye.data.runs.stored import Run
    from berdseye.data.workspace import Workspace

runs = typer.Typer(no_args_is_help=True, help="List stored runs, and exchange runs and labels with other programs.")


class LabelFormat(StrEnum):
    """The file formats of labels."""

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

    manifests = list_runs(open_workspace(workspace))
    if json:
        rows = [(r.name, r.dataset, r.corpus, r.pipeline, r.k, r.questions, r.created) for r in manifests]
        fields = ("name", "dataset", "corpus", "pipeline", "k", "questions", "created")
        print_json([dict(zip(fields, row, strict=True)) for row in rows])
        return
    for r in manifests:
        print(f"{r.name}\t{counted(r.questions, 'question')}\t{r.k} deep\t{r.created}")


def export_run(
    name: Annotated[str, typer.Argument(help="A stored run.")],
    file: Annotated[Path, typer.Argument(dir_okay=False, writable=True, help="The file to write.")],
    form: Annotated[RunFormat, typer.Option("--format", help="The file format.", show_choices=True)] = RunFormat.TREC,
    labels: Annotated[
        str | None, typer.Option(help="With --format berds: the label source whose labels are written.")
    ] = None,
    model: Annotated[
        str,
        typer.Option(help="With --format berds: also write the labels as predictions of this model, such as mistral."),
    ] = "",
    workspace: WorkspaceOption = None,
) -> None:
    """Write a stored run as a TREC run file, in the format of BERDS's release, or as JSONL.

    Passages are identified by their ids in the corpus. TREC files pad ids to ten digits, so that every program breaks ties
    alike.

    Example: `berdseye runs export debate--web--bm25 bm25.run`
    """
    from berdseye.data.files.atomic import write_bytes
    from berdseye.data.runs.stored import load_run
    from berdseye.evaluation.interchange.jsonl import jsonl_run
    from berdseye.evaluation.interchange.trec import trec_run

    if form is not RunFormat.BERDS and (labels is not None or model):
        raise BadInputError(
            "--labels and --model require --format berds.", hint="To export labels alone, use `berdseye runs labels`."
        )
    if model and labels is None:
        raise BadInputError("--model requires --labels.", hint="Give --labels SOURCE.")
    ws = open_workspace(workspace)
    run = load_run(ws, name)
    match form:
        case RunFormat.TREC:
            written = trec_run(run.question_ids, run.ids, run.scores, name)
        case RunFormat.JSONL:
            written = jsonl_run(run.question_ids, run.ids, run.scores)
        case RunFormat.BERDS:
            written = _released(ws, run, labels, model)
    write_bytes(file, written)
    note(f"{file}: {counted(len(run.question_ids), 'question')}")


def import_run(
    file: Annotated[Path, typer.Argument(help="A TREC run file, or Berdseye's JSONL, over a corpus of the workspace.")],
    dataset: Annotated[str, typer.Option(help="The data set of its questions.")],
    corpus: Annotated[str, typer.Option(help="The corpus of its passages.")],
    name: Annotated[str, typer.Option(help="The name used as the pipeline. Default: imported(TAG).")] = "",
    workspace: WorkspaceOption = None,
) -> None:
    """Import a run made by another program, so that every page and command can use it.

    Example: `berdseye runs import colbert.run --dataset debate --corpus web --name "imported(colbert)"`
    """
    from berdseye.data.runs.stored import list_runs, save_run
    from berdseye.evaluation.interchange.external_runs import IMPORTED, as_run, missing_note, read_run

    ws = open_workspace(workspace)
    imported, absent = as_run(ws, read_run(file), dataset, corpus, name)
    existing = next((r for r in list_runs(ws) if r.name == imported.manifest.name), None)
    if existing is not None and IMPORTED not in existing.versions:
        raise BadInputError(
            f"An import cannot replace the run '{existing.name}', which Berdseye ranked.", hint="Choose another --name."
        )
    if absent:
        note(missing_note(absent, len(imported.question_ids), str(file), Missing.ZERO))
    manifest = save_run(
        ws,
        dataset=dataset,
        corpus=corpus,
        corpus_hash=imported.manifest.corpus_hash,
        pipeline=imported.manifest.pipeline,
        question_ids=imported.question_ids,
        ids=imported.ids,
        scores=imported.scores,
        milliseconds_per_question=0.0,
        versions=imported.manifest.versions,
        made_by=acting_name(ws),
    )
    note(f"{manifest.name}: {counted(manifest.questions, 'question')}, {manifest.k} deep")


def export_labels(
    dataset: Annotated[str, typer.Argument(help="A data set.")],
    corpus: Annotated[str, typer.Argument(help="A corpus.")],
    file: Annotated[Path, typer.Argument(dir_okay=False, writable=True, help="The file to write.")],
    labels: Annotated[
        str | None,
        typer.Option(help="The label source. Default: human>gold>DETECTOR with gold labels, otherwise the detector."),
    ] = None,
    form: Annotated[
        LabelFormat,
        typer.Option("--format", show_choices=True, help="The file format; diversity has one label per perspective."),
    ] = (LabelFormat.DIVERSITY),
    workspace: WorkspaceOption = None,
) -> None:
    """Write the labels of every pair in the stored runs of a data set over a corpus, as TREC qrels or JSONL.

    In diversity qrels, the second field is the number of the perspective, which alpha-nDCG and ERR-IA of ir_measures read as
    the subtopic. In plain TREC qrels, a passage is relevant where it supports any perspective.

    Example: `berdseye runs labels debate web debate.qrels --labels gold`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.files.atomic import write_bytes
    from berdseye.evaluation.interchange.jsonl import jsonl_labels
    from berdseye.evaluation.interchange.trec import diversity_qrels, trec_qrels
    from berdseye.evaluation.labels.qrels import pooled_qrels
    from berdseye.evaluation.labels.sources import default_source, parse_label_source

    ws = open_workspace(workspace)
    source = parse_label_source(labels or default_source(ws))
    if source.corrected:
        raise BadInputError(
            f"{source} only corrects means and has no labels of single pairs.", hint=f"Use {source.plain}."
        )
    judgments = Judgments.open(ws.judgments_url)
    with counting(f"labels of {dataset} over {corpus}") as progress:
        pool = pooled_qrels(ws, judgments, dataset, corpus, source, progress=progress)
    writer = {LabelFormat.DIVERSITY: diversity_qrels, LabelFormat.TREC: trec_qrels, LabelFormat.JSONL: jsonl_labels}[
        form
    ]
    write_bytes(file, writer(pool.question_ids, pool.passages, pool.labels))
    if pool.left_out:
        note(f"Skipped, because they no longer match their data set or corpus: {', '.join(pool.left_out)}.")
    passages = sum(map(len, pool.passages))
    note(f"{file}: labels by {source} of {counted(passages, 'passage')} in {counted(len(pool.runs), 'run')}")


def _released(workspace: "Workspace", run: "Run", labels: str | None, model: str) -> bytes:
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.datasets.stored import load_dataset
    from berdseye.data.runs.pairs import run_pairs
    from berdseye.evaluation.interchange.berds import released_run
    from berdseye.evaluation.labels.sources import labels_of, parse_label_source
    from berdseye.evaluation.scores.counted import counted_questions

    questions = load_dataset(workspace, run.manifest.dataset)
    pairs = run_pairs(workspace, run, questions, run.manifest.k)
    run_labels, counted = None, None
    if labels is not None:
        with counting(run.manifest.name) as progress:
            source = parse_label_source(labels).plain
            judgments, m = Judgments.open(workspace.judgments_url), run.manifest
            values = labels_of(workspace, judgments, source, pairs.pairs, progress=progress)
            counted = counted_questions(workspace, judgments, m.dataset, m.corpus, source, progress=progress)
        run_labels = pairs.by_question(values, questions)
    rankings = [[pairs.passages[i] for i in row[row >= 0].tolist()] for row in run.ids]
    scores = [row[: len(ranking)].tolist() for row, ranking in zip(run.scores, rankings, strict=True)]
    return released_run(questions, rankings, scores, run_labels, model=model, counted=counted)
