"""`study`: the papers' tables, figures and analyses, computed from what the workspace holds."""

import typer

study = typer.Typer(no_args_is_help=True, help="The papers' tables and figures, from stored runs, labels and answers.")


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    from berdseye.app.commands.studies import berds, comparing, debateqa, dmerit, options, pir

    for command in (berds, comparing, debateqa, options, dmerit, pir):
        command.register(study)
    cli.add_typer(study, name="study")
