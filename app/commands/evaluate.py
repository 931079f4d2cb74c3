"""`berdseye evaluate`: measures of a stored run, or of a run in a file."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import JsonOption, MinJudgedOption, WorkspaceOption, open_workspace, workspace_if_any
from berdseye.app.commands.unjudged_option import UnjudgedOption
from berdseye.data.errors import BadInputError
from berdseye.data.files.given_paths import is_file
from berdseye.data.given_options import not_with, only_with
from berdseye.evaluation.interchange.choices import Missing
from berdseye.evaluation.scores.unjudged import Unjudged

if TYPE_CHECKING:
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.runs.stored import Run
    from berdseye.data.workspace import Workspace
    from berdseye.evaluation.labels.sources import LabelSource
    from berdseye.evaluation.measures import Measure

_FILES = (".jsonl", ".json", ".run", ".trec", ".txt", ".gz")


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(evaluate)


def evaluate(
    run: Annotated[
        str | None,
        typer.Option(
            help="A stored run, or a file: TREC, the released BERDS format, or JSONL. Default: all stored runs."
        ),
    ] = None,
    measures: Annotated[str, typer.Option(help="Measures, separated by spaces.")] = "MRecall@5 Precision@5 Precision@1",
    labels: Annotated[
        str | None,
        typer.Option(
            help="The label source: human, gold, a detector, human>embedded. Default: human>gold>DETECTOR with gold labels, "
            "otherwise the detector. For a BERDS file: the model whose labels count."
        ),
    ] = None,
    qrels: Annotated[
        Path | None,
        typer.Option(help="For a file: its labels, as TREC qrels (with perspectives as subtopics) or JSONL."),
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="For a file: the data set of its questions.")] = None,
    corpus: Annotated[str | None, typer.Option(help="For a file: the corpus of its passages in the workspace.")] = None,
    missing: Annotated[
        Missing,
        typer.Option(help="How questions that a file lacks are handled; zero counts them as retrieving nothing."),
    ] = Missing.ZERO,
    min_judged: MinJudgedOption = None,
    unjudged: UnjudgedOption = None,
    version: Annotated[
        list[str] | None,
        typer.Option(
            "--dataset-version",
            help="A version of the stored run's data set, such as 2 or debate@2; twice: report both and their difference.",
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Compute measures, each with its 95% interval over n questions, judged@k and the source of its labels.

    A question counts where the label source has a label for it, whatever this run ranked, or, with --qrels, where the file has
    one. So n is equal for all runs, and a question without a label in the top k counts as 0; --unjudged left-out leaves it out.
    This rule, and the share of judged pairs below, are also settings of the workspace, which files with labels follow, too.
    Pairs without a label count as not relevant. Where less than half of the pairs of the top k have a label, Berdseye reports
    the reason instead of a number; --min-judged changes that share, and 0 switches this off.

    BERDS measures: MRecall@k, Precision@k, Coverage@k. Classic: Recall@k, nDCG@k, AP@k, Rprec. Diversity: alpha_nDCG@k,
    ERR_IA@k, StRecall@k. Relevant passages beyond a run are pooled from the labelled pairs of all stored runs of its data set
    and corpus.

    A file in BERDS format contains its labels, under `labels` or, by a model, under `mistral-preds` and the like. Other files
    take labels from --qrels, or from the workspace with --dataset, --corpus and --labels. Missing questions are reported on
    standard error.

    If labels come from a detector, `unsure_share` in the JSON output, and a note, give the share of the pairs it labels in the
    top k that it is unsure about. Labels of pairs near the threshold are the least certain.

    To give merged or reworded perspectives the labels of the perspectives they came from, include `derived` in --labels, as in
    human>derived>embedded.

    Example: `berdseye evaluate --run results.jsonl --measures "MRecall@5 Precision@5" --json`
    """
    from berdseye.evaluation.measures import parse_measures

    parsed = parse_measures(measures)
    path = Path(run) if run is not None else None
    rows: dict[str, dict[str, Any]] | list[dict[str, Any]]
    not_with("--dataset-version", version, "qrels", "dataset", "corpus", "missing", why="which requires a stored run")
    only_with("a file", run is not None and is_file(run), "missing")
    if version:
        if run is None or path is None or is_file(run) or len(version) > 2:
            raise BadInputError(
                "--dataset-version takes one stored run and one or two versions.", hint="Name the run with --run."
            )
        _under_versions(run, version, parsed, labels, workspace, min_judged, unjudged, json=json)
        return
    if run is not None and path is not None and is_file(run):
        if qrels is not None:
            if corpus is not None or labels is not None:
                raise BadInputError("--qrels already provides the labels.", hint="Omit --corpus and --labels.")
            rows = _against_qrels(
                path, qrels, dataset, parsed, missing, workspace, *_rules(workspace, min_judged, unjudged)
            )
        elif dataset is not None and corpus is not None:
            rows = _against_workspace(path, dataset, corpus, labels, parsed, missing, workspace, min_judged, unjudged)
        elif dataset is not None or corpus is not None:
            raise BadInputError("A run in a file needs labels.", hint="Give both --dataset and --corpus, or --qrels.")
        else:
            only_with("--qrels, or --dataset and --corpus", False, "missing")
            rows = _released(path, labels, parsed, *_rules(workspace, min_judged, unjudged))
    elif run is not None and (Path(run).suffix in _FILES or "/" in run):
        raise BadInputError("There is no such file.", where=run, hint="Check the path.")
    elif qrels is not None or dataset is not None or corpus is not None:
        raise BadInputError("--qrels, --dataset and --corpus require a file.", hint="Name the file with --run.")
    else:
        rows = _stored(run, parsed, labels, workspace, min_judged, unjudged)
    if json:
        print_json(rows)
        return
    for row in rows if isinstance(rows, list) else [{"measure": name, **values} for name, values in rows.items()]:
        _print_row(row)


