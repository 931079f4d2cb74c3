"""`berdseye failures`: the holes of runs with their reasons; `berdseye compare`: two runs question by question."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, MinJudgedOption, WorkspaceOption, open_workspace
from berdseye.app.commands.unjudged_option import UnjudgedOption
from berdseye.data.errors import BadInputError

if TYPE_CHECKING:
    import pandas as pd

    from berdseye.data.runs.stored import Run, RunManifest
    from berdseye.data.workspace import Workspace
    from berdseye.evaluation.failures.contrast import Contrast

Test = Literal["t", "randomisation", "bootstrap"]
Correction = Literal["holm", "bonferroni", "fdr_bh", "none"]
LabelsOption = Annotated[
    str | None,
    typer.Option(help="The label source. Default: human>gold>DETECTOR with gold labels, otherwise the detector."),
]
CsvOption = Annotated[
    Path | None,
    typer.Option(
        "--csv", dir_okay=False, writable=True, help="Also write the rows to this file (.csv, .parquet or .jsonl)."
    ),
]


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.command()(failures)
    cli.command()(compare)


def failures(
    run: Annotated[
        list[str] | None, typer.Option(help="A stored run; repeatable. Default: count the holes of all runs.")
    ] = None,
    k: Annotated[
        int,
        typer.Option(
            "-k", "--k", min=1, max=100, help="Number of top passages in which a perspective must be supported."
        ),
    ] = 5,
    labels: LabelsOption = None,
    csv: CsvOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List the holes of a run (perspectives that no passage of its top k supports) with their reasons, and count these.

    Berdseye tests the reasons in this order: flagged, detector against people, disputed, unjudged, below k, another pipeline, not
    in the pool (evaluation/failures/reasons.py). The pool is the other stored runs on the data set and corpus, 100 deep.

    Example: `berdseye failures --run debate--web--bm25 --k 5 --csv holes.csv`
    """
    import pandas as pd

    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.files.tables import table_form, write_table
    from berdseye.data.runs.stored import Run, list_runs, load_run
    from berdseye.evaluation.failures.reasons import POOL_DEPTH, reason_counts, reasons_of_holes
    from berdseye.evaluation.labels.labelled_runs import LabelledRun, labelled_run
    from berdseye.evaluation.labels.sources import default_source, parse_label_source

    if csv is not None:
        table_form(csv)  # report an unknown file ending before the work starts
    ws = open_workspace(workspace)
    names = run or [r.name for r in list_runs(ws)]
    if not names:
        raise BadInputError("The workspace has no run yet.", hint="Create one with `berdseye run`.")
    source = parse_label_source(labels or default_source(ws))
    judgments = Judgments.open(ws.judgments_url)
    tables, groups = [], []
    labelled_runs: dict[str, LabelledRun] = {}
    with counting("holes") as progress:

        def labelled(one: Run) -> LabelledRun:
            name = one.manifest.name
            if name not in labelled_runs:
                labelled_runs[name] = labelled_run(ws, judgments, one, source, POOL_DEPTH, progress=progress)
            return labelled_runs[name]

        for one in [load_run(ws, name) for name in names]:
            m = one.manifest
            others = comparable_runs(ws, m)
            if m.k < k:
                note(f"{m.name} has {m.k} passages per question, fewer than {k}.")
            pool = {other.manifest.pipeline: labelled(other).first_ranks() for other in others}
            holes = reasons_of_holes(judgments, m.dataset, labelled(one), pool, k)
            system = {"dataset": m.dataset, "corpus": m.corpus, "pipeline": m.pipeline}
            tables.append(holes.drop(columns="row").assign(**system, k=k, labels=str(source)))
            groups.append(tuple(system.values()))
    rows = pd.concat(tables, ignore_index=True)
    counts = reason_counts(rows, ("dataset", "corpus", "pipeline"), groups)
    if csv is not None:
        write_table(rows, csv)
    if json:
        print_json({"counts": _records(counts), "holes": _records(rows) if run else []})
        return
    if run:
        for hole in _records(rows):
            where = "-" if hole["rank"] != hole["rank"] else f"{hole['rank']:.0f}"
            values = (
                hole["question_id"],
                f"P{hole['place']}",
                hole["reason"],
                where,
                hole["question"],
                hole["perspective"],
            )
            print("\t".join(map(str, values)))
    _print_table(counts)


def comparable_runs(workspace: "Workspace", run: "RunManifest") -> "list[Run]":
    """The other runs over the data set and corpus of `run`; prints a note about those skipped because they are out of date."""
    from berdseye.evaluation.failures.reasons import others_of

    others, stale = others_of(workspace, run)
    if stale:
        note(f"Not in the pool of {run.name}, because their data set or corpus has changed: {', '.join(stale)}.")
    return others


