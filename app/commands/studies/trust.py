"""`study trust`: how trustworthy is the ranking of one's own systems, given the judgments so far?"""

from typing import Annotated

import typer

from berdseye.app.commands.options import MinJudgedOption, WorkspaceOption, opened
from berdseye.app.commands.studies.options import SeedOption, stored_runs
from berdseye.app.commands.studies.results import Form, FormOption, finish
from berdseye.app.console import counting


def register(group: typer.Typer) -> None:
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
    from berdseye.annotation.judgments import Judgments
    from berdseye.detectors.registry import parse_detector
    from berdseye.detectors.trained import adopted_detector
    from berdseye.evaluation.label_sources import HUMAN, parse_label_source
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
