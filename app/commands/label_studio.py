"""`berdseye label-studio`: serve Label Studio, exchange batches with it, manage its accounts, and import its annotations."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.commands.console import counting, end_cleanly, note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.app.serving.ports import LABEL_STUDIO_PORT, free_port
from berdseye.data.errors import BadInputError
from berdseye.data.given_options import given_options

if TYPE_CHECKING:
    from berdseye.annotation.label_studio.exchange import BatchExchange
    from berdseye.annotation.label_studio.imports import Rule

label_studio = typer.Typer(
    help="Serve Label Studio on this workspace, and exchange batches with it or with another server."
)
BatchArgument = Annotated[str, typer.Argument(help="The name of the batch.")]
ControlOption = Annotated[
    str, typer.Option(help="The name of the Choices control that holds the verdict. Default: guessed.")
]
ChoiceOption = Annotated[
    list[str] | None,
    typer.Option(
        help="The verdict that a choice means; repeatable: CHOICE=supports, CHOICE='does not support' or CHOICE=unsure."
    ),
]
FieldOption = Annotated[
    list[str] | None,
    typer.Option(
        help="The key of a task's data that contains a text; repeatable: passage=KEY, perspective=KEY, question=KEY ..."
    ),
]
CommentOption = Annotated[
    str, typer.Option(help="The name of the TextArea control that holds the comment. Default: guessed.")
]
DatasetOption = Annotated[str, typer.Option(help="The name of the data set recorded for new pairs.")]


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    label_studio.callback(invoke_without_command=True)(serve)
    label_studio.command("push")(push)
    label_studio.command("pull")(pull)
    label_studio.command("assign")(assign)
    label_studio.command("account")(account)
    label_studio.command("projects")(projects)
    label_studio.command("check")(check)
    label_studio.command("import")(import_)
    cli.add_typer(label_studio, name="label-studio")


def serve(
    context: typer.Context,
    workspace: WorkspaceOption = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Label Studio's port.")] = LABEL_STUDIO_PORT,
) -> None:
    """Serve Label Studio on this workspace, without the app, until Ctrl-C; with a subcommand, exchange with a server.

    Example: `berdseye label-studio --port 8090`
    """
    if context.invoked_subcommand is not None:
        if given := given_options("workspace", "port"):
            raise BadInputError(
                f"{' and '.join(given)} before '{context.invoked_subcommand}' would have no effect.",
                hint=f"Put options after the subcommand: `berdseye label-studio {context.invoked_subcommand} ...`.",
            )
        return
    from berdseye.annotation.label_studio.server import start

    end_cleanly()
    server = start(open_workspace(workspace).label_studio_folder, free_port(port))
    try:
        note(f"Label Studio   {server.url}   (starting)")
        server.ready()
        note("Label Studio is ready. Press Ctrl-C to stop it.")
        while server.alive():
            time.sleep(0.5)
    finally:
        server.stop()


def push(
    batch: BatchArgument,
    together: Annotated[
        bool, typer.Option(help="Create one shared project, even where the batch names annotators.")
    ] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Push a batch to Label Studio as one project per annotator; pushing again adds what is missing.

    Example: `berdseye label-studio push first`
    """
    from berdseye.annotation.batches.stored import load_batch
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.exchange import push_batch

    ws = open_workspace(workspace)
    judgments = Judgments.open(ws.judgments_url)
    loaded = load_batch(judgments, batch)
    with counting("pushed") as progress:
        sent = push_batch(
            ws, judgments, loaded, together=together, progress=lambda done, total: progress(done, "pairs", total)
        )
    _print_reports(sent, json)


