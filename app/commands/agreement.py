"""`berdseye agreement`: every agreement statistic of a table of labels, or of the workspace's judgments."""

import sys
import zipfile
import zlib
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.commands.console import note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.data.errors import BadInputError
from berdseye.data.files.atomic import make_folder
from berdseye.data.files.given_paths import regular_file
from berdseye.data.given_options import not_with
from berdseye.data.texts.counts import counted

if TYPE_CHECKING:
    import pandas as pd

    from berdseye.evaluation.agreement.report import AgreementReport, Choices
    from berdseye.evaluation.agreement.report_input import ReportInput


class Unsure(StrEnum):
    """How 'unsure' verdicts count."""

    LEFT_OUT = "left out"
    THIRD = "a third label"
    AGAINST = "does not support"


class Skipped(StrEnum):
    """How skipped pairs count."""

    LEFT_OUT = "left out"
    UNSURE = "unsure"


class Duplicates(StrEnum):
    """How a second label by one rater for one item is handled."""

    REFUSE = "refuse"
    LAST = "last"


class Every(StrEnum):
    """The periods in which agreement over time is reported."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class Reference(StrEnum):
    """What detectors and annotators are scored against."""

    ANOTHER = "another person"
    MAJORITY = "majority"
    ADJUDICATED = "adjudicated"


class AgreementTable(StrEnum):
    """The tables of the report."""

    TOGETHER = "together"
    PAIRS = "pairs"
    MATRIX = "matrix"
    SLICES = "slices"
    TIME = "time"
    GUIDELINES = "guidelines"
    STANCE = "stance"
    DETECTION = "detection"
    DETECTION_SLICES = "detection_slices"
    ANCHORING = "anchoring"


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command("agreement")(command)


def command(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A CSV file with the columns item, annotator and label. Default: the workspace's judgments."
        ),
    ] = None,
    detector: Annotated[
        str | None,
        typer.Option(help="Without FILE: the detector to compare with the annotators. Default: the adopted one."),
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(help="Without FILE: only the pairs of this batch, or the checks of a batch of checks."),
    ] = None,
    unsure: Annotated[Unsure, typer.Option(help="How 'unsure' verdicts count.")] = Unsure.LEFT_OUT,
    skipped: Annotated[Skipped, typer.Option(help="How skipped pairs count.")] = Skipped.LEFT_OUT,
    duplicates: Annotated[
        Duplicates,
        typer.Option(help="A second label by one rater for one item: refuse it as an error, or count the last one."),
    ] = Duplicates.REFUSE,
    every: Annotated[Every, typer.Option(help="The periods in which agreement over time is reported.")] = Every.WEEK,
    reference: Annotated[
        Reference, typer.Option(help="What detectors and annotators are scored against.")
    ] = Reference.ANOTHER,
    positive: Annotated[
        str | None, typer.Option(help="The label whose positive agreement is reported. Default: 'supports'.")
    ] = None,
    over_questions: Annotated[
        bool,
        typer.Option(
            "--over-questions",
            help="Resample whole questions in every bootstrap, and for the intervals of Fleiss' kappa and alpha.",
        ),
    ] = False,
    no_demo: Annotated[bool, typer.Option("--no-demo", help="Exclude the simulated annotators of the demo.")] = False,
    part: Annotated[AgreementTable | None, typer.Option(help="Print only this table.", show_choices=True)] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print one table as CSV.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print one table as LaTeX.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            file_okay=False,
            writable=True,
            help="A folder to write every table to as CSV, Parquet and LaTeX, with report.html.",
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Report the agreement of annotators, and of a detector with them.

    The report has coefficients with 95% intervals for all raters and for each two raters, by slice, by stance and over time.

    Items are aligned by their id. An empty label counts as missing. A file may also have the columns at, guidelines,
    question_id, dataset, corpus and stance, and, for an experiment, arm (blind, shown) and decision (the detector's label). A
    rater whose name begins with 'detector ' is a detector. --csv and --latex print the table of all raters together, or the
    table named by --part.

    With --batch, the report is on the pairs of a batch. For a batch of checks, the summary also states the figure of the paper.

    Example: `berdseye agreement labels.csv --json`
    """
    from berdseye.evaluation.agreement.alignment import Rule
    from berdseye.evaluation.agreement.report import Choices, report

    if csv + latex + json > 1:
        raise BadInputError("--csv, --latex and --json exclude one another.", hint="Give one of them.")
    not_with("FILE", file is not None, "detector", "batch", "no_demo", why="which has its own annotators and detectors")
    rule = Rule(unsure.value, skipped.value)
    choices = Choices(rule, duplicates.value, every.value, reference.value, positive, over_questions)
    if out is not None:
        make_folder(out)  # report a folder that cannot be created before the work starts
    if file is not None:
        result = report(_read(file), choices)
    else:
        result = report(*_stored(workspace, detector, batch, choices, demo=not no_demo))
    note(result.summary)
    if out is not None:
        from berdseye.evaluation.agreement.exports import write_report

        note(f"{counted(len(write_report(result, out)), 'file')} in {out}")
    _print(result, part, csv=csv, latex=latex, json=json)


def _read(file: Path) -> "pd.DataFrame":
    import pandas as pd

    try:
        labels = pd.read_csv(regular_file(file), dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (
        OSError,
        ValueError,
        EOFError,
        zlib.error,
        zipfile.BadZipFile,
    ) as error:  # pandas decompresses some file endings
        cause = str(error).strip().rstrip(".")
        raise BadInputError(f"Cannot be read as CSV: {cause}.", where=file, hint="Save it as UTF-8 CSV.") from error
    if "label" in labels.columns and (empty := int((labels["label"] == "").sum())):
        note(f"{empty} rows without a label are omitted")
        labels = labels[labels["label"] != ""]
    return labels


def _stored(
    workspace: Path | None, detector: str | None, batch: str | None, choices: "Choices", *, demo: bool
) -> "ReportInput":
    from berdseye.annotation.batches.stored import load_batch
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.detectors.detector_registry import parse_detector
    from berdseye.detectors.trained import adopted_detector
    from berdseye.evaluation.agreement.report_input import report_input

    ws = open_workspace(workspace)
    chosen = parse_detector(detector or adopted_detector(ws), ws)
    judgments = Judgments.open(ws.judgments_url)
    among = None if batch is None else load_batch(judgments, batch)
    return report_input(ws, judgments, chosen, choices, batch=among, demo=demo)


def _print(result: "AgreementReport", part: AgreementTable | None, *, csv: bool, latex: bool, json: bool) -> None:
    from berdseye.data.files.tables import to_csv
    from berdseye.evaluation.agreement.exports import TITLES, shown, to_latex

    table = result.parts[part or AgreementTable.TOGETHER]
    if csv:
        sys.stdout.write(to_csv(table).decode("utf-8"))
    elif latex:
        print(to_latex(table, TITLES[part or AgreementTable.TOGETHER]))
    elif json and part is not None:
        print_json(table.to_dict("records"))
    elif json:
        summary = result.agreement
        figures = {
            name: getattr(summary, name) for name in ("fleiss_kappa", "krippendorff_alpha", "n_items", "n_complete")
        }
        print_json(
            {"pairs": [p._asdict() for p in summary.pairs], **figures, "summary": result.summary}
            | {name: part_table.to_dict("records") for name, part_table in result.parts.items() if name != "pairs"}
        )
    else:
        for name, part_table in result.parts.items():
            if len(part_table) and part in (None, name) and (part or name != "matrix"):
                print(f"{TITLES[name]}\n{shown(part_table).to_string(index=False)}\n")
