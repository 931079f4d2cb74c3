"""`berdseye detector`: list, measure, tune, teach, train, adapt and adopt detectors."""

import typer

detector = typer.Typer(no_args_is_help=True, help="List, measure, tune, train and adopt detectors.")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    from berdseye.app.commands.detectors import (
        adapting,
        first_pages,
        measuring,
        teaching,
        training,
        transferring,
        tuning,
    )

    for command in (training, tuning, adapting, teaching, measuring, first_pages, transferring):
        command.register(detector)
    cli.add_typer(detector, name="detector")
