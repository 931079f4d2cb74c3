"""`berdseye power`: how many questions, pairs and people a study needs."""

from typing import Annotated

import typer

power = typer.Typer(no_args_is_help=True, help="Compute how many questions, pairs and people a study needs.")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(power, name="power")


@power.command()
def questions(
    difference: Annotated[float, typer.Option(help="The mean difference of two runs that the test must find.")],
    deviation: Annotated[float, typer.Option(help="The standard deviation of the differences by question.")],
    chance: Annotated[float, typer.Option("--power", help="The power of the test: the chance to find it.")] = 0.8,
    alpha: Annotated[float, typer.Option(help="The level of the two-sided test.")] = 0.05,
) -> None:
    """Print how many questions a paired t-test of two runs needs.

    Example: `berdseye power questions --difference 0.05 --deviation 0.2`
    """
    from berdseye.evaluation.statistics.power import questions_for_difference

    print(questions_for_difference(difference, deviation, power=chance, alpha=alpha))


@power.command()
def pairs(
    kappa: Annotated[float, typer.Option(help="The kappa that you expect.")],
    width: Annotated[float, typer.Option(help="The width of its interval, from end to end.")],
    positive: Annotated[float, typer.Option(help="The share of pairs that a person calls positive.")] = 0.5,
    confidence: Annotated[float, typer.Option(help="The confidence of the interval.")] = 0.95,
) -> None:
    """Print how many pairs two people must judge for an interval of kappa of a certain width.

    Example: `berdseye power pairs --kappa 0.6 --width 0.2 --positive 0.2`
    """
    from berdseye.evaluation.statistics.power import pairs_for_kappa

    print(pairs_for_kappa(kappa, positive, width, confidence=confidence))


@power.command()
def people(
    accuracy: Annotated[float, typer.Option(help="The chance that one person is right, above 0.5.")],
    wanted: Annotated[float, typer.Option(help="The chance that the majority must be right.")],
) -> None:
    """Print how many people must judge each pair, if they err independently.

    Example: `berdseye power people --accuracy 0.8 --wanted 0.95`
    """
    from berdseye.evaluation.statistics.power import people_for_accuracy

    print(people_for_accuracy(accuracy, wanted))
