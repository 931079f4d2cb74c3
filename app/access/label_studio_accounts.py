"""Who is shown how to sign in to Label Studio, and in which words: for the page and the command line alike."""

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
    """A person's account, made where it is missing, and whether whoever asks may see its password.

    In team mode that is the person alone; to reset the password of another takes an admin. Raises `RefusedError`.
    """
    settings = workspace.people
    seen = True
    if settings.team:
        who = acting(settings)
        addresses = {one.annotator.id: one.email for one in people(judgments)}
        seen = addresses.get(person.id) == who
        if not seen:
            check(settings.role_of(who), "administer", who)
    return give_account(judgments, connect(workspace), person, reset=reset), seen


def sign_in_lines(account: Account, *, seen: bool = True) -> list[str]:
    """How the person signs in, in lines."""
    if account.ours and account.password:
        shown = account.password if seen else f"(shown to {account.person} alone, on the page Label Studio)"
        return [f"address   {account.url}", f"e-mail    {account.email}", f"password  {shown}"]
    if account.ours:
        return [
            f"{account.person} has the account {account.email} at {account.url}, with a password that Berdseye did not set.",
            f'To set a new one: berdseye label-studio account "{account.person}" --reset',
        ]
    sign_in_lines = [
        f"Berdseye did not start the Label Studio server at {account.url}, and cannot set passwords there."
    ]
    if account.password_form:
        sign_in_lines.append(
            f"{account.person} has the account {account.email}. An admin of that server sets its password at:"
        )
        sign_in_lines.append(account.password_form)
    elif account.invitation:
        address = f" with the address {account.email}" if account.email else ", with an address of their own"
        sign_in_lines.append(f"{account.person} has no account there, and signs up{address} at:")
        sign_in_lines.append(account.invitation)
        if not account.email:
            sign_in_lines.append(f'Then let Berdseye know the address: berdseye people link "{account.person}" ADDRESS')
    else:
        sign_in_lines.append(f"{account.person} has no account there. Ask an admin of that server for an invitation.")
    return sign_in_lines
