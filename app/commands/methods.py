"""`berdseye report`: texts for papers."""

from enum import StrEnum
from typing import Annotated

import typer

from berdseye.app.commands.console import print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.app.commands.studies.options import LabelsOption
from berdseye.data.errors import BadInputError
from berdseye.evaluation.studies.by_name.comparing import Correction, Test

report = typer.Typer(no_args_is_help=True, help="Write what a paper must state about its annotation and evaluation.")


class TextForm(StrEnum):
    """The forms of the text."""

    MARKDOWN = "markdown"
    LATEX = "latex"


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(report, name="report")


@report.command()
def methods(
    labels: LabelsOption = None,
    measures: Annotated[
        str | None, typer.Option(help="The measures, separated by spaces. Default: those of the Runs page.")
    ] = None,
    test: Annotated[Test, typer.Option(help="The paired test of differences between systems.")] = "randomisation",
    correction: Annotated[Correction, typer.Option(help="The correction for the number of comparisons.")] = "holm",
    form: Annotated[TextForm, typer.Option("--format", help="The form of the text.")] = TextForm.MARKDOWN,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Print the paragraphs and the table that a paper needs about its annotation and evaluation.

    They state who judged how much by which guidelines, how well people agree, which runs and measures, the label source with its
    detector and grade, and the tests, as far as the workspace holds them. Simulated annotators are left out.

    Example: `berdseye report methods --labels "human>embedded" --format latex`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.evaluation.labels.sources import default_source, parse_label_source
    from berdseye.evaluation.measures import DEFAULT_MEASURES, parse_measures
    from berdseye.evaluation.methods.report import methods_report

    if json and form is not TextForm.MARKDOWN:
        raise BadInputError("--json and --format exclude one another.", hint="Give one of them.")
    ws = open_workspace(workspace)
    found = methods_report(
        ws,
        Judgments.open(ws.judgments_url),
        parse_label_source(labels or default_source(ws)),
        parse_measures(measures or " ".join(DEFAULT_MEASURES)),
        test=test,
        correction=correction,
    )
    if json:
        print_json([fact._asdict() for fact in found.facts])
        return
    print(found.latex() if form is TextForm.LATEX else found.markdown(), end="")
