"""`berdseye init`, `demo` and `app`: create a workspace, and serve it."""

import logging
from importlib.metadata import version
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from berdseye.app.commands.console import note, notes
from berdseye.app.commands.options import WorkspaceOption, open_workspace
from berdseye.app.jobs.reports import report
from berdseye.app.serving.ports import APP_PORT, LABEL_STUDIO_PORT
from berdseye.data.given_options import not_with
from berdseye.data.logs import log_to
from berdseye.data.workspace import Workspace

_log = logging.getLogger(__name__)


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.command()(init)
    cli.command()(demo)
    cli.command("app")(app)


def init(workspace: WorkspaceOption = None) -> None:
    """Create an empty workspace.

    Example: `berdseye init --workspace my-study`
    """
    note(f"Workspace {Workspace.create(workspace or Workspace.default_folder()).folder}")


def demo(workspace: WorkspaceOption = None) -> None:
    """Build the demo workspace, or complete a partly built one; finished parts are kept.

    Example: `berdseye demo --workspace workspace`
    """
    from berdseye.data.demo.content import is_demo

    folder = workspace or Workspace.default_folder()
    if is_demo(folder):
        note(f"Workspace {folder.resolve()} already exists.")
        return
    from berdseye.app.demo import build_demo

    folder = Workspace.create(folder).folder
    log_to(folder)  # before this, a new workspace has no folder for its log
    _log.info("demo: started, version %s, workspace %s", version("berdseye"), folder)
    columns = (
        TextColumn("Demo workspace"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=notes, disable=not notes.is_terminal) as progress:
        task = progress.add_task("", total=None)

        def say(name: str, number: int, total: int) -> None:
            progress.update(task, total=total, completed=number, description=name)
            report("demo workspace", "steps", number, total)
            if not notes.is_terminal:
                note(f"demo {number}/{total}: {name}")

        built = build_demo(folder, say)
        progress.update(task, total=1, completed=1, description="complete")
    note(f"Workspace {built.folder}")


def app(
    workspace: WorkspaceOption = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="The app's port.")] = APP_PORT,
    label_studio_port: Annotated[int, typer.Option(min=1, max=65535, help="Label Studio's port.")] = LABEL_STUDIO_PORT,
    label_studio: Annotated[bool, typer.Option(help="Start Label Studio as well.")] = True,
) -> None:
    """Serve the app and Label Studio on this machine until Ctrl-C.

    Example: `berdseye app --port 8600 --no-label-studio`
    """
    from berdseye.app.serving.serve import serve

    not_with("--no-label-studio", not label_studio, "label_studio_port")

    raise typer.Exit(serve(open_workspace(workspace), port, label_studio_port if label_studio else None))
