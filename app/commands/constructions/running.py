"""Beginning and resuming constructions: a command for each kind, with the options of the kind, and `construct resume`."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.console import counting, print_json
from berdseye.app.commands.constructions.options import NameArgument, name_and_value, print_funnel
from berdseye.app.commands.models import DEFAULT_MODEL, ModelOption
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.data.errors import BadInputError
from berdseye.evaluation.construction.kinds import KINDS
from berdseye.evaluation.construction.steps import Kind

if TYPE_CHECKING:
    from berdseye.evaluation.construction.stored import Construction

SourceOption = Annotated[
    list[str],
    typer.Option("--source", metavar="[NAME=]FILE", help="A file to read; repeatable for kinds with several."),
]
PromptOption = Annotated[
    list[str] | None,
    typer.Option(
        "--prompt",
        metavar="PROMPT=FILE",
        help="A file with another prompt, such as a paper's released one, or its name in the folder prompts of the workspace; "
        "repeatable.",
    ),
]
UntilOption = Annotated[str | None, typer.Option(help="Stop after this step.")]
OnlyOption = Annotated[str | None, typer.Option("--step", help="Run this step alone.")]
DryRunOption = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Print the rows and calls of each step, and what they cost at most, and ask nothing."
    ),
]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    for kind in KINDS.values():
        group.command(kind.name)(_command(kind))
    group.command()(resume)


def _command(kind: Kind) -> Callable[..., None]:
    """Return the command that begins or continues constructions of a kind, with the options of the kind."""

    def command(
        *,
        name: NameArgument,
        source: SourceOption,
        model: ModelOption = DEFAULT_MODEL,
        prompt: PromptOption = None,
        until: UntilOption = None,
        step: OnlyOption = None,
        dry_run: DryRunOption = False,
        workspace: WorkspaceOption = None,
        json: JsonOption = False,
        **options: Any,
    ) -> None:
        from berdseye.data.workspace import find_prompt
        from berdseye.evaluation.construction.opening import begin

        ws = open_workspace(workspace)
        begun = begin(
            ws,
            kind,
            name,
            _named(source, "--source"),
            {**options, "model": model},
            {name: find_prompt(str(file), ws) for name, file in _named(prompt or [], "--prompt").items()},
            made_by=acting_name(ws),
        )
        _run(begun, until, step, dry_run, json)

    *before, _ = (p for p in inspect.signature(command).parameters.values())
    own = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=option.default,
            annotation=Annotated[
                (option.kind | None) if option.default is None else type(option.default), typer.Option(help=option.help)
            ],
        )
        for option in kind.options
    ]
    parameters = [*before, *own]
    command.__name__ = kind.name
    command.__doc__ = (
        f"{kind.title}{f', as in {kind.paper}' if kind.paper else ''}.\n\n"
        f"The source is {kind.sources}. Its steps: {', '.join(step.name for step in kind.steps)}; "
        f"its prompts: {', '.join(kind.asks)}. Finished steps and completions are kept: after an interruption, the same command "
        f'resumes.\n\nExample: `berdseye construct {kind.name} mine --source FILE --model "api(gpt-4o-mini)" --dry-run`'
    )
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    command.__dict__["__signature__"] = inspect.Signature(parameters)  # what Typer reads the options from
    return command


def resume(
    name: NameArgument,
    until: UntilOption = None,
    step: OnlyOption = None,
    dry_run: DryRunOption = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Run the steps of a construction that are not finished, or whose input has changed, for example by an overruled row.

    Example: `berdseye construct resume mine`
    """
    from berdseye.evaluation.construction.opening import open_construction

    _run(open_construction(open_workspace(workspace), name), until, step, dry_run, json)


def _run(opened: "Construction", until: str | None, step: str | None, dry_run: bool, json: bool) -> None:
    from berdseye.evaluation.construction.running import expected, run_construction

    if dry_run:
        _print_expected(expected(opened), str(opened.settings["model"]), json)
        return
    run_construction(opened, until=until, only=step, counting=counting)
    print_funnel(opened, json)


def _print_expected(steps: list[Any], model: str, json: bool) -> None:
    if json:
        print_json([{**step._asdict(), "cost": step.cost and step.cost._asdict()} for step in steps])
        return
    for step in steps:
        rows = f"{step.rows:,} rows" if step.exact else f"at most {step.rows:,} rows"
        cost = "finished" if step.finished else step.cost.described(model) if step.cost else "no call of a model"
        print(f"{step.name}\t{rows}\t{cost}")


def _named(texts: list[str], option: str) -> dict[str, Path]:
    """Return files by name from `NAME=FILE`; a source without a name is called by that of its file. Raises `BadInputError`."""
    files: dict[str, Path] = {}
    for text in texts:
        name, path = name_and_value(text, option) if "=" in text or option == "--prompt" else (Path(text).stem, text)
        if name in files:
            raise BadInputError(f"{option} names '{name}' twice.", hint="Give each file a name of its own: NAME=FILE.")
        files[name] = Path(path)
    return files
