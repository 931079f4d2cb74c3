"""Calling `berdseye` in this process."""

from typer.testing import CliRunner

from berdseye.app.cli import cli


def output(*arguments: object) -> str:
    """What a command that should succeed prints on standard output."""
    result = CliRunner().invoke(cli, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout
