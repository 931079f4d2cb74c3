"""`failures`: the perspectives that runs miss, and why; `compare`: two runs question by question."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, MinJudgedOption, WorkspaceOption, opened
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
    typer.Option(help="Where labels come from; default: human>gold>DETECTOR with gold labels, else the detector."),
]
CsvOption = Annotated[
    Path | None,
    typer.Option(
        "--csv", dir_okay=False, writable=True, help="Write the rows to this file too (.csv, .parquet, .jsonl)."
    ),
]


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.command()(failures)
    cli.command()(compare)


def failures(
    run: Annotated[
        list[str] | None, typer.Option(help="A stored run; may be given again. Else all of them are counted.")
    ] = None,
    k: Annotated[int, typer.Option("-k", "--k", min=1, max=100, help="How far down a perspective counts.")] = 5,
    labels: LabelsOption = None,
    csv: CsvOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List the perspectives that a run's top k misses, each with the reason, and count the reasons.

    The reasons are asked in turn: flagged, detector against people, disputed, unjudged, below k, another pipeline, not in the
    pool (evaluation/failures/reasons.py). The pool are the other stored runs on the data set and corpus, 100 deep.

    Example: `berdseye failures --run debate--web--bm25 --k 5 --csv holes.csv`
    """
    import pandas as pd

    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.files.tables import table_form, write_table
    from berdseye.data.runs.stored import Run, list_runs, load_run
    from berdseye.evaluation.failures.reasons import POOL_DEPTH, reason_counts, reasons_of_holes
    from berdseye.evaluation.labels.runs import LabelledRun, labelled_run
    from berdseye.evaluation.labels.sources import default_source, parse_label_source

    if csv is not None:
        table_form(csv)  # an ending that has no format is reported before the work
    held = opened(workspace)
    names = run or [r.name for r in list_runs(held)]
    if not names:
        raise BadInputError("There is no run yet.", hint="Make one with `berdseye run`.")
    source = parse_label_source(labels or default_source(held))
    people = Judgments.open(held.judgments_url)
    found, groups = [], []
    known: dict[str, LabelledRun] = {}
    with counting("looking") as progress:

        def labelled(one: Run) -> LabelledRun:
            name = one.manifest.name
            if name not in known:
                known[name] = labelled_run(held, people, one, source, POOL_DEPTH, progress=progress)
            return known[name]

        for one in [load_run(held, name) for name in names]:
            m = one.manifest
            others = others_noted(held, m)
            if m.k < k:
                note(f"{m.name} has {m.k} passages a question, fewer than {k}.")
            pool = {other.manifest.pipeline: labelled(other).first_ranks() for other in others}
            holes = reasons_of_holes(people, m.dataset, labelled(one), pool, k)
            made_of = {"dataset": m.dataset, "corpus": m.corpus, "pipeline": m.pipeline}
            found.append(holes.drop(columns="row").assign(**made_of, k=k, labels=str(source)))
            groups.append(tuple(made_of.values()))
    rows = pd.concat(found, ignore_index=True)
    counts = reason_counts(rows, ("dataset", "corpus", "pipeline"), groups)
    if csv is not None:
        write_table(rows, csv)
    if json:
        print_json({"counts": _records(counts), "holes": _records(rows) if run else []})
        return
    if run:
        for hole in _records(rows):
            where = "-" if hole["rank"] != hole["rank"] else f"{hole['rank']:.0f}"
            told = (
                hole["question_id"],
                f"P{hole['place']}",
                hole["reason"],
                where,
                hole["question"],
                hole["perspective"],
            )
            print("\t".join(map(str, told)))
    _print_table(counts)


def others_noted(workspace: "Workspace", run: "RunManifest") -> "list[Run]":
    """The other runs over a run's data set and corpus; those that do not fit them any more are left out, with a note."""
    from berdseye.evaluation.failures.reasons import others_of

    others, stale = others_of(workspace, run)
    if stale:
        note(f"Not in the pool of {run.name}, since data set or corpus have changed: {', '.join(stale)}.")
    return others


