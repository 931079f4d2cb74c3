"""The command line's table of contents: each command's module is imported when the command is called, not before."""

from collections.abc import Iterator, Mapping
from copy import copy
from importlib import import_module
from threading import RLock
from typing import Any, ClassVar, Final, NamedTuple

import typer.main
from typer.core import TyperCommand, TyperGroup

from berdseye.app.commands.arguments import CheckedGroup, check_arguments

MARKUP: Final = "markdown"
_PACKAGE = "berdseye.app.commands"
_loaded: dict[str, Mapping[str, Any]] = {}
_lock = RLock()  # the app's pages, which are threads, read the commands too


class Listed(NamedTuple):
    """A command or group of the table: the module in `berdseye.app.commands` that registers it, and its line in `--help`."""

    module: str
    help: str
    hidden: bool = False


class LazyGroup(CheckedGroup):
    """A group that lists its commands from `table` and imports the module of the one that is called.

    `commands` maps every name to its command, and imports what is read from it.
    """

    table: ClassVar[Mapping[str, Listed]] = {}

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = _Commands(self.table)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands, in the order of the table."""
        del ctx
        return list(self.table)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help from the table alone."""
        shown = copy(self)
        shown.commands = {
            name: TyperCommand(name, help=listed.help, hidden=listed.hidden, rich_markup_mode=MARKUP)
            for name, listed in self.table.items()
        }
        TyperGroup.format_help(shown, ctx, formatter)


class _Commands(Mapping[str, Any]):
    def __init__(self, table: Mapping[str, Listed]) -> None:
        self._table = table

    def __getitem__(self, name: str) -> Any:
        return commands_of(self._table[name].module)[name]

    def __contains__(self, name: object) -> bool:
        return name in self._table

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


def commands_of(name: str) -> Mapping[str, Any]:
    """The commands that a module registers; each asks whether it may run, and checks its arguments."""
    with _lock:
        if name not in _loaded:
            from berdseye.app.commands.guarding import guard

            part = typer.Typer(rich_markup_mode=MARKUP, add_completion=False)
            import_module(f"{_PACKAGE}.{name}").register(part)
            guard(part)
            check_arguments(part)
            _loaded[name] = typer.main.get_group(part).commands
        return _loaded[name]
