"""Checks that every command runs on its arguments before it starts."""

import math
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from berdseye.app.commands.former_names import with_present_command, with_present_options, words_of
from berdseye.data.errors import BadInputError
from berdseye.data.files.given_paths import possible_path
from berdseye.data.given_options import giving

_LARGEST = 2**63 - 1  # the largest integer that databases, Parquet and NumPy accept
_ON_THE_COMMAND_LINE = "COMMANDLINE"


class _Checked:
    """A command or group that refuses meaningless values, such as an empty path or a NUL character, before it runs."""

    params: list[Any]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments. Raises `BadInputError` for a meaningless value, or for an option given under two names."""
        args = with_present_options(words_of(ctx), args)
        words = list(args)
        left: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        for parameter in self.params:
            if _is_written(ctx, str(parameter.name)):
                given = ctx.params.get(str(parameter.name))
                for value in given if isinstance(given, list | tuple) else (given,):
                    _check(_called(parameter), value, parameter, words)
        return left

    def invoke(self, ctx: Any) -> Any:
        """Run the command; while it runs, `given_options`, `only_with` and `not_with` report on its arguments."""
        with giving({str(p.name): _called(p) for p in self.params if _is_written(ctx, str(p.name))}):
            return super().invoke(ctx)  # type: ignore[misc]


class CheckedCommand(_Checked, TyperCommand):
    """A command that checks its arguments."""


class CheckedGroup(_Checked, TyperGroup):
    """A group that checks its own arguments, those before the command's name, and accepts former names of its commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the command that `args` begins with, under its present or a former name."""
        return super().resolve_command(ctx, with_present_command(words_of(ctx), args))


def check_arguments(group: typer.Typer) -> None:
    """Make every command of a group, and of the groups below it, check its arguments."""
    group.info.cls = CheckedGroup
    for command in group.registered_commands:
        command.cls = CheckedCommand
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            check_arguments(inner.typer_instance)


def _is_written(ctx: Any, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == _ON_THE_COMMAND_LINE


def _called(parameter: Any) -> str:
    options = [option for option in parameter.opts if option.startswith("--")]
    return options[0] if options else str(parameter.name).upper()


def _check(called: str, value: object, parameter: Any, words: list[str]) -> None:
    match value:
        case str():
            _check_text(called, value)
            if not value.strip() and called.startswith("--") and parameter.default != "":
                # A command cannot tell an empty value from an omitted option.
                raise BadInputError(f"{called} is empty.", hint="Give it a value, or omit it.")
        case Path():
            if value == Path() and "." not in words and f"{called}=." not in words:
                raise BadInputError(
                    f"{called} is an empty path.", hint="Name a file or folder; `.` is the current folder."
                )
            possible_path(value)
        case bool():
            pass
        case float() if not math.isfinite(value):
            raise BadInputError(f"{called} must be a finite number, got {value}.", hint="Give a finite number.")
        case int() if abs(value) > _LARGEST:
            raise BadInputError(
                f"{called} is {str(value)[:12]}…, which is too large.", hint=f"The largest value is {_LARGEST}."
            )


def _check_text(called: str, value: str) -> None:
    if "\0" in value:
        raise BadInputError(f"{called} contains a NUL character.", hint="Remove it.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise BadInputError(
            f"{called} is not UTF-8: {value[:80]!a}.", hint="Type it again in a terminal that uses UTF-8."
        ) from error
