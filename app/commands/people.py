"""`berdseye people`: the people of a workspace, their e-mail addresses and roles."""

from enum import StrEnum
from typing import Annotated

import typer

from berdseye.app.commands.console import note, print_json
from berdseye.app.commands.options import JsonOption, WorkspaceOption, open_workspace
from berdseye.data.errors import BadInputError

people = typer.Typer(
    no_args_is_help=True, help="List people, link names to addresses, and estimate how reliable each person is."
)
NameArgument = Annotated[str, typer.Argument(help="The name that the person judges under.")]


class Model(StrEnum):
    """The models of annotators."""

    DAWID_SKENE = "dawid-skene"
    MACE = "mace"
    GLAD = "glad"


class ReliabilityTable(StrEnum):
    """The tables of `berdseye people reliability`."""

    PEOPLE = "people"
    PAIRS = "pairs"
    CONTESTED = "contested"


def register(cli: typer.Typer) -> None:
    """Add the commands."""
    cli.add_typer(people, name="people")


@people.command("list")
def list_all(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the people of the workspace: name, address, role, and whether they have signed in through the identity provider.

    Example: `berdseye people list`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.people import people as known_people

    ws = open_workspace(workspace)
    settings = ws.people
    rows = [
        {
            "name": person.annotator.name,
            "email": person.email,
            "role": (settings.role_of(person.email) if settings.team and person.email else None) or "",
            "signed_in": person.signed_in,
            "made_up": person.annotator.demo,
        }
        for person in known_people(Judgments.open(ws.judgments_url))
    ]
    if json:
        print_json(rows)
        return
    for row in rows:
        state = "simulated" if row["made_up"] else "signed in" if row["signed_in"] else "by name"
        print(f"{row['name']}\t{row['email'] or '-'}\t{row['role'] or '-'}\t{state}")


@people.command()
def link(
    name: NameArgument,
    email: Annotated[str, typer.Argument(help="The person's e-mail address, as the identity provider reports it.")],
    workspace: WorkspaceOption = None,
) -> None:
    """Link an e-mail address to a known person, who then signs in with it; a former holder of the address loses it.

    Example: `berdseye people link Ana ana@example.org`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.people import link as linked

    person = linked(Judgments.open(open_workspace(workspace).judgments_url), name, email)
    note(f"{email} now signs in as {person.name}.")


@people.command()
def unlink(name: NameArgument, workspace: WorkspaceOption = None) -> None:
    """Remove the address and the sign-in of a person, who keeps their judgments.

    Example: `berdseye people unlink Ana`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.people import unlink as unlinked

    person = unlinked(Judgments.open(open_workspace(workspace).judgments_url), name)
    note(f"{person.name} can no longer sign in.")


@people.command()
def roles() -> None:
    """Print the rights of each role.

    Example: `berdseye people roles`
    """
    from berdseye.app.access.roles import MAY, RIGHTS

    for role, rights in MAY.items():
        print(f"{role}\t{', '.join(right for right in RIGHTS if right in rights)}")


@people.command()
def reliability(
    model: Annotated[Model, typer.Option(help="The model. mace and glad need the extra crowd.")] = Model.DAWID_SKENE,
    part: Annotated[
        ReliabilityTable,
        typer.Option(
            help="people: their ability; pairs: their probability and whom to ask next; contested: pairs on which reliable "
            "people disagree, with their texts (by dawid-skene only, as is whom to ask).",
        ),
    ] = ReliabilityTable.PEOPLE,
    no_demo: Annotated[bool, typer.Option("--no-demo", help="Exclude the simulated annotators of the demo.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Estimate how reliable each person is and how certain each pair's label, from the labels alone.

    dawid-skene gives each person a sensitivity and a specificity with 95% intervals (posterior, uniform priors). shared counts
    the person's pairs that somebody else judged too: if it is 0, the labels say nothing of the person, and the intervals are 0
    to 1. 'unsure' and skipped pairs are left out.

    Example: `berdseye people reliability --part pairs`
    """
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.evaluation.agreement.people import contested_pairs, reliability_table

    if part == ReliabilityTable.CONTESTED and model != Model.DAWID_SKENE:
        raise BadInputError(f"{model.value} does not say which pairs are contested.", hint="Use dawid-skene.")
    judgments = Judgments.open(open_workspace(workspace).judgments_url)
    if part == ReliabilityTable.CONTESTED:
        table = contested_pairs(judgments, demo=not no_demo)
    else:
        table = reliability_table(judgments, model.value, pairs=part == ReliabilityTable.PAIRS, demo=not no_demo)
    if json:
        print_json(table.to_dict("records"))
        return
    print(table.to_string(index=False, float_format="%.3f"))
