"""`berdseye construct`: data sets made step by step, as the papers made theirs."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from berdseye.app.access.acting import acting_name
from berdseye.app.commands.answers_of_constructions import ANSWERS_COMMANDS
from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.dmerit_constructions import audit, figures, verify
from berdseye.app.commands.models import DEFAULT_MODEL, ModelOption
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, WorkspaceOption, open_workspace
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.evaluation.construction.kinds import KINDS
from berdseye.evaluation.construction.steps import Kind

if TYPE_CHECKING:
    from berdseye.evaluation.construction.stored import Construction

construct = typer.Typer(
    no_args_is_help=True,
    help="Make data sets step by step, as the papers made theirs: questions, perspectives, evidence and their checks.",
)
NameArgument = Annotated[str, typer.Argument(help="The name of the construction.")]
SourceOption = Annotated[
    list[str],
    typer.Option("--source", metavar="[NAME=]FILE", help="A file to read; repeatable for kinds with several."),
]
PromptOption = Annotated[
    list[str] | None,
    typer.Option(
        "--prompt",
        metavar="PROMPT=FILE",
        help="A file with another prompt, such as a paper's released one; repeatable.",
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
StepOption = Annotated[str | None, typer.Option(help="Only this step.")]


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    for kind in KINDS.values():
        construct.command(kind.name)(_command(kind))
    for command in (resume, rejected, overrule, check, outcome, verify, audit, figures, remove, dataset):
        construct.command()(command)
    construct.command("list")(list_all)
    construct.command("show")(show)
    construct.command("report")(report)
    for name, answers_command in ANSWERS_COMMANDS.items():
        construct.command(name)(answers_command)
    cli.add_typer(construct, name="construct")


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
        from berdseye.evaluation.construction.opening import begin

        begun = begin(
            open_workspace(workspace),
            kind,
            name,
            _named(source, "--source"),
            {**options, "model": model},
            _named(prompt or [], "--prompt"),
            made_by=acting_name(open_workspace(workspace)),
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


def show(name: NameArgument, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Print how many rows each step of a construction kept and rejected, beside the paper's counts, with reasons and costs.

    Example: `berdseye construct show mine`
    """
    from berdseye.evaluation.construction.opening import open_construction

    _show(open_construction(open_workspace(workspace), name), json)


