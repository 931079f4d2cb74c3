"""`berdseye detector`: list, measure, tune, train and adopt detectors."""

import typer

detector = typer.Typer(no_args_is_help=True, help="List, measure, tune, train and adopt detectors.")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    from berdseye.app.commands.detectors import measuring, training

    for command in (training, measuring):
        command.register(detector)
    cli.add_typer(detector, name="detector")
