"""Studies called by name from Python, with the options of their commands as keywords."""

from collections.abc import Mapping, Sequence
from typing import Any

import typer.main
from typer.exceptions import TyperException

from berdseye.app.commands.studies.options import handed_over
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.result import StudyResult

_TOLD_BY = ("list", "show")


def study_names() -> list[str]:
    """Every study, as the command line calls it: 'berds base', 'compare', …"""
    return sorted(name for name in _commands() if name not in _TOLD_BY)


def call_study(workspace: Workspace, name: str, *files: object, **options: object) -> StudyResult:
    """The result of a study, which is kept in the workspace as the command keeps it.

    `options` are those of `berdseye study NAME --help`, with underscores; a list gives an option several times, None leaves it as
    it is. Raises `UnknownNameError` for a name or option that is not there, `BadInputError` where a value does not fit.
    """
    known = _commands()
    if name not in study_names():
        raise UnknownNameError("study", name, study_names())
    parameters = {str(p.name): p for p in known[name].params}
    words = [*name.split(), "--workspace", str(workspace.folder)]
    for key, value in options.items():
        if key not in parameters:
            raise UnknownNameError(
                f"option of study {name}", key, set(parameters) - {"workspace", "form", "json", "help"}
            )
        words += _written(parameters[key], value)
    with handed_over() as results:
        try:
            _group().main([*words, "--", *map(str, files)], prog_name="study", standalone_mode=False)
        except TyperException as error:
            raise BadInputError(f"{str(error).rstrip('.')}.", hint=f"See `berdseye study {name} --help`.") from error
    if not results:
        raise BadInputError(f"Study {name} gave tables to no one.", hint="Leave out json=True.")
    return results[0]


def _written(parameter: Any, value: object) -> list[str]:
    """An option as the command line takes it."""
    yes = max((o for o in parameter.opts if o.startswith("--")), key=len, default="")
    if isinstance(value, bool) and getattr(parameter, "is_flag", False):
        no = next(iter(parameter.secondary_opts), "")
        return [yes] if value else [no] if no else []
    given = value if isinstance(value, Sequence) and not isinstance(value, str) else [] if value is None else [value]
    return [word for one in given for word in ((yes, str(one)) if yes else (str(one),))]


def _group() -> Any:
    from berdseye.app.cli import cli

    return vars(typer.main.get_command(cli))["commands"]["study"]


def _commands() -> Mapping[str, Any]:
    """The commands by the words they are called with."""
    found: dict[str, Any] = {}

    def gather(group: Any, before: tuple[str, ...]) -> None:
        for name, command in group.commands.items():
            words = (*before, name)
            if hasattr(command, "commands"):
                gather(command, words)
            else:
                found[" ".join(words)] = command

    gather(_group(), ())
    return found