def report(name: NameArgument, workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Print the report of a construction: what each step kept, and what is special to its kind, such as sources and topics.

    Example: `berdseye construct report mine`
    """
    from berdseye.evaluation.construction.opening import open_construction

    opened = open_construction(open_workspace(workspace), name)
    lines = [] if opened.kind.report is None else opened.kind.report(opened)
    if json:
        print_json({"name": opened.name, "kind": opened.kind.name, "lines": lines})
        return
    _show(opened, json)
    for line in lines:
        print(line)


def rejected(
    name: NameArgument,
    step: StepOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List the rows that are not used: the step, the row, the reason, and the row's text.

    Example: `berdseye construct rejected mine --step perspectives`
    """
    from berdseye.evaluation.construction.opening import open_construction
    from berdseye.evaluation.construction.reporting import rejections

    rows = [one._asdict() for one in rejections(open_construction(open_workspace(workspace), name), step)]
    if json:
        print_json(rows)
        return
    for row in rows:
        print("\t".join(" ".join(str(value).split()) for value in row.values()))


def overrule(
    name: NameArgument,
    step: Annotated[str, typer.Argument(help="The step that rejected or kept the rows.")],
    rows: Annotated[list[str], typer.Argument(help="The ids of rows.")],
    drop: Annotated[
        bool, typer.Option("--drop", help="Drop rows that the step kept. Default: keep rejected ones.")
    ] = False,
    why: Annotated[str, typer.Option(help="The reason.")] = "",
    field: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD=TEXT", help="A text to keep the rows with, such as one that the model did not write."
        ),
    ] = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Keep rows that a step rejected, or drop rows that it kept. The steps after it run again with `construct resume`.

    Example: `berdseye construct overrule mine personal 12 17 --why "asks for an opinion"`
    """
    from berdseye.evaluation.construction.opening import open_construction

    ws = open_workspace(workspace)
    opened = open_construction(ws, name)
    fields = dict(_split(text, "--field") for text in field or [])
    opened.overrule(step, dict.fromkeys(rows, why), keep=not drop, made_by=acting_name(ws), fields=fields)
    note(f"{name}: {len(rows)} rows {'dropped' if drop else 'kept'} in {step}. Run `berdseye construct resume {name}`.")


def check(
    name: NameArgument,
    check_name: Annotated[
        str | None, typer.Argument(metavar="CHECK", help="The check. Default: list the checks.")
    ] = None,
    batch: Annotated[str, typer.Option(help="The name of the batch. Default: NAME-CHECK.")] = "",
    size: Annotated[int | None, typer.Option(min=1, help="The largest number of items. Default: the paper's.")] = None,
    per_item: Annotated[
        int | None, typer.Option(min=1, help="How many people check each item. Default: as in the paper.")
    ] = None,
    person: Annotated[list[str] | None, typer.Option(help="Who checks; repeatable. Default: everyone.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The seed of the draw.")] = 0,
    workspace: WorkspaceOption = None,
) -> None:
    """Send drawn items of a construction to people, as a batch that they judge on the page Annotate.

    Without CHECK, list the checks of this kind of construction, with what the paper found.

    Example: `berdseye construct check mine inspection --person Ada`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.evaluation.construction.checking import begin_check
    from berdseye.evaluation.construction.opening import open_construction

    ws = open_workspace(workspace)
    opened = open_construction(ws, name)
    if check_name is None:
        for one in opened.kind.checks:
            print(f"{one.name}\t{one.title}\t{one.printed}")
        return
    made = begin_check(
        opened,
        Judgments.open(ws.judgments_url),
        check_name,
        batch=batch,
        size=size,
        per_item=per_item,
        people=tuple(person or ()),
        seed=seed,
        made_by=acting_name(ws),
    )
    note(f"{made.name}: created. People judge it on the page Annotate.")


