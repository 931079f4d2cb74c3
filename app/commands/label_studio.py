"""`label-studio`, `label-studio push | pull | assign | account | projects | check | import`: its server, batches, people."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.commands.arguments import written
from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened
from berdseye.app.serving.serve import LABEL_STUDIO_PORT, free_port
from berdseye.data.errors import BadInputError

if TYPE_CHECKING:
    from berdseye.annotation.label_studio.batch_projects import Sent
    from berdseye.annotation.label_studio.imports import Rule

label_studio = typer.Typer(
    help="Serve Label Studio on this workspace, and exchange batches with it or with another server."
)
BatchArgument = Annotated[str, typer.Argument(help="The name of the batch.")]
ControlOption = Annotated[str, typer.Option(help="The name of the Choices that hold the verdict; else guessed.")]
ChoiceOption = Annotated[
    list[str] | None,
    typer.Option(help="What a choice means: CHOICE=supports, CHOICE='does not support', CHOICE=unsure."),
]
FieldOption = Annotated[
    list[str] | None,
    typer.Option(help="Which key of a task is which text: passage=KEY, perspective=KEY, question=KEY ..."),
]
CommentOption = Annotated[str, typer.Option(help="The name of the TextArea that holds the comment; else guessed.")]
DatasetOption = Annotated[str, typer.Option(help="The data set that new pairs are said to be of.")]


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
    port: Annotated[int, typer.Option(min=1, max=65535, help="Its port.")] = LABEL_STUDIO_PORT,
) -> None:
    """Serve Label Studio alone, on this workspace, until Ctrl-C; or, with a command behind it, exchange with a server.

    Example: `berdseye label-studio --port 8090`
    """
    if context.invoked_subcommand is not None:
        if found := written("workspace", "port"):
            raise BadInputError(
                f"{' and '.join(found)} before '{context.invoked_subcommand}' would have no effect.",
                hint=f"Write options behind it: `berdseye label-studio {context.invoked_subcommand} ...`.",
            )
        return
    from berdseye.annotation.label_studio.server import start

    server = start(opened(workspace).label_studio_folder, free_port(port))
    try:
        note(f"Label Studio   {server.url}   (starting)")
        server.ready()
        note("Label Studio answers. Ctrl-C ends it.")
        while server.alive():
            time.sleep(0.5)
    finally:
        server.stop()


def push(
    batch: BatchArgument,
    together: Annotated[bool, typer.Option(help="One project for all, where people are named too.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Make a batch projects of Label Studio, one for each of its people; sending again completes them.

    Example: `berdseye label-studio push first`
    """
    from berdseye.annotation.batches.stored import load_batch
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.exchange import push_batch

    held = opened(workspace)
    judgments = Judgments.open(held.judgments_url)
    found = load_batch(judgments, batch)
    with counting("sent") as progress:
        sent = push_batch(
            held, judgments, found, together=together, progress=lambda done, total: progress(done, "pairs", total)
        )
    _tell(sent, json)


