"""`study list` and `study show`, and how every study's command tells and keeps its result."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from typing import Annotated

import typer

from berdseye.app.acting import acting_name
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened
from berdseye.app.console import note, print_json
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.result import StudyResult, Table


class Form(StrEnum):
    """How tables are printed."""

    TEXT = "text"
    CSV = "csv"
    LATEX = "latex"
    JSON = "json"


_ASKED_FOR: ContextVar[list[StudyResult] | None] = ContextVar("results asked for by a caller", default=None)
FormOption = Annotated[Form, typer.Option("--form", help="How the tables are printed.", show_choices=True)]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command("list")(list_all)
    group.command()(show)


@contextmanager
def handed_over() -> Iterator[list[StudyResult]]:
    """Within it results are kept as ever, but given to the caller in this list and not printed."""
    found: list[StudyResult] = []
    before = _ASKED_FOR.set(found)
    try:
        yield found
    finally:
        _ASKED_FOR.reset(before)


def finish(workspace: Workspace, result: StudyResult, form: Form) -> None:
    """Keep the result in the workspace and print its tables; notes and the folder go to standard error."""
    from berdseye.evaluation.studies.store import save_result

    folder = save_result(workspace, result, made_by=acting_name(workspace))
    if (asked_for := _ASKED_FOR.get()) is not None:
        asked_for.append(result)
        return
    _print(list(result.tables), form)
    for text in result.notes:
        note(text)
    note(f"Kept in {folder}")


def list_all(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the stored results, the newest first.

    Example: `berdseye study list`
    """
    from berdseye.evaluation.studies.store import list_results, load_result

    held = opened(workspace)
    rows = [(r.name, r.created, r.settings) for r in (load_result(held, name) for name in list_results(held))]
    if json:
        print_json([{"name": n, "created": c, "settings": s} for n, c, s in rows])
        return
    for name, created, settings in rows:
        print(f"{name}\t{created}\t{', '.join(f'{k}={v}' for k, v in settings.items())}")


def show(
    name: Annotated[str, typer.Argument(help="A stored result, as `study list` names it.")],
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """Print the tables of a stored result again.

    Example: `berdseye study show berds-base-1f2e3d4c --form latex`
    """
    from berdseye.evaluation.studies.store import load_result

    _print(load_result(opened(workspace), name).tables, form)


def _print(tables: list[Table], form: Form) -> None:
    from berdseye.annotation.export import to_csv

    if form is Form.JSON:
        print_json({t.name: t.cells.to_dict("records") for t in tables})
        return
    for table in tables:
        match form:
            case Form.CSV:
                print(to_csv(table.cells).decode("utf-8"), end="")
            case Form.LATEX:
                print(table.latex())
            case _:
                print(f"{table.caption}\n{table.laid_out().to_string()}\n")
                for text in table.notes:
                    note(text)
