"""`study compare`, `study curves` and `study corrected`: systems against each other, by k, and by whose labels.

`study decision`: how many judgments the order by value saves, simulated on gold labels.

`study trust`: how trustworthy is the ranking of one's own systems, given the judgments so far?
"""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from berdseye.app.commands.console import counting
from berdseye.app.commands.options import MinJudgedOption, WorkspaceOption, chosen_detector, opened
from berdseye.app.commands.studies.options import Form, FormOption, SeedOption, finish, stored_runs, study_of_runs

if TYPE_CHECKING:
    from berdseye.evaluation.studies.gathering import Gatherer, Selection
    from berdseye.evaluation.studies.result import StudyResult


Test = Literal["t", "randomisation", "bootstrap"]
Correction = Literal["holm", "bonferroni", "fdr_bh", "none"]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    register_comparing(group)
    register_decision(group)
    register_trust(group)


def register_comparing(group: typer.Typer) -> None:
    """Add the commands."""
    for command in (compare, curves, corrected):
        group.command()(command)


@study_of_runs("compare")
def compare(
    gatherer: "Gatherer",
    selection: "Selection",
    measure: Annotated[str, typer.Option(help="What is compared.")] = "MRecall@5",
    test: Annotated[Test, typer.Option(help="The paired test.")] = "randomisation",
    correction: Annotated[Correction, typer.Option(help="For the number of comparisons.")] = "holm",
    seed: SeedOption = 0,
) -> "StudyResult":
    """Compare every two systems on the same questions, corrected for the number of comparisons.

    With corrected labels the differences of corrected means are tested.

    Example: `berdseye study compare --measure Precision@5 --test t`
    """
    from berdseye.evaluation.studies.comparing import comparisons

    return comparisons(gatherer, selection, measure, test=test, correction=correction, seed=seed)


@study_of_runs("curves")
def curves(
    gatherer: "Gatherer",
    selection: "Selection",
    measure: Annotated[str, typer.Option(help="The measure, without its k.")] = "MRecall",
    deepest: Annotated[int, typer.Option(min=1, max=100, help="The largest k.")] = 20,
) -> "StudyResult":
    """Draw a measure against k.

    Example: `berdseye study curves --measure Coverage --deepest 50`
    """
    from berdseye.evaluation.studies.comparing import k_curves

    return k_curves(gatherer, selection, measure, deepest=deepest)


@study_of_runs("corrected")
def corrected(
    gatherer: "Gatherer",
    selection: "Selection",
    measures: Annotated[str, typer.Option(help="Measures, separated by spaces.")] = "MRecall@5 Precision@5",
) -> "StudyResult":
    """Set side by side what the detector says, what people say, and the detector corrected by people.

    Example: `berdseye study corrected --dataset kialo`
    """
    from berdseye.evaluation.studies.comparing import correction

    return correction(gatherer, selection, measures.split())


def register_decision(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(decision)


def decision(
    dataset: Annotated[str, typer.Option(help="The data set whose stored runs are compared; it needs gold labels.")],
    corpus: Annotated[str, typer.Option(help="The corpus of the runs.")],
    pipeline: Annotated[
        list[str] | None, typer.Option(help="One of the systems; may be given again. Else all that have a run.")
    ] = None,
    measure: Annotated[str, typer.Option(help="MRecall@k, Precision@k or Coverage@k.")] = "MRecall@5",
    detector: Annotated[
        str | None, typer.Option(help="Whose probabilities one starts from; else the adopted one.")
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Each of two systems and some questions, drawn at random.")] = 100,
    questions: Annotated[int, typer.Option(min=2, help="Questions a trial.")] = 50,
    seed: SeedOption = 0,
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """How many judgments settle which of two systems is better, in the order of `batch create --decide` and in others.

    Gold labels stand in for people. All orders stop by one rule; the table says how many judgments each took, what that saves
    against pairs at random, how often the answer was wrong, and whether it took as many as foretold.

    Example: `berdseye study decision --dataset debate --corpus web --measure Precision@5 --trials 50`
    """
    from berdseye.evaluation.measures import parse_measure
    from berdseye.evaluation.studies.decision import decision_study

    held = opened(workspace)
    runs = stored_runs(held, dataset, corpus, pipeline)
    with counting("decision") as progress:
        result = decision_study(
            held,
            runs,
            chosen_detector(detector, workspace),
            parse_measure(measure),
            trials=trials,
            questions=questions,
            seed=seed,
            progress=progress,
        )
    finish(held, result, form)


def register_trust(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(trust)


def trust(
    dataset: Annotated[str, typer.Option(help="The data set whose stored runs are compared.")],
    corpus: Annotated[str, typer.Option(help="The corpus of the runs.")],
    pipeline: Annotated[
        list[str] | None, typer.Option(help="One of the systems; may be given again. Else all that have a run.")
    ] = None,
    measure: Annotated[str, typer.Option(help="MRecall@k, Precision@k or Coverage@k.")] = "MRecall@5",
    labels: Annotated[
        str | None, typer.Option(help="human, gold, a detector, human>embedded; else people over the adopted detector.")
    ] = None,
    detector: Annotated[
        str | None,
        typer.Option(help="Whose probabilities stand for labels that nobody settled; else that of the labels."),
    ] = None,
    draws: Annotated[int, typer.Option(min=100, help="Draws of the labels.")] = 1000,
    seed: SeedOption = 0,
    min_judged: MinJudgedOption = None,
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """Which systems can be told apart, how likely their order is wrong, what would settle it, and what would turn it.

    For every two systems: paired tests with Holm's correction, the chance of a wrong order from questions and from labels, how
    many more judgments would settle it, and the flip margin: the fewest label changes that swap the two, each listed.

    Example: `berdseye study trust --dataset debate --corpus web --measure Precision@5 --labels "human>embedded"`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.detectors.detector_registry import parse_detector
    from berdseye.detectors.trained import adopted_detector
    from berdseye.evaluation.labels.sources import HUMAN, parse_label_source
    from berdseye.evaluation.measures import parse_measure
    from berdseye.evaluation.studies.trust import trust_study

    held = opened(workspace)
    parsed = parse_measure(measure)
    source = parse_label_source(labels or f"{HUMAN}>{adopted_detector(held)}")
    runs = stored_runs(held, dataset, corpus, pipeline)
    judging = (
        parse_detector(detector, held)
        if detector
        else source.detector(held) or parse_detector(adopted_detector(held), held)
    )
    with counting("trust") as progress:
        result = trust_study(
            held,
            Judgments.open(held.judgments_url),
            runs,
            source,
            judging,
            parsed,
            draws=draws,
            seed=seed,
            min_judged=min_judged,
            progress=progress,
        )
    finish(held, result, form)
