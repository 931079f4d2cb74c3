"""`detector`: which detectors there are, how good each is, and how one gets better."""

import typer

detector = typer.Typer(no_args_is_help=True, help="Measure, tune, train and adopt detectors.")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    from berdseye.app.commands.detectors import measuring, training

    for command in (training, measuring):
        command.register(detector)
    cli.add_typer(detector, name="detector")
