"""Studies called by name from Python, with the options of their commands as keyword arguments."""

from collections.abc import Mapping, Sequence
from typing import Any

import typer.main
from typer.exceptions import TyperException

from berdseye.app.commands.former_names import present_keyword
from berdseye.app.commands.studies.options import collected_results
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.result import StudyResult

_READING = ("list", "show")


def study_names() -> list[str]:
    """The names of all studies as on the command line: 'berds base', 'compare', …"""
    return sorted(name for name in _commands() if name not in _READING)


def call_study(workspace: Workspace, name: str, *files: object, **options: object) -> StudyResult:
    """Run the study `name` and return its result, which is also stored in the workspace.

    `options` are those of `berdseye study NAME --help`, with underscores. A list gives an option several times; None keeps its
    default. Raises `UnknownNameError` for an unknown study or option, and `BadInputError` for an invalid value.
    """
    commands = _commands()
    if name not in study_names():
        raise UnknownNameError("study", name, study_names())
    parameters = {str(p.name): p for p in commands[name].params}
    words = [*name.split(), "--workspace", str(workspace.folder)]
    for given, value in options.items():
        key = given if given in parameters else present_keyword(("study", *name.split()), given)
        if key not in parameters:
            raise UnknownNameError(
                f"option of study {name}", key, set(parameters) - {"workspace", "form", "json", "help"}
            )
        words += _words(parameters[key], value)
    with collected_results() as results:
        try:
            _group().main([*words, "--", *map(str, files)], prog_name="study", standalone_mode=False)
        except TyperException as error:
            raise BadInputError(f"{str(error).rstrip('.')}.", hint=f"See `berdseye study {name} --help`.") from error
    if not results:
        raise BadInputError(f"Study {name} returned no result.", hint="Omit json=True.")
    return results[0]


def _words(parameter: Any, value: object) -> list[str]:
    """An option with its value as words of a command line."""
    option = max((o for o in parameter.opts if o.startswith("--")), key=len, default="")
    if isinstance(value, bool) and getattr(parameter, "is_flag", False):
        negation = next(iter(parameter.secondary_opts), "")
        return [option] if value else [negation] if negation else []
    values = value if isinstance(value, Sequence) and not isinstance(value, str) else [] if value is None else [value]
    return [word for one in values for word in ((option, str(one)) if option else (str(one),))]


def _group() -> Any:
    from berdseye.app.cli import cli

    return vars(typer.main.get_command(cli))["commands"]["study"]


def _commands() -> Mapping[str, Any]:
    """Every command below `study`, by the words that call it."""
    commands: dict[str, Any] = {}

    def gather(group: Any, before: tuple[str, ...]) -> None:
        for name, command in group.commands.items():
            words = (*before, name)
            if hasattr(command, "commands"):
                gather(command, words)
            else:
                commands[" ".join(words)] = command

    gather(_group(), ())
    return commands
