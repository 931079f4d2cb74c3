"""`berdseye construct`: data sets made step by step, as the papers made theirs."""

import typer

construct = typer.Typer(
    no_args_is_help=True,
    help="Make data sets step by step, as the papers made theirs: questions, perspectives, evidence and their checks.",
)


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    from berdseye.app.commands.constructions import answers, checks, dmerit, managing, running

    for command in (running, managing, checks, dmerit, answers):
        command.register(construct)
    cli.add_typer(construct, name="construct")