def pull(
    batch: Annotated[
        str | None, typer.Argument(help="The name of the batch. Default: all batches, and the workspace's own project.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Read every task, not only those changed since the last pull.")
    ] = False,
    withdraw_deleted: Annotated[
        bool, typer.Option("--withdraw-deleted", help="Withdraw judgments whose task was deleted in Label Studio.")
    ] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Pull annotations from Label Studio; deleting an annotation there withdraws its judgment here.

    Example: `berdseye label-studio pull first --full`
    """
    from berdseye.annotation.batches.stored import load_batch
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.exchange import pull_batch, pull_projects

    ws = open_workspace(workspace)
    judgments = Judgments.open(ws.judgments_url)
    with counting("pulled") as progress:

        def report(done: int, total: int) -> None:
            progress(done, "tasks", total)

        if batch is None:
            received = pull_projects(ws, judgments, whole=full, withdraw_gone=withdraw_deleted, progress=report)
        else:
            loaded = load_batch(judgments, batch)
            received = pull_batch(
                ws, judgments, loaded, whole=full, withdraw_gone=withdraw_deleted, progress=report
            )  # fmt: skip
    _print_reports(received, json)


def assign(
    batch: BatchArgument,
    to: Annotated[str, typer.Option("--to", help="The person who made the judgments: a name or an e-mail address.")],
    author: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="The name or e-mail address that the judgments are stored under; required where several are possible.",
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Assign judgments made in Label Studio from another account, such as the admin's, to the person who made them.

    The log records both steps with your name: the withdrawal under the old name, and the judgment under the new one.

    Example: `berdseye label-studio assign first --to Ana --from admin@berdseye.local`
    """
    from berdseye.annotation.batches.stored import load_batch
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio import attribution
    from berdseye.annotation.people import find_person
    from berdseye.app.access.acting import acting_name

    ws = open_workspace(workspace)
    judgments = Judgments.open(ws.judgments_url)
    stored_under = None if author is None else find_person(judgments, author)
    done = attribution.assign(
        judgments, load_batch(judgments, batch), find_person(judgments, to), stored_under, acting_name(ws)
    )
    if json:
        print_json(done._asdict())
        return
    note(str(done))


def account(
    person: Annotated[str, typer.Argument(help="The person who signs in: a name or an e-mail address.")],
    reset: Annotated[bool, typer.Option("--reset", help="Set a new password, which replaces the old one.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Show how a person signs in to their own Label Studio account; a missing account is created.

    In team mode, only the person sees the password. An admin may reset it, but does not see the new one.

    Example: `berdseye label-studio account Ana`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.people import find_person
    from berdseye.app.access.label_studio_accounts import account_for, sign_in_lines

    ws = open_workspace(workspace)
    judgments = Judgments.open(ws.judgments_url)
    sign_in, seen = account_for(ws, judgments, find_person(judgments, person), reset=reset)
    if json:
        print_json(
            {
                "person": sign_in.person, "url": sign_in.url, "email": sign_in.email,
                "password": sign_in.password if seen else "", "invitation": sign_in.invitation,
                "password_form": sign_in.password_form,
            }
        )  # fmt: skip
        return
    for line in sign_in_lines(sign_in, seen=seen):
        print(line)


def projects(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the projects of batches, their annotators, and the time of the last pull, without contacting the server.

    Example: `berdseye label-studio projects`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.exchange import sent_projects

    rows = sent_projects(Judgments.open(open_workspace(workspace).judgments_url))
    if json:
        print_json([row._asdict() for row in rows])
        return
    for row in rows:
        print(
            f"{row.batch}\t{row.person or 'all'}\tproject {row.number}\t{row.tasks} tasks\t{row.waiting} waiting\t{row.received}"
        )


def check(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Test the connection to Label Studio, and report the server, the account of the token, and the kind of token.

    Example: `BERDSEYE_LABEL_STUDIO_URL=https://labels.example.org BERDSEYE_LABEL_STUDIO_TOKEN=... berdseye label-studio check`
    """
    from berdseye.annotation.label_studio.connection import connect

    server = connect(open_workspace(workspace))
    kind = "personal access token" if server.personal else "legacy token"
    connection = {"url": server.url, "version": server.version(), "account": server.account, "token": kind}
    if json:
        print_json(connection)
        return
    print(
        f"{connection['url']}\tLabel Studio {connection['version']}\tsigned in as {connection['account']} with a {kind}"
    )


def import_(
    project: Annotated[int, typer.Argument(help="The number of the project, as in its URL.")],
    control: ControlOption = "",
    choice: ChoiceOption = None,
    field: FieldOption = None,
    comment: CommentOption = "",
    dataset: DatasetOption = "label-studio",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Import the annotations of a project that Berdseye did not create; importing again adds only new ones.

    Example: `berdseye label-studio import 7 --choice yes=supports --choice "no='does not support'" --field passage=text`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.connection import connect
    from berdseye.annotation.label_studio.imports import import_project

    ws = open_workspace(workspace)
    rule = rule_of(control, choice, field, comment, dataset)
    done = import_project(Judgments.open(ws.judgments_url), connect(ws), project, rule)
    print_import(done, json)


def import_file(
    path: Annotated[Path, typer.Argument(help="A JSON export from Label Studio (not JSON-MIN).")],
    annotator: Annotated[
        list[str] | None,
        typer.Option(help="The person behind a user number in the file; repeatable: 3=ana@example.org or 3=Ana."),
    ] = None,
    control: ControlOption = "",
    choice: ChoiceOption = None,
    field: FieldOption = None,
    comment: CommentOption = "",
    dataset: DatasetOption = "label-studio",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Import judgments from a JSON export of Label Studio; importing the file again adds nothing.

    Example: `berdseye judgments import export.json --annotator 3=ana@example.org --choice yes=supports`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.imports import import_file as read

    people = {}
    for number, person in _pairs(annotator, "annotator").items():
        if not number.isdigit():
            raise BadInputError(
                f"--annotator needs a user number before the '=', got '{number}'.",
                hint="Write it like 3=ana@example.org.",
            )
        people[int(number)] = person
    rule = rule_of(control, choice, field, comment, dataset)
    print_import(read(Judgments.open(open_workspace(workspace).judgments_url), path, rule, people), json)


def rule_of(control: str, choice: list[str] | None, field: list[str] | None, comment: str, dataset: str) -> "Rule":
    """The rule for reading annotations that the options describe. Raises `BadInputError` for a malformed option."""
    from berdseye.annotation.label_studio.imports import Rule
    from berdseye.data.workspace import checked_name

    verdicts = {name: meaning.strip("'\"") for name, meaning in _pairs(choice, "choice").items()}
    return Rule(control, verdicts, comment, _pairs(field, "field"), checked_name("dataset", dataset))  # type: ignore[arg-type]


def print_import(done: object, json: bool) -> None:
    """Print what an import did. Raises `typer.Exit` with status 1 where annotations could not be read."""
    if json:
        print_json(done.__dict__)
    else:
        for problem in done.__dict__["problems"]:
            note(problem)
        note(str(done))
    if done.__dict__["problems"]:
        raise typer.Exit(1)


def _print_reports(sent: "list[BatchExchange]", json: bool) -> None:
    if json:
        print_json([{"project": one.project.title, **one.report.__dict__} for one in sent])
        return
    for one in sent:
        note(f"{one.project.title}: {one.report}")
        for problem in one.report.problems[1:]:
            note(problem)
        for warning in one.report.warnings:
            note(f"Warning: {warning}")


def _pairs(options: list[str] | None, option: str) -> dict[str, str]:
    values = {}
    for text in options or ():
        name, sign, value = text.partition("=")
        if not (name.strip() and sign and value.strip()):
            raise BadInputError(f"--{option} must be NAME=VALUE, got '{text}'.", hint="Write a name and a value.")
        values[name.strip()] = value.strip()
    return values
