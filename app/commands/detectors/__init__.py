"""`detector`: which detectors there are, how good each is, and how one gets better."""

import typer

detector = typer.Typer(no_args_is_help=True, help="Measure, tune, train and adopt detectors.")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    from berdseye.app.commands.detectors import (
        contrast,
        improve,
        keeping,
        learning_curve,
        score,
        table,
        throughput,
        train,
        tune,
    )

    for command in (keeping, train, improve, score, tune, table, contrast, throughput, learning_curve):
        command.register(detector)
    cli.add_typer(detector, name="detector")