def _print_row(row: dict[str, Any]) -> None:
    """Print a row with tabs between its values; the last value is the reason where a number is withheld."""
    values = [v for name, v in row.items() if name != "withheld" or v]
    print("\t".join(f"{v:.4f}" if isinstance(v, float) else str(v) for v in values))


def _rules(workspace: Path | None, min_judged: float | None, unjudged: Unjudged | None) -> tuple[float, Unjudged]:
    """Return the floor and the rule for a file that brings its labels: as given, otherwise those of the settings of the
    workspace, if there is one."""
    from berdseye.evaluation.scores.enough_judged import checked_floor, min_judged_of
    from berdseye.evaluation.scores.unjudged import unjudged_of

    ws = workspace_if_any(workspace)
    if ws is None:
        return checked_floor(min_judged), unjudged or Unjudged.ZERO
    return min_judged_of(ws, min_judged), unjudged_of(ws, unjudged)


def _released(
    path: Path, model: str | None, measures: "Sequence[Measure]", min_judged: float, unjudged: Unjudged
) -> dict[str, dict[str, Any]]:
    from berdseye.evaluation.interchange.berds import read_released_run
    from berdseye.evaluation.interchange.choices import RunFormat
    from berdseye.evaluation.interchange.external_runs import run_format
    from berdseye.evaluation.scores.counted import Counted
    from berdseye.evaluation.scores.scoring import scores_of

    if run_format(path) is not RunFormat.BERDS:
        raise BadInputError("The file contains no labels.", where=path, hint="Give --qrels, or --dataset and --corpus.")
    released = read_released_run(path, model)
    _note_depth(measures, int(released.support.depths.max(initial=0)), str(path))
    scores = scores_of(
        measures, released.support, Counted(released.counted, unjudged=unjudged), min_judged=min_judged, dataset="",
        corpus="", pipeline="", labels=released.source, detector_version="",
    )  # fmt: skip
    return {s.measure: {**s.estimate._asdict(), "judged": s.judged, "withheld": s.withheld} for s in scores}


