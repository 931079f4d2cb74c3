"""`agreement`: every statistic of agreement of a table, or of the workspace's judgments."""

import sys
import zipfile
import zlib
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.commands.arguments import not_with
from berdseye.app.commands.console import note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened
from berdseye.data.errors import BadInputError
from berdseye.data.files.atomic import make_folder
from berdseye.data.files.given_paths import regular_file

if TYPE_CHECKING:
    import pandas as pd

    from berdseye.evaluation.agreement.report import AgreementReport


class Unsure(StrEnum):
    """What 'unsure' counts as."""

    LEFT_OUT = "left out"
    THIRD = "a third label"
    AGAINST = "does not support"


class Skipped(StrEnum):
    """What a skipped pair counts as."""

    LEFT_OUT = "left out"
    UNSURE = "unsure"


class Duplicates(StrEnum):
    """What a second label of one person on one item is."""

    REFUSE = "refuse"
    LAST = "last"


class Every(StrEnum):
    """The periods of agreement over time."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class Reference(StrEnum):
    """What detectors and people are scored against."""

    ANOTHER = "another person"
    MAJORITY = "majority"
    ADJUDICATED = "adjudicated"


class AgreementTable(StrEnum):
    """The tables there are."""

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
        Path | None, typer.Argument(help="CSV with columns item, annotator, label; else the workspace.")
    ] = None,
    detector: Annotated[
        str | None, typer.Option(help="Without a file: the detector to set beside people; else the adopted one.")
    ] = None,
    unsure: Annotated[Unsure, typer.Option(help="What 'unsure' counts as.")] = Unsure.LEFT_OUT,
    skipped: Annotated[Skipped, typer.Option(help="What a skipped pair counts as.")] = Skipped.LEFT_OUT,
    duplicates: Annotated[
        Duplicates, typer.Option(help="A second label of one person on one item: an error, or the later one counts.")
    ] = Duplicates.REFUSE,
    every: Annotated[Every, typer.Option(help="The periods of agreement over time.")] = Every.WEEK,
    reference: Annotated[
        Reference, typer.Option(help="What detectors and people are scored against.")
    ] = Reference.ANOTHER,
    positive: Annotated[str | None, typer.Option(help="The label of positive agreement; else 'supports'.")] = None,
    over_questions: Annotated[
        bool, typer.Option("--over-questions", help="Draw whole questions, not pairs, for every bootstrap.")
    ] = False,
    no_demo: Annotated[bool, typer.Option("--no-demo", help="Without the made-up annotators of the demo.")] = False,
    part: Annotated[AgreementTable | None, typer.Option(help="One table alone.", show_choices=True)] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print one table as CSV.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print one table as LaTeX.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            file_okay=False, writable=True, help="A folder for every table as CSV, Parquet and LaTeX, and report.html."
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Agreement of people, and of a detector with them: coefficients with 95% intervals, each two raters, slices, stances, time.

    Items are aligned by their id. An empty label is a label that was not given. A file may have the columns at, guidelines,
    question_id, dataset, corpus and stance too, and of an experiment arm (blind, shown) and decision (the detector's label); a
    rater whose name begins with 'detector ' is a detector. With --csv or --latex the table of everyone together is printed, or
    the one of --part.

    Example: `berdseye agreement labels.csv --json`
    """
    from berdseye.evaluation.agreement.alignment import Rule
    from berdseye.evaluation.agreement.report import Choices, report

    if csv + latex + json > 1:
        raise BadInputError("One of --csv, --latex and --json at a time.", hint="Choose one.")
    not_with("FILE", file is not None, "detector", "no_demo", why="which has people and detectors of its own")
    rule = Rule(unsure.value, skipped.value)
    choices = Choices(rule, duplicates.value, every.value, reference.value, positive, over_questions)
    if out is not None:
        make_folder(out)  # one that cannot be made is reported before the work
    labels, gold = (_read(file), {}) if file is not None else _stored(workspace, detector, demo=not no_demo)
    found = report(labels, choices, gold)
    note(found.said)
    if out is not None:
        from berdseye.evaluation.agreement.exports import write_report

        note(f"{len(write_report(found, out))} files in {out}")
    _print(found, part, csv=csv, latex=latex, json=json)


def _read(file: Path) -> "pd.DataFrame":
    import pandas as pd

    try:
        labels = pd.read_csv(regular_file(file), dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (OSError, ValueError, EOFError, zlib.error, zipfile.BadZipFile) as error:  # some endings are decompressed
        said = str(error).strip().rstrip(".")
        raise BadInputError(f"Cannot be read as CSV: {said}.", where=file, hint="Save it as UTF-8 CSV.") from error
    if "label" in labels.columns and (empty := int((labels["label"] == "").sum())):
        note(f"{empty} rows have no label and are left out")
        labels = labels[labels["label"] != ""]
    return labels


def _stored(workspace: Path | None, detector: str | None, *, demo: bool) -> "tuple[pd.DataFrame, dict[str, bool]]":
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.detectors.detector_registry import parse_detector
    from berdseye.detectors.trained import adopted_detector
    from berdseye.evaluation.agreement.labels import adjudicated, agreement_labels

    held = opened(workspace)
    chosen = parse_detector(detector or adopted_detector(held), held)
    judgments = Judgments.open(held.judgments_url)
    return agreement_labels(held, judgments, chosen, demo=demo), adjudicated(judgments)


def _print(found: "AgreementReport", part: AgreementTable | None, *, csv: bool, latex: bool, json: bool) -> None:
    from berdseye.data.files.tables import to_csv
    from berdseye.evaluation.agreement.exports import TITLES, shown, to_latex

    one = found.parts[part or AgreementTable.TOGETHER]
    if csv:
        sys.stdout.write(to_csv(one).decode("utf-8"))
    elif latex:
        print(to_latex(one, TITLES[part or AgreementTable.TOGETHER]))
    elif json and part is not None:
        print_json(one.to_dict("records"))
    elif json:
        brief = found.agreement
        figures = {
            name: getattr(brief, name) for name in ("fleiss_kappa", "krippendorff_alpha", "n_items", "n_complete")
        }
        print_json(
            {"pairs": [p._asdict() for p in brief.pairs], **figures, "said": found.said}
            | {name: table.to_dict("records") for name, table in found.parts.items() if name != "pairs"}
        )
    else:
        for name, table in found.parts.items():
            if len(table) and part in (None, name) and (part or name != "matrix"):
                print(f"{TITLES[name]}\n{shown(table).to_string(index=False)}\n")
