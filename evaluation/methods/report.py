"""The methods report: what a paper must state about its annotation and evaluation, from the workspace alone."""

from collections.abc import Sequence
from importlib.metadata import version

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.errors import UnknownNameError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.sources import LabelSource
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.methods.annotation import annotation_section
from berdseye.evaluation.methods.evaluated import evaluation_section
from berdseye.evaluation.methods.wording import MethodsReport
from berdseye.evaluation.statistics.significance import CORRECTIONS, TESTS, Test


def methods_report(
    workspace: Workspace,
    judgments: Judgments,
    source: LabelSource,
    measures: Sequence[Measure],
    *,
    test: Test = "randomisation",
    correction: str = "holm",
) -> MethodsReport:
    """Return the paragraphs and the table about all judgments of people and all stored runs.

    The workspace does not record by which source, measures and test a leaderboard was read: they are the choices given, by
    default those of the Runs page. Studies state their own. Simulated annotators are left out, no detector is run, and what the
    workspace does not hold is not mentioned. Raises `UnknownNameError` for an unknown test or correction.
    """
    if test not in TESTS:
        raise UnknownNameError("test", test, TESTS)
    if correction not in CORRECTIONS:
        raise UnknownNameError("correction", correction, CORRECTIONS)
    annotation = annotation_section(judgments)
    evaluation = evaluation_section(workspace, judgments, source, measures, test, correction)
    evaluation.say(f"All figures were computed with Berdseye {version('berdseye')}.")
    evaluation.fact("Berdseye", version("berdseye"))
    return MethodsReport((annotation, evaluation))
