"""What every command asks of its arguments before it begins, and how it refuses options that have no effect."""

import math
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from berdseye.app.commands.former_names import with_present_command, with_present_options, words_of
from berdseye.data.errors import BadInputError
from berdseye.data.files.given_paths import possible_path

_LARGEST = 2**63 - 1  # databases, Parquet and NumPy take no larger whole number
_ON_THE_COMMAND_LINE = "COMMANDLINE"
_WRITTEN: ContextVar[Mapping[str, str]] = ContextVar("options written on the command line", default={})  # noqa: B039


class _Checked:
    """A command or group that refuses values that nothing can be meant by: before it runs, and in one line."""

    params: list[Any]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; raises `BadInputError` for one that cannot be meant."""
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
        """Run the command, which can ask `written` and `only_with` meanwhile."""
        found = {str(p.name): _called(p) for p in self.params if _is_written(ctx, str(p.name))}
        before = _WRITTEN.set(found)
        try:
            return super().invoke(ctx)  # type: ignore[misc]
        finally:
            _WRITTEN.reset(before)


class CheckedCommand(_Checked, TyperCommand):
    """A command that checks its arguments."""


class CheckedGroup(_Checked, TyperGroup):
    """A group that checks its own arguments, those before the command's name, and knows former names of its commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the command that `args` begin with."""
        return super().resolve_command(ctx, with_present_command(words_of(ctx), args))


def check_arguments(group: typer.Typer) -> None:
    """Let every command of a group check its arguments."""
    group.info.cls = CheckedGroup
    for command in group.registered_commands:
        command.cls = CheckedCommand
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            check_arguments(inner.typer_instance)


def written(*names: str) -> list[str]:
    """Those of the running command's parameters that the command line has, as they are called there ('--measure', 'FILE').

    An option with its default value counts where it is written. Outside of a command nothing is written.
    """
    return [called for name, called in _WRITTEN.get().items() if name in names]


def only_with(wanted: str, present: object, *names: str) -> None:
    """Raises `BadInputError` where one of these parameters is written although `wanted`, which it is for, is not there."""
    if not present and (found := written(*names)):
        raise BadInputError(
            f"{_listed(found)} {_has(found)} no effect without {wanted}.",
            hint=f"Leave {_it(found)} out, or give {wanted}.",
        )


def not_with(other: str, present: object, *names: str, why: str = "") -> None:
    """Raises `BadInputError` where one of these parameters is written beside `other`, which leaves it without effect."""
    if present and (found := written(*names)):
        raise BadInputError(
            f"{_listed(found)} {_has(found)} no effect with {other}{f', {why}' if why else ''}.",
            hint=f"Leave out {_listed(found)}, or {other}.",
        )


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
                # A command cannot tell an empty value from an option that was left out.
                raise BadInputError(f"{called} is empty.", hint="Give it a value, or leave it out.")
        case Path():
            if value == Path() and "." not in words and f"{called}=." not in words:
                raise BadInputError(
                    f"{called} is an empty path.", hint="Name a file or folder; `.` is the present one."
                )
            possible_path(value)
        case bool():
            pass
        case float() if not math.isfinite(value):
            raise BadInputError(f"{called} is {value}.", hint="Give a finite number.")
        case int() if abs(value) > _LARGEST:
            raise BadInputError(
                f"{called} is {str(value)[:12]}…, which is too large.", hint=f"Give at most {_LARGEST}."
            )


def _check_text(called: str, value: str) -> None:
    if "\0" in value:
        raise BadInputError(f"{called} holds a NUL character.", hint="Take it out.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise BadInputError(
            f"{called} is not UTF-8: {value[:80]!a}.", hint="Type it again, in a terminal that is set to UTF-8."
        ) from error


def _listed(names: list[str]) -> str:
    return " and ".join(names)


def _has(names: list[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"