def outcome(
    name: NameArgument,
    apply: Annotated[
        str | None, typer.Option(metavar="BATCH", help="Reject the rows that people rejected in this batch.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Print what people decided in the checks of a construction, beside the paper's figures; with --apply, reject rows.

    An item is rejected when more than half of the people who were asked reject it, for example two of three.

    Example: `berdseye construct outcome mine --apply mine-grounded`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.evaluation.construction.checking import apply_outcome, checked
    from berdseye.evaluation.construction.opening import open_construction

    ws = open_workspace(workspace)
    opened = open_construction(ws, name)
    found = {done.batch.name: done for done in checked(opened, Judgments.open(ws.judgments_url))}
    if apply is not None:
        if apply not in found:
            raise UnknownNameError("batch of this construction", apply, found)
        rows = apply_outcome(opened, found[apply], made_by=acting_name(ws))
        note(f"{name}: {len(rows)} rows rejected. Run `berdseye construct resume {name}`.")
        return
    if json:
        print_json(
            [
                {
                    "batch": batch,
                    "check": done.check.name,
                    "items": {item: one._asdict() for item, one in done.outcomes.items()},
                }
                for batch, done in found.items()
            ]
        )
        return
    for batch, done in found.items():
        print(f"{batch}\t{done.check.name}\t{done.text}")


def dataset(
    name: NameArgument,
    as_name: Annotated[
        str | None, typer.Option("--as", help="The name of the data set. Default: the construction's.")
    ] = None,
    dev_share: Annotated[
        float, typer.Option(help="Divide the questions into NAME-dev, with this share of them, and NAME-test.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The seed of the division.")] = 0,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Replace existing data sets of these names, and a corpus with its gold labels."),
    ] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Add what a finished construction has made as a data set.

    Example: `berdseye construct dataset mine --dev-share 0.25`
    """
    from berdseye.evaluation.construction.finishing import finish
    from berdseye.evaluation.construction.opening import open_construction

    opened = open_construction(open_workspace(workspace), name)
    for line in finish(opened, as_name or name, dev_share=dev_share, seed=seed, replacing=replace):
        note(line)


def list_all(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the constructions with their kinds, and the steps that are finished.

    Example: `berdseye construct list`
    """
    from berdseye.evaluation.construction.opening import list_constructions, open_construction

    ws = open_workspace(workspace)
    rows = []
    for opened in (open_construction(ws, name) for name in list_constructions(ws)):
        finished = [step for step in opened.step_names if opened.made_from(step) is not None]
        rows.append({"name": opened.name, "kind": opened.kind.name, "created": opened.created, "finished": finished})
    if json:
        print_json(rows)
        return
    for row in rows:
        print(f"{row['name']}\t{row['kind']}\t{row['created']}\t{', '.join(row['finished'])}")


def remove(
    name: NameArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Confirm that its rows are deleted.")] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Delete a construction and its rows. Data sets that were made from it stay, and so do completions.

    Example: `berdseye construct remove mine --yes`
    """
    from berdseye.evaluation.construction.opening import open_construction, remove_construction

    ws = open_workspace(workspace)
    open_construction(ws, name)
    if not yes:
        raise BadInputError(f"This deletes the rows of '{name}'.", hint="Pass --yes to confirm.")
    remove_construction(ws, name)
    note(f"{name}: deleted")


def _run(opened: "Construction", until: str | None, step: str | None, dry_run: bool, json: bool) -> None:
    from berdseye.evaluation.construction.running import expected, run_construction

    if dry_run:
        _print_expected(expected(opened), str(opened.settings["model"]), json)
        return
    run_construction(opened, until=until, only=step, counting=counting)
    _show(opened, json)


def _print_expected(steps: list[Any], model: str, json: bool) -> None:
    if json:
        print_json([{**step._asdict(), "cost": step.cost and step.cost._asdict()} for step in steps])
        return
    for step in steps:
        rows = f"{step.rows:,} rows" if step.exact else f"at most {step.rows:,} rows"
        cost = "finished" if step.finished else step.cost.described(model) if step.cost else "no call of a model"
        print(f"{step.name}\t{rows}\t{cost}")


def _show(opened: "Construction", json: bool) -> None:
    from berdseye.evaluation.construction.reporting import funnel, reasons, spent

    stages, why, costs = funnel(opened), reasons(opened), spent(opened)
    if json:
        print_json(
            {
                "name": opened.name,
                "kind": opened.kind.name,
                "settings": dict(opened.settings),
                "stages": [stage._asdict() for stage in stages],
                "reasons": why,
                "cost_dollars": sum(cost.dollars for cost in costs),
            }
        )
        return
    for stage in stages:
        if stage.rows is None:
            print(f"{stage.step}\tnot finished")
            continue
        paper = f"\t{stage.place}: {stage.printed:,.0f}" if stage.printed is not None else ""
        print(f"{stage.step}\t{stage.rows:,} in\t{stage.kept:,} {stage.title}\t{stage.rejected:,} rejected{paper}")
        for reason, count in why.get(stage.step, {}).items():
            print(f"\t{count:,} × {reason}")
    note(f"{sum(cost.rows for cost in costs):,} completions, ${sum(cost.dollars for cost in costs):.2f}")


def _named(texts: list[str], option: str) -> dict[str, Path]:
    """Return files by name from `NAME=FILE`; a source without a name is called by that of its file. Raises `BadInputError`."""
    files: dict[str, Path] = {}
    for text in texts:
        name, path = _split(text, option) if "=" in text or option == "--prompt" else (Path(text).stem, text)
        if name in files:
            raise BadInputError(f"{option} names '{name}' twice.", hint="Give each file a name of its own: NAME=FILE.")
        files[name] = Path(path)
    return files


def _split(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise BadInputError(f"'{text}' is not NAME=VALUE.", hint=f"Write {option} NAME=VALUE.")
    return name, value