def pull(
    batch: Annotated[
        str | None, typer.Argument(help="Only this batch; else all, and the workspace's own project.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Read every task, not only those changed since.")] = False,
    withdraw_deleted: Annotated[
        bool, typer.Option("--withdraw-deleted", help="Judgments whose task was deleted there count as withdrawn.")
    ] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Bring here what was annotated in Label Studio; an annotation deleted there is a withdrawal here.

    Example: `berdseye label-studio pull first --full`
    """
    from berdseye.annotation.batches.stored import load_batch
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.exchange import pull_batch, pull_projects

    held = opened(workspace)
    judgments = Judgments.open(held.judgments_url)
    with counting("received") as progress:

        def tell(done: int, total: int) -> None:
            progress(done, "tasks", total)

        if batch is None:
            received = pull_projects(held, judgments, whole=full, withdraw_gone=withdraw_deleted, progress=tell)
        else:
            found = load_batch(judgments, batch)
            received = pull_batch(
                held, judgments, found, whole=full, withdraw_gone=withdraw_deleted, progress=tell
            )  # fmt: skip
    _tell(received, json)


def assign(
    batch: BatchArgument,
    to: Annotated[str, typer.Option("--to", help="Whose the judgments are: a name or an e-mail address.")],
    author: Annotated[
        str | None, typer.Option("--from", help="Under whose name they are kept; needed where several are possible.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Decide that judgments made in Label Studio from another account (the admin's, say) are a person's own.

    Both steps are in the log with your name: taken back under the one name, and given again under the other.

    Example: `berdseye label-studio assign first --to Ana --from admin@berdseye.local`
    """
    from berdseye.annotation.batches.stored import load_batch
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio import attribution
    from berdseye.annotation.people import known_person
    from berdseye.app.access.acting import acting_name

    held = opened(workspace)
    judgments = Judgments.open(held.judgments_url)
    other = None if author is None else known_person(judgments, author)
    done = attribution.assign(
        judgments, load_batch(judgments, batch), known_person(judgments, to), other, acting_name(held)
    )
    if json:
        print_json(done._asdict())
        return
    note(str(done))


def account(
    person: Annotated[str, typer.Argument(help="Who signs in: a name or an e-mail address.")],
    reset: Annotated[bool, typer.Option("--reset", help="Set a new password; the old one ends.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Show how a person signs in to Label Studio as themselves; the account is made where it is missing.

    In team mode the password is shown to the person alone; an admin may reset it, and sees only that it was done.

    Example: `berdseye label-studio account Ana`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.people import known_person
    from berdseye.app.access.label_studio_accounts import account_for, sign_in_lines

    held = opened(workspace)
    judgments = Judgments.open(held.judgments_url)
    found, seen = account_for(held, judgments, known_person(judgments, person), reset=reset)
    if json:
        print_json(
            {
                "person": found.person, "url": found.url, "email": found.email,
                "password": found.password if seen else "", "invitation": found.invitation,
                "password_form": found.password_form,
            }
        )  # fmt: skip
        return
    for line in sign_in_lines(found, seen=seen):
        print(line)


def projects(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the projects made for batches, whose they are, and when they were last received; asks no server.

    Example: `berdseye label-studio projects`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.exchange import sent_projects

    rows = sent_projects(Judgments.open(opened(workspace).judgments_url))
    if json:
        print_json([row._asdict() for row in rows])
        return
    for row in rows:
        print(
            f"{row.batch}\t{row.person or 'all'}\tproject {row.number}\t{row.tasks} tasks\t{row.waiting} wait\t{row.received}"
        )


def check(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Try the connection to Label Studio: which server it is, whose token, and of which kind.

    Example: `BERDSEYE_LABEL_STUDIO_URL=https://labels.example.org BERDSEYE_LABEL_STUDIO_TOKEN=... berdseye label-studio check`
    """
    from berdseye.annotation.label_studio.connection import connect

    found = connect(opened(workspace))
    kind = "personal access token" if found.personal else "legacy token"
    sign_in_lines = {"url": found.url, "version": found.version(), "account": found.account, "token": kind}
    if json:
        print_json(sign_in_lines)
        return
    print(
        f"{sign_in_lines['url']}\tLabel Studio {sign_in_lines['version']}\tsigned in as {sign_in_lines['account']} by a {kind}"
    )


def import_(
    project: Annotated[int, typer.Argument(help="The number of the project, as its address shows it.")],
    control: ControlOption = "",
    choice: ChoiceOption = None,
    field: FieldOption = None,
    comment: CommentOption = "",
    dataset: DatasetOption = "label-studio",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Read the annotations of a project that Berdseye did not make; importing again adds what is new.

    Example: `berdseye label-studio import 7 --choice yes=supports --choice "no='does not support'" --field passage=text`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.connection import connect
    from berdseye.annotation.label_studio.imports import import_project

    held = opened(workspace)
    rule = rule_of(control, choice, field, comment, dataset)
    done = import_project(Judgments.open(held.judgments_url), connect(held), project, rule)
    tell_import(done, json)


def import_file(
    path: Annotated[Path, typer.Argument(help="A JSON export of Label Studio (not JSON-MIN).")],
    annotator: Annotated[
        list[str] | None, typer.Option(help="Who a number in the file is: 3=ana@example.org, or 3=Ana.")
    ] = None,
    control: ControlOption = "",
    choice: ChoiceOption = None,
    field: FieldOption = None,
    comment: CommentOption = "",
    dataset: DatasetOption = "label-studio",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Read judgments out of a JSON export of Label Studio; reading it again adds nothing.

    Example: `berdseye judgments import export.json --annotator 3=ana@example.org --choice yes=supports`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.imports import import_file as read

    people = {}
    for number, who in _pairs(annotator, "annotator").items():
        if not number.isdigit():
            raise BadInputError(
                f"'{number}' is no number of a person in the file.", hint="Write it like 3=ana@example.org."
            )
        people[int(number)] = who
    rule = rule_of(control, choice, field, comment, dataset)
    tell_import(read(Judgments.open(opened(workspace).judgments_url), path, rule, people), json)


def rule_of(control: str, choice: list[str] | None, field: list[str] | None, comment: str, dataset: str) -> "Rule":
    """The options as a rule of reading."""
    from berdseye.annotation.label_studio.imports import Rule
    from berdseye.data.workspace import checked_name

    means = {name: meaning.strip("'\"") for name, meaning in _pairs(choice, "choice").items()}
    return Rule(control, means, comment, _pairs(field, "field"), checked_name("dataset", dataset))  # type: ignore[arg-type]


def tell_import(done: object, json: bool) -> None:
    """Say what an import did; exit status 1 where something could not be read."""
    if json:
        print_json(done.__dict__)
    else:
        for problem in done.__dict__["problems"]:
            note(problem)
        note(str(done))
    if done.__dict__["problems"]:
        raise typer.Exit(1)


def _tell(sent: "list[Sent]", json: bool) -> None:
    if json:
        print_json([{"project": one.project.title, **one.report.__dict__} for one in sent])
        return
    for one in sent:
        note(f"{one.project.title}: {one.report}")
        for problem in one.report.problems[1:]:
            note(problem)
        for warning in one.report.warnings:
            note(f"Warning: {warning}")


def _pairs(given: list[str] | None, option: str) -> dict[str, str]:
    found = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not (name.strip() and sign and value.strip()):
            raise BadInputError(f"--{option} '{text}' is not of the form NAME=VALUE.", hint="Write both.")
        found[name.strip()] = value.strip()
    return found
