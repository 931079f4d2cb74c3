"""`study compare`, `study curves` and `study corrected`: systems against each other, by k, and by whose labels."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from berdseye.app.commands.studies.options import SeedOption, study_of_runs

if TYPE_CHECKING:
    from berdseye.evaluation.studies.gathering import Gatherer, Selection
    from berdseye.evaluation.studies.result import StudyResult

Test = Literal["t", "randomisation", "bootstrap"]
Correction = Literal["holm", "bonferroni", "fdr_bh", "none"]


def register(group: typer.Typer) -> None:
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
