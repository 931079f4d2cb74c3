"""The sign-in of people to Label Studio, for the page and the command line: who may see a password, and the text that
explains how to sign in."""

from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.label_studio.accounts import Account, give_account
from berdseye.annotation.label_studio.connection import connect
from berdseye.annotation.people import people
from berdseye.app.access.acting import acting
from berdseye.app.access.roles import check
from berdseye.data.workspace import Workspace

AS_ADMIN = (
    "Judgments made as the admin count as the admin's ({email}), not as those of the person who made them. "
    "To judge, sign in with your own account."
)


def account_for(
    workspace: Workspace, judgments: Judgments, person: Annotator, *, reset: bool = False
) -> tuple[Account, bool]:  # fmt: skip
    """Return a person's account, created if it is missing, and whether the acting person may see its password.

    In team mode only the account's person may see it, and only an admin may reset the password of another person. Raises
    `RefusedError`.
    """
    settings = workspace.people
    may_see = True
    if settings.team:
        who = acting(settings)
        addresses = {one.annotator.id: one.email for one in people(judgments)}
        may_see = addresses.get(person.id) == who
        if not may_see:
            check(settings.role_of(who), "administer", who)
    return give_account(judgments, connect(workspace), person, reset=reset), may_see


def sign_in_lines(account: Account, *, seen: bool = True) -> list[str]:
    """Return the lines that explain how the person signs in."""
    if account.ours and account.password:
        shown = account.password if seen else f"(only {account.person} sees it, on the Label Studio page)"
        return [f"address   {account.url}", f"e-mail    {account.email}", f"password  {shown}"]
    if account.ours:
        return [
            f"{account.person} has the account {account.email} at {account.url}, with a password that Berdseye did not set.",
            f'To set a new one: berdseye label-studio account "{account.person}" --reset',
        ]
    lines = [f"Berdseye did not start the Label Studio server at {account.url} and cannot set passwords there."]
    if account.password_form:
        lines.append(
            f"{account.person} has the account {account.email}. An admin of that server can set its password at:"
        )
        lines.append(account.password_form)
    elif account.invitation:
        address = f" with the address {account.email}" if account.email else " with their own address"
        lines.append(f"{account.person} has no account there and can sign up{address} at:")
        lines.append(account.invitation)
        if not account.email:
            lines.append(f'Then register the address with Berdseye: berdseye people link "{account.person}" ADDRESS')
    else:
        lines.append(f"{account.person} has no account there. Ask an admin of that server for an invitation.")
    return lines
