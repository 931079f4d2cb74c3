"""`berdseye study`: the tables, figures and analyses of papers, computed from the contents of the workspace."""

import typer

study = typer.Typer(
    no_args_is_help=True, help="Compute the tables and figures of papers from stored runs, labels and answers."
)


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    from berdseye.app.commands.studies import berds, comparing, debateqa, dmerit, options, pir

    for command in (berds, comparing, debateqa, options, dmerit, pir):
        command.register(study)
    cli.add_typer(study, name="study")