def _against_qrels(
    path: Path,
    qrels: Path,
    dataset: str | None,
    measures: "Sequence[Measure]",
    missing: Missing,
    workspace: Path | None,
    min_judged: float,
    unjudged: Unjudged,
) -> dict[str, dict[str, Any]]:
    from berdseye.data.datasets.stored import load_dataset
    from berdseye.evaluation.interchange.external_runs import judged_by_file, read_labels, read_run
    from berdseye.evaluation.scores.scoring import scores_of

    questions = load_dataset(open_workspace(workspace), dataset) if dataset is not None else None
    judged_run = judged_by_file(read_run(path), read_labels(qrels), questions, missing)
    for text in judged_run.notes:
        note(text)
    _note_depth(measures, judged_run.ranked.ids.shape[1], str(path))
    counted = replace(judged_run.qrels.pool(), unjudged=unjudged)
    support = judged_run.qrels.support(judged_run.ranked.ids)
    scores = scores_of(
        measures, support, counted, min_judged=min_judged, dataset=dataset or "", corpus="",
        pipeline=judged_run.tag, labels=qrels.name, detector_version="",
    )  # fmt: skip
    return {
        s.measure: {**s.estimate._asdict(), "judged": s.judged, "labels": s.labels, "withheld": s.withheld}
        for s in scores
    }


def _against_workspace(
    path: Path,
    dataset: str,
    corpus: str,
    labels: str | None,
    measures: "Sequence[Measure]",
    missing: Missing,
    workspace: Path | None,
    min_judged: float | None,
    unjudged: Unjudged | None,
) -> dict[str, dict[str, Any]]:
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.evaluation.interchange.external_runs import as_run, read_run
    from berdseye.evaluation.labels.sources import default_source, parse_label_source
    from berdseye.evaluation.scores.score import without_questions
    from berdseye.evaluation.scores.scoring import score_run

    ws = open_workspace(workspace)
    source = parse_label_source(labels or default_source(ws))
    imported, absent = as_run(ws, read_run(path), dataset, corpus)
    _note_missing(absent, len(imported.question_ids), str(path), missing)
    _note_depth(measures, imported.manifest.k, str(path))
    judgments = Judgments.open(ws.judgments_url)
    with counting(path.name) as progress:
        scores = score_run(
            ws, judgments, imported, source, measures, min_judged=min_judged,
            unjudged=unjudged, progress=progress,
        )  # fmt: skip
    if missing is Missing.LEFT_OUT:
        scores = without_questions(scores, [q in set(absent) for q in imported.question_ids])
    unsure = _unsure(ws, judgments, imported, source, measures)
    return {
        s.measure: {
            **s.estimate._asdict(),
            "judged": s.judged,
            "labels": s.labels,
            "detector_version": s.detector_version,
            "withheld": s.withheld,
        }
        | unsure.get(s.measure, {})
        for s in scores
    }


def _stored(
    run: str | None,
    measures: "Sequence[Measure]",
    labels: str | None,
    workspace: Path | None,
    min_judged: float | None,
    unjudged: Unjudged | None,
) -> list[dict[str, Any]]:
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.runs.stored import list_runs, load_run
    from berdseye.evaluation.labels.sources import default_source, parse_label_source
    from berdseye.evaluation.scores.score import macro_average
    from berdseye.evaluation.scores.scoring import score_runs

    ws = open_workspace(workspace)
    source = parse_label_source(labels or default_source(ws))
    names = [run] if run is not None else [r.name for r in list_runs(ws)]
    if not names:
        raise BadInputError(
            "The workspace has no run yet.", hint="Create one with `berdseye run`, or name a file with --run."
        )
    runs = [load_run(ws, name) for name in names]
    for one in runs:
        _note_depth(measures, one.manifest.k, one.manifest.name)
    judgments = Judgments.open(ws.judgments_url)
    with counting("scoring") as progress:
        scores = score_runs(
            ws, judgments, runs, source, measures, min_judged=min_judged,
            unjudged=unjudged, progress=progress,
        )  # fmt: skip
    for score in scores:
        if score.sample_note:
            note(f"{score.pipeline}, {score.measure}: {score.sample_note}.")
    unsure = {
        (one.manifest.dataset, one.manifest.corpus, one.manifest.pipeline): _unsure(
            ws, judgments, one, source, measures
        )
        for one in runs
    }
    rows = [s.as_row() | unsure[s.dataset, s.corpus, s.pipeline].get(s.measure, {}) for s in scores]
    return rows + [s.as_row() for s in (macro_average(scores) if run is None else [])]


