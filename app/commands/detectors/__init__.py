"""`berdseye detector`: list, measure, tune, train, adapt and adopt detectors."""

import typer

detector = typer.Typer(no_args_is_help=True, help="List, measure, tune, train and adopt detectors.")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    from berdseye.app.commands.detectors import adapting, measuring, training, transferring

    for command in (training, adapting, measuring, transferring):
        command.register(detector)
    cli.add_typer(detector, name="detector")
