"""Studies of runs: the options that they share, and the opening of the runs that these name."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from berdseye.data.progress import Progress
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.by_name.options import MinJudged, Names, UnjudgedRule

if TYPE_CHECKING:
    from berdseye.evaluation.studies.result import StudyResult


def of_runs(study: "Callable[..., StudyResult]") -> "Callable[..., StudyResult]":
    """A decorator that makes a study by name from a function of a `Gatherer`, a `Selection` and the study's own options.

    The study also takes the data sets, corpora, pipelines and labels of the runs; missing runs are created.
    """

    def by_name(
        workspace: Workspace,
        progress: Progress,
        *,
        dataset: Names = None,
        corpus: Names = None,
        pipeline: Names = None,
        labels: str | None = None,
        min_judged: MinJudged = None,
        unjudged: UnjudgedRule = None,
        **own: object,
    ) -> "StudyResult":
        from berdseye.annotation.judgments.log import Judgments
        from berdseye.evaluation.labels.sources import default_source, parse_label_source
        from berdseye.evaluation.studies.gathering import Gatherer, Selection, checked

        selection = checked(workspace, Selection(tuple(dataset or ()), tuple(corpus or ()), tuple(pipeline or ())))
        source = parse_label_source(labels or default_source(workspace))
        judgments = Judgments.open(workspace.judgments_url)
        gatherer = Gatherer(workspace, judgments, source, progress, min_judged, unjudged)
        result = study(gatherer, selection, **own)
        noted = replace(result, notes=(*result.notes, *gatherer.cautions()))
        return noted.scored_with(gatherer.floor, gatherer.rule)

    shared, own_options = inspect.signature(by_name), inspect.signature(study)
    parameters = [*list(shared.parameters.values())[:-1], *list(own_options.parameters.values())[2:]]
    by_name.__name__, by_name.__doc__ = study.__name__, study.__doc__
    by_name.__dict__["__signature__"] = shared.replace(parameters=parameters)
    return by_name