def _unsure(
    ws: "Workspace", judgments: "Judgments", run: "Run", source: "LabelSource", measures: "Sequence[Measure]"
) -> dict[str, dict[str, float]]:
    """Return, by measure, the share of the pairs of its top k labelled by the detector that it is unsure about, and note it."""
    from berdseye.detectors.labelling import unsure_width
    from berdseye.evaluation.labels.unsure import unsure_in_run

    depths = {str(m): min(m.k, run.manifest.k) for m in measures}
    shares = {k: unsure_in_run(ws, judgments, run, source, k) for k in sorted(set(depths.values()))}
    found = {k: share for k, share in shares.items() if share is not None}
    if found:
        deepest, detector = max(found), source.plain.parts[-1]
        note(
            f"{run.manifest.name}: {detector} is unsure about {found[deepest]:.1%} of the pairs in the top {deepest} "
            f"that it labels (its probability is within {unsure_width(ws):g} of the threshold)."
        )
    return {name: {"unsure_share": found[k]} for name, k in depths.items() if k in found}


def _under_versions(
    name: str,
    versions: Sequence[str],
    measures: "Sequence[Measure]",
    labels: str | None,
    workspace: Path | None,
    min_judged: float | None,
    unjudged: Unjudged | None,
    *,
    json: bool,
) -> None:
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.runs.stored import load_run
    from berdseye.evaluation.labels.sources import default_source, parse_label_source
    from berdseye.evaluation.scores.scoring import score_run
    from berdseye.evaluation.scores.versions import compare_versions, question_rows, rows_of, under_version

    ws = open_workspace(workspace)
    run, source = load_run(ws, name), parse_label_source(labels or default_source(ws))
    judgments = Judgments.open(ws.judgments_url)
    _note_depth(measures, run.manifest.k, run.manifest.name)
    with counting("scoring") as progress:
        if len(versions) == 1:
            scores = score_run(
                ws, judgments, under_version(ws, run, versions[0]), source, measures, min_judged=min_judged,
                unjudged=unjudged, progress=progress,
            )  # fmt: skip
            rows: list[dict[str, Any]] = [s.as_row() for s in scores]
            questions: list[dict[str, Any]] = []
        else:
            comparison = compare_versions(
                ws, judgments, run, (versions[0], versions[1]), source, measures, min_judged=min_judged,
                unjudged=unjudged, progress=progress,
            )  # fmt: skip
            rows, questions = rows_of(comparison), question_rows(comparison)
            if comparison.shown_perspectives:
                note(f"The pipeline of {name} used the perspectives of {run.manifest.dataset}.")
    if json:
        print_json({"measures": rows, "questions": questions} if len(versions) == 2 else rows)
        return
    for row in rows:
        _print_row(row)
    for row in questions:
        before, after = (f"{row[v]:.4f}" for v in (comparison.versions[0], comparison.versions[1]))
        print(f"{row['question']}\t{row['measure']}\t{before}\t{after}")


def _note_missing(absent: Sequence[str], n_questions: int, where: str, missing: Missing) -> None:
    from berdseye.evaluation.interchange.external_runs import missing_note

    if absent:
        note(missing_note(absent, n_questions, where, missing))


def _note_depth(measures: "Iterable[Measure]", depth: int, name: str) -> None:
    from berdseye.evaluation.measures import WHOLE_RUN

    too_deep = [str(m) for m in measures if depth < m.k < WHOLE_RUN]
    if too_deep:
        note(f"{name} has {depth} passages per question at most; these measures look deeper: {', '.join(too_deep)}.")
