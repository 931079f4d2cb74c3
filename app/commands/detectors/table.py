"""`detector table`: detectors side by side, in the layout of BERDS."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from berdseye.app.commands.options import JsonOption, WorkspaceOption, chosen_detector
from berdseye.app.console import counting, note, print_json


class Part(StrEnum):
    """The tables there are."""

    DETECTION = "detection"
    SLICES = "slices"
    DOMAINS = "domains"
    AGREEMENT = "agreement"


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(table)


def table(
    files: Annotated[list[Path], typer.Argument(help="Labelled pairs, as for `detector score`.")],
    detector: Annotated[list[str], typer.Option(help="A detector; may be given again.")],
    tuned: Annotated[bool, typer.Option("--tuned", help="Choose thresholds on the rows of split dev.")] = False,
    part: Annotated[Part | None, typer.Option(help="One table alone.", show_choices=True)] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print one table as CSV.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print one table as LaTeX.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Set detectors side by side with the published ones: figures, slices, domains, and agreement, in percent.

    Of files with a column split only the rows of split test are used. Slices are by dataset, corpus and stance, where the files
    have these columns, and by length. With --csv or --latex the first table is printed, or the one of --part.

    Example: `berdseye detector table pairs.tsv --detector embedded --detector "similarity(static)" --csv`
    """
    from berdseye.annotation.export import to_csv
    from berdseye.data.errors import BadInputError
    from berdseye.evaluation.detection.readable import readable
    from berdseye.evaluation.detection.tables import detection_report

    if csv + latex + json > 1:
        raise BadInputError("One of --csv, --latex and --json at a time.", hint="Choose one.")
    chosen = list({found.name: found for found in (chosen_detector(name, workspace) for name in detector)}.values())
    with counting("detectors") as progress:
        report = detection_report(chosen, files, tuned=tuned, progress=progress)
    note(f"On {report.rows}.")
    one = report.parts[part or Part.DETECTION]
    if csv:
        sys.stdout.write(to_csv(one).decode("utf-8"))
    elif latex:
        print(readable(one).rename(columns=lambda name: name.replace("_", " ")).to_latex(index=False, escape=True))
    elif json:
        wanted = report.parts if part is None else {str(part): one}
        print_json(
            {"rows": report.rows, "unit": "percent"} | {name: held.to_dict("records") for name, held in wanted.items()}
        )
    else:
        for name, held in report.parts.items():
            if len(held) and part in (None, name):
                print(f"{name}\n{readable(held).to_string(index=False)}\n")
