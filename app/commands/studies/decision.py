"""`study decision`: how many judgments the order by value saves, simulated on gold labels."""

from typing import Annotated

import typer

from berdseye.app.commands.options import WorkspaceOption, chosen_detector, opened
from berdseye.app.commands.studies.options import SeedOption, stored_runs
from berdseye.app.commands.studies.results import Form, FormOption, finish
from berdseye.app.console import counting


def register(group: typer.Typer) -> None:
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
