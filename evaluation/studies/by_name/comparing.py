"""Comparisons of systems by name, and how certain their order is."""

from typing import TYPE_CHECKING, Annotated, Literal

from berdseye.data.progress import Progress
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.by_name.of_runs import of_runs
from berdseye.evaluation.studies.by_name.options import Between, MinJudged, Names, Seed, UnjudgedRule

if TYPE_CHECKING:
    from berdseye.evaluation.studies.gathering import Gatherer, Selection
    from berdseye.evaluation.studies.result import StudyResult

Test = Literal["t", "randomisation", "bootstrap"]
Correction = Literal["holm", "bonferroni", "fdr_bh", "none"]


@of_runs
def compare(
    gatherer: "Gatherer",
    selection: "Selection",
    *,
    measure: str = "MRecall@5",
    test: Test = "randomisation",
    correction: Correction = "holm",
    seed: Seed = 0,
) -> "StudyResult":
    """Compare every two systems by a measure."""
    from berdseye.evaluation.studies.comparing import comparisons

    return comparisons(gatherer, selection, measure, test=test, correction=correction, seed=seed)


@of_runs
def curves(
    gatherer: "Gatherer",
    selection: "Selection",
    *,
    measure: str = "MRecall",
    deepest: Annotated[int, Between(1, 100)] = 20,
) -> "StudyResult":
    """Draw a measure, named without its k, against k."""
    from berdseye.evaluation.studies.comparing import k_curves

    return k_curves(gatherer, selection, measure, deepest=deepest)


@of_runs
def corrected(
    gatherer: "Gatherer", selection: "Selection", *, measures: str = "MRecall@5 Precision@5"
) -> "StudyResult":
    """Compare measures by the detector, by people, and by the detector corrected by people."""
    from berdseye.evaluation.studies.comparing import correction

    return correction(gatherer, selection, measures.split())


def decision(
    workspace: Workspace,
    progress: Progress,
    *,
    dataset: str,
    corpus: str,
    pipeline: Names = None,
    measure: str = "MRecall@5",
    detector: str | None = None,
    trials: Annotated[int, Between(1)] = 100,
    questions: Annotated[int, Between(2)] = 50,
    seed: Seed = 0,
) -> "StudyResult":
    """Simulate orders of judging on gold labels."""
    from berdseye.detectors.detector_registry import parse_detector
    from berdseye.detectors.trained import adopted_detector
    from berdseye.evaluation.measures import parse_measure
    from berdseye.evaluation.studies.decision import decision_study
    from berdseye.evaluation.studies.gathering import stored_runs

    return decision_study(
        workspace,
        stored_runs(workspace, dataset, corpus, pipeline),
        parse_detector(detector or adopted_detector(workspace), workspace),
        parse_measure(measure),
        trials=trials,
        questions=questions,
        seed=seed,
        progress=progress,
    )


def rankings(
    workspace: Workspace,
    progress: Progress,
    *,
    dataset: str,
    corpus: str,
    pipeline: Names = None,
    measure: str = "MRecall@5",
    labels: Names = None,
    min_judged: MinJudged = None,
) -> "StudyResult":
    """Rank the same runs under several label sources, and list the systems that swap places."""
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.evaluation.labels.sources import parse_label_source
    from berdseye.evaluation.measures import parse_measure
    from berdseye.evaluation.studies.gathering import stored_runs
    from berdseye.evaluation.studies.rankings import judging_sources, rankings_study

    judgments = Judgments.open(workspace.judgments_url)
    parsed = parse_measure(measure)
    sources = dict.fromkeys(map(parse_label_source, labels or judging_sources(workspace, judgments)))
    return rankings_study(
        workspace,
        judgments,
        stored_runs(workspace, dataset, corpus, pipeline),
        list(sources),
        parsed,
        min_judged=min_judged,
        progress=progress,
    )


def trust(
    workspace: Workspace,
    progress: Progress,
    *,
    dataset: str,
    corpus: str,
    pipeline: Names = None,
    measure: str = "MRecall@5",
    labels: str | None = None,
    detector: str | None = None,
    draws: Annotated[int, Between(100)] = 1000,
    seed: Seed = 0,
    min_judged: MinJudged = None,
    unjudged: UnjudgedRule = None,
) -> "StudyResult":
    """Compute how likely the order of systems is wrong. The default detector is that of the labels."""
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.detectors.detector_registry import parse_detector
    from berdseye.detectors.trained import adopted_detector
    from berdseye.evaluation.labels.sources import HUMAN, parse_label_source
    from berdseye.evaluation.measures import parse_measure
    from berdseye.evaluation.studies.gathering import stored_runs
    from berdseye.evaluation.studies.trust import trust_study

    parsed = parse_measure(measure)
    source = parse_label_source(labels or f"{HUMAN}>{adopted_detector(workspace)}")
    runs = stored_runs(workspace, dataset, corpus, pipeline)
    of_labels = None if detector else source.detector(workspace)
    return trust_study(
        workspace,
        Judgments.open(workspace.judgments_url),
        runs,
        source,
        of_labels or parse_detector(detector or adopted_detector(workspace), workspace),
        parsed,
        draws=draws,
        seed=seed,
        min_judged=min_judged,
        unjudged=unjudged,
        progress=progress,
    )
