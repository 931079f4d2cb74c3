"""`people list | link | unlink | roles`: who is known here, by which address, and what they may."""

from typing import Annotated

import typer

from berdseye.app.commands.console import note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, opened

people = typer.Typer(no_args_is_help=True, help="Who is known here, by which e-mail address, and what they may.")
NameArgument = Annotated[str, typer.Argument(help="The name they judge under.")]


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(people, name="people")


@people.command("list")
def list_all(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List everyone known here: name, address, role, and whether they have signed in at the provider.

    Example: `berdseye people list`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.people import people as known

    held = opened(workspace)
    settings = held.people
    rows = [
        {
            "name": person.annotator.name,
            "email": person.email,
            "role": (settings.role_of(person.email) if settings.team and person.email else None) or "",
            "signed_in": person.signed_in,
            "made_up": person.annotator.demo,
        }
        for person in known(Judgments.open(held.judgments_url))
    ]
    if json:
        print_json(rows)
        return
    for row in rows:
        state = "made up" if row["made_up"] else "signed in" if row["signed_in"] else "by name"
        print(f"{row['name']}\t{row['email'] or '-'}\t{row['role'] or '-'}\t{state}")


@people.command()
def link(
    name: NameArgument,
    email: Annotated[str, typer.Argument(help="Their e-mail address, as the provider knows it.")],
    workspace: WorkspaceOption = None,
) -> None:
    """Let whoever signs in with an address go on as someone known here; whoever held the address does so no more.

    Example: `berdseye people link Ana ana@example.org`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.people import link as linked

    person = linked(Judgments.open(opened(workspace).judgments_url), name, email)
    note(f"{email} is {person.name} from now on.")


@people.command()
def unlink(name: NameArgument, workspace: WorkspaceOption = None) -> None:
    """Take the address and the sign-in from someone; what they judged stays theirs.

    Example: `berdseye people unlink Ana`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.people import unlink as unlinked

    person = unlinked(Judgments.open(opened(workspace).judgments_url), name)
    note(f"Nobody signs in as {person.name} now.")


@people.command()
def roles() -> None:
    """Print what each role may.

    Example: `berdseye people roles`
    """
    from berdseye.app.access.roles import MAY, RIGHTS

    for role, rights in MAY.items():
        print(f"{role}\t{', '.join(right for right in RIGHTS if right in rights)}")