def compare(
    first: Annotated[
        str, typer.Argument(help="A stored run, optionally with a version of its data set: RUN:debate@2.")
    ],
    second: Annotated[
        str, typer.Argument(help="Another stored run, or the first one with another version or with --second-labels.")
    ],
    measure: Annotated[
        list[str] | None, typer.Option(help="A measure to compare; repeatable. Default: MRecall@5.")
    ] = None,
    labels: LabelsOption = None,
    second_labels: Annotated[
        str | None, typer.Option(help="The label source of the second run. Default: the source of the first.")
    ] = None,
    test: Annotated[Test, typer.Option(help="The paired test.")] = "randomisation",
    correction: Annotated[Correction, typer.Option(help="The correction for the number of measures.")] = "holm",
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of the resamples.")] = 0,
    min_judged: MinJudgedOption = None,
    unjudged: UnjudgedOption = None,
    csv: CsvOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Compare two runs question by question: wins, losses and ties, and the perspectives that the second run loses and gains.

    Questions and perspectives are listed by the first measure, the largest difference first. A question that one of the runs
    lacks, or has no value for, is listed but counts nowhere. To compare all pairs of systems, use `berdseye study compare`.

    Example: `berdseye compare debate--web--bm25 "debate--web--dense(static)" --measure MRecall@5 --measure Precision@5`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.files.tables import table_form, write_table
    from berdseye.evaluation.failures.contrast import contrast_table, contrasts
    from berdseye.evaluation.labels.sources import default_source, parse_label_source
    from berdseye.evaluation.measures import WHOLE_RUN, parse_measures

    if csv is not None:
        table_form(csv)
    ws = open_workspace(workspace)
    first_source = parse_label_source(labels or default_source(ws))
    second_source = parse_label_source(second_labels) if second_labels else first_source
    measures = parse_measures(" ".join(measure or ["MRecall@5"]))
    runs = (_side(first, workspace), _side(second, workspace))
    for side in runs:
        too_deep = ", ".join(str(m) for m in measures if side.manifest.k < m.k < WHOLE_RUN)
        if too_deep:
            note(
                f"{side.manifest.name} has {side.manifest.k} passages per question; these measures look deeper: {too_deep}."
            )
    sides = ((runs[0], first_source), (runs[1], second_source))
    with counting("comparing") as progress:
        results = contrasts(
            ws, Judgments.open(ws.judgments_url), sides, measures, min_judged=min_judged, unjudged=unjudged,
            test=test, seed=seed, progress=progress,
        )  # fmt: skip
    table = contrast_table(results, correction).assign(labels=str(first_source), second_labels=str(second_source))
    questions = results[0].questions.drop(columns=["row_first", "row_second"])
    if csv is not None:
        flat = questions.assign(**{c: [" | ".join(texts) for texts in questions[c]] for c in ("lost", "gained")})
        write_table(flat, csv)
    if json:
        changed = results[0].perspectives[results[0].perspectives["change"] != ""]
        rows = {"measures": table, "questions": questions, "perspectives": changed}
        print_json({name: _records(frame) for name, frame in rows.items()})
        return
    _print_table(table)
    if any(c.withheld for c in results):
        names = ", ".join(str(c.measure) for c in results if c.withheld)
        note(f"No value for {names}: {results[0].withheld or next(c.withheld for c in results if c.withheld)}.")
    _print_questions(results[0])


def _side(argument: str, workspace: Path | None) -> "Run":
    from berdseye.data.runs.stored import load_run
    from berdseye.evaluation.scores.versions import under_version

    ws = open_workspace(workspace)
    name, _, version = argument.partition(":")
    return under_version(ws, load_run(ws, name), version) if version else load_run(ws, name)


def _print_questions(result: "Contrast") -> None:
    """Print a line for each question that differs or is missing, and for each perspective that was lost or gained."""
    for q in _records(result.questions):
        if q["outcome"] != "tie":
            values = "" if q["difference"] != q["difference"] else f"{q['first']:.4f}\t{q['second']:.4f}"
            print("\t".join(part for part in (q["outcome"], q["question_id"], values, q["question"]) if part))
    for p in _records(result.perspectives):
        if p["change"]:
            print(f"{p['change']}\t{p['question_id']}\tP{p['place']} at k={result.k}\t{p['perspective']}")


def _print_table(frame: "pd.DataFrame") -> None:
    print("\t".join(frame.columns))
    for row in frame.itertuples(index=False):
        print("\t".join(f"{v:.4f}" if isinstance(v, float) else str(v) for v in row))


def _records(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """The rows of a table as plain Python values, for JSON."""
    return [
        {str(name): value.item() if hasattr(value, "item") else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]
