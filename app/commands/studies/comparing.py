"""`berdseye study compare | curves | corrected | decision | rankings | trust`: compare systems, and test how certain their order
is."""

from typing import Annotated

import typer

from berdseye.app.commands.options import MinJudgedOption
from berdseye.app.commands.studies.options import SeedOption, study_command
from berdseye.app.commands.unjudged_option import UnjudgedOption
from berdseye.evaluation.studies.by_name.comparing import Correction, Test

_CorpusOption = Annotated[str, typer.Option(help="The corpus of the runs.")]
_PipelineOption = Annotated[
    list[str] | None, typer.Option(help="The pipeline of a system; repeatable. Default: all pipelines with a run.")
]
_MeasureOption = Annotated[str, typer.Option(help="The measure: MRecall@k, Precision@k or Coverage@k.")]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    register_comparing(group)
    register_decision(group)
    register_rankings(group)
    register_trust(group)


def register_comparing(group: typer.Typer) -> None:
    """Add the commands."""
    for command in (compare, curves, corrected):
        group.command()(command)


@study_command("compare", of_runs=True)
def compare(
    measure: Annotated[str, typer.Option(help="The measure to compare.")] = "MRecall@5",
    test: Annotated[Test, typer.Option(help="The paired test.")] = "randomisation",
    correction: Annotated[Correction, typer.Option(help="The correction for the number of comparisons.")] = "holm",
    seed: SeedOption = 0,
) -> None:
    """Compare every two systems on shared questions, with a correction for the number of comparisons.

    With corrected labels, the test compares corrected means.

    Example: `berdseye study compare --measure Precision@5 --test t`
    """


@study_command("curves", of_runs=True)
def curves(
    measure: Annotated[str, typer.Option(help="The measure, without its k.")] = "MRecall",
    deepest: Annotated[int, typer.Option(min=1, max=100, help="The largest k.")] = 20,
) -> None:
    """Draw a measure against k.

    Example: `berdseye study curves --measure Coverage --deepest 50`
    """


@study_command("corrected", of_runs=True)
def corrected(
    measures: Annotated[str, typer.Option(help="Measures, separated by spaces.")] = "MRecall@5 Precision@5",
) -> None:
    """Compare measures by the detector's labels, by human labels, and by the detector corrected with human labels.

    `--labels "corrected(A,B)"` corrects several detectors together, and shows the weight of each.

    Example: `berdseye study corrected --dataset kialo`
    """


def register_decision(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(decision)


@study_command("decision")
def decision(
    dataset: Annotated[str, typer.Option(help="The data set whose stored runs are compared; it needs gold labels.")],
    corpus: _CorpusOption,
    pipeline: _PipelineOption = None,
    measure: _MeasureOption = "MRecall@5",
    detector: Annotated[
        str | None, typer.Option(help="The detector that provides the initial probabilities. Default: the adopted one.")
    ] = None,
    trials: Annotated[
        int, typer.Option(min=1, help="Number of trials, each with two systems and some questions drawn at random.")
    ] = 100,
    questions: Annotated[int, typer.Option(min=2, help="Number of questions per trial.")] = 50,
    seed: SeedOption = 0,
) -> None:
    """Simulate how many judgments settle which of two systems is better, drawn as by `batch create --decide` and at random.

    Gold labels replace annotators. All orders stop by the rule of these batches, applied after every draw. The table reports how
    many judgments each order took, the saving over draws at random without a detector, how often it was settled before all pairs
    were judged, how often the answer was wrong, and whether the predicted number of judgments was right.

    Example: `berdseye study decision --dataset debate --corpus web --measure Precision@5 --trials 50`
    """


def register_rankings(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(rankings)


@study_command("rankings")
def rankings(
    dataset: Annotated[str, typer.Option(help="The data set whose stored runs are ranked.")],
    corpus: _CorpusOption,
    pipeline: _PipelineOption = None,
    measure: Annotated[str, typer.Option(help="The measure to rank by.")] = "MRecall@5",
    labels: Annotated[
        list[str] | None,
        typer.Option(
            help="A label source to rank under; repeatable. Default: people, their consensus, gold labels and all detectors "
            "that are ready."
        ),
    ] = None,
    min_judged: MinJudgedOption = None,
) -> None:
    """Rank the same runs under several label sources, and report which systems swap places when the judge changes.

    For each source: the ranks, and the rank sets, which are the ranks that the questions allow with 95% confidence for all
    systems together. For every two sources: Kendall's tau, and the pairs of systems that swap. All values are over the same
    questions.

    Example: `berdseye study rankings --dataset debate --corpus web --measure Precision@5 --labels gold --labels embedded`
    """


def register_trust(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(trust)


@study_command("trust")
def trust(
    dataset: Annotated[str, typer.Option(help="The data set whose stored runs are compared.")],
    corpus: _CorpusOption,
    pipeline: _PipelineOption = None,
    measure: _MeasureOption = "MRecall@5",
    labels: Annotated[
        str | None,
        typer.Option(
            help="The label source: human, gold, a detector or human>embedded. Default: human>DETECTOR with the adopted detector."
        ),
    ] = None,
    detector: Annotated[
        str | None,
        typer.Option(
            help="The detector whose probabilities replace unsettled labels. Default: the detector of the labels."
        ),
    ] = None,
    draws: Annotated[int, typer.Option(min=100, help="Number of draws of the labels.")] = 1000,
    seed: SeedOption = 0,
    min_judged: MinJudgedOption = None,
    unjudged: UnjudgedOption = None,
) -> None:
    """Report which systems differ significantly, how likely their order is wrong, what would settle it, and what would flip it.

    For every two systems: paired tests with Holm's correction, the probability of a wrong order due to questions and due to
    labels, the number of further judgments that would settle the order, and the flip margin, which is the smallest set of label
    changes that swaps the two, with each change listed.

    Example: `berdseye study trust --dataset debate --corpus web --measure Precision@5 --labels "human>embedded"`
    """