def compare(
    first: Annotated[str, typer.Argument(help="A stored run; a version of its data set behind a colon: RUN:debate@2.")],
    second: Annotated[str, typer.Argument(help="Another, or the same under another version or --second-labels.")],
    measure: Annotated[
        list[str] | None, typer.Option(help="What is compared; may be given again. Else MRecall@5.")
    ] = None,
    labels: LabelsOption = None,
    second_labels: Annotated[str | None, typer.Option(help="For the second, where they come from elsewhere.")] = None,
    test: Annotated[Test, typer.Option(help="The paired test.")] = "randomisation",
    correction: Annotated[Correction, typer.Option(help="For the number of measures.")] = "holm",
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of the resamples.")] = 0,
    min_judged: MinJudgedOption = None,
    csv: CsvOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Compare two runs question by question: wins, losses and ties, and the perspectives that the second loses and gains.

    The questions and perspectives are told by the first measure, the greatest difference first. A question that one of them
    lacks, or has no value for, is named and counts nowhere. Every two systems at once: `berdseye study compare`.

    Example: `berdseye compare debate--web--bm25 "debate--web--dense(static)" --measure MRecall@5 --measure Precision@5`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.files.tables import table_form, write_table
    from berdseye.evaluation.failures.contrast import contrast_table, contrasts
    from berdseye.evaluation.labels.sources import default_source, parse_label_source
    from berdseye.evaluation.measures import WHOLE_RUN, parse_measures

    if csv is not None:
        table_form(csv)
    held = opened(workspace)
    one = parse_label_source(labels or default_source(held))
    other = parse_label_source(second_labels) if second_labels else one
    measures = parse_measures(" ".join(measure or ["MRecall@5"]))
    runs = (_side(first, workspace), _side(second, workspace))
    for side in runs:
        deeper = [str(m) for m in measures if side.manifest.k < m.k < WHOLE_RUN]
        if deeper:
            note(f"{side.manifest.name} has {side.manifest.k} passages a question; deeper looks {', '.join(deeper)}.")
    sides = ((runs[0], one), (runs[1], other))
    with counting("comparing") as progress:
        found = contrasts(
            held, Judgments.open(held.judgments_url), sides, measures, min_judged=min_judged, test=test, seed=seed,
            progress=progress,
        )  # fmt: skip
    table = contrast_table(found, correction).assign(labels=str(one), second_labels=str(other))
    questions = found[0].questions.drop(columns=["row_first", "row_second"])
    if csv is not None:
        flat = questions.assign(**{c: [" | ".join(texts) for texts in questions[c]] for c in ("lost", "gained")})
        write_table(flat, csv)
    if json:
        changed = found[0].perspectives[found[0].perspectives["change"] != ""]
        rows = {"measures": table, "questions": questions, "perspectives": changed}
        print_json({name: _records(frame) for name, frame in rows.items()})
        return
    _print_table(table)
    if any(c.withheld for c in found):
        names = ", ".join(str(c.measure) for c in found if c.withheld)
        note(f"No value by {names}: {found[0].withheld or next(c.withheld for c in found if c.withheld)}.")
    _say_questions(found[0])


def _side(written: str, workspace: Path | None) -> "Run":
    from berdseye.data.runs.stored import load_run
    from berdseye.evaluation.scores.versions import under_version

    held = opened(workspace)
    name, _, version = written.partition(":")
    return under_version(held, load_run(held, name), version) if version else load_run(held, name)


def _say_questions(found: "Contrast") -> None:
    """A line for each question that differs or is missing, and for each perspective that was lost or gained."""
    for q in _records(found.questions):
        if q["outcome"] != "tie":
            told = "" if q["difference"] != q["difference"] else f"{q['first']:.4f}\t{q['second']:.4f}"
            print("\t".join(part for part in (q["outcome"], q["question_id"], told, q["question"]) if part))
    for p in _records(found.perspectives):
        if p["change"]:
            print(f"{p['change']}\t{p['question_id']}\tP{p['place']} at k={found.k}\t{p['perspective']}")


def _print_table(frame: "pd.DataFrame") -> None:
    print("\t".join(frame.columns))
    for row in frame.itertuples(index=False):
        print("\t".join(f"{v:.4f}" if isinstance(v, float) else str(v) for v in row))


def _records(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Rows as plain Python, for JSON."""
    return [
        {str(name): value.item() if hasattr(value, "item") else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]
