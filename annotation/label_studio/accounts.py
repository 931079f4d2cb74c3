"""People's own accounts on Label Studio, so that what they judge there comes back under their names.

On the server that Berdseye starts, every account gets a random password. The API cannot set one, and the command
`label-studio reset_password` opens the database named by the environment of its caller, which may not be the server's
database (PostgreSQL). So Berdseye uses Django's password form under /admin/ on the running server, signed in as the admin.

On any other server Berdseye cannot set passwords: people sign up there by the organization's invitation link.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.label_studio.connection import ApiError, Connection
from berdseye.annotation.label_studio.people import People, address_of, email_of
from berdseye.annotation.label_studio.server import Credentials, Password, read_passwords, write_passwords
from berdseye.annotation.people import people as known_people
from berdseye.data.errors import BadInputError, BerdseyeError

_PASSWORD_BYTES = 15
_SECONDS = 60.0


@dataclass(frozen=True)
class Account:
    """A person's account at `url`: its `email` and `password` (empty: Berdseye does not know it).

    On a server that Berdseye did not start (`ours` is false), `invitation` is the address where a person without an account
    signs up with that e-mail address, and `password_form` the address where an admin of that server sets the password of a
    person who has an account.
    """

    person: str
    url: str
    email: str
    password: str = field(default="", repr=False)
    ours: bool = True
    invitation: str = field(default="", repr=False)
    password_form: str = ""


def known_account(judgments: Judgments, folder: Path, url: str, person: Annotator) -> Account | None:
    """Return a person's account on the server that Berdseye started in `folder`, from the file there, without a request.

    None if the person has no password yet. Raises `BadInputError` for a damaged file of passwords.
    """
    passwords = read_passwords(folder)
    email = next((one for one in _addresses(judgments, person) if one in passwords), None)
    return None if email is None else Account(person.name, url, email, passwords[email].password)


def give_account(
    judgments: Judgments, connection: Connection, person: Annotator, *, reset: bool = False
) -> Account:  # fmt: skip
    """Return a person's account, created if there is none and Berdseye may create one; `reset` sets a new password.

    An existing account under the person's own address keeps its password, which they chose, unless `reset` is set.
    Raises `BadInputError` for a simulated annotator, and for `reset` on a server that Berdseye did not start.
    """
    if person.demo:
        raise BadInputError(
            f"{person.name} is a simulated annotator of the demo and cannot have an account.",
            hint="Choose another name.",
        )
    if reset and connection.own is None:
        raise BadInputError(
            "Berdseye cannot set passwords on a Label Studio server that it did not start.",
            where=connection.url,
            hint="An admin of that server can: omit --reset to see the address of the form.",
        )
    with connection.exclusively():
        people = People(judgments, connection)
        if connection.own is None:
            return _external_account(judgments, connection, people, person)
        return give_accounts(connection, people, [person], reset=reset)[0]


def give_accounts(
    connection: Connection, people: People, persons: Sequence[Annotator], *, reset: bool = False
) -> list[Account]:
    """Return the accounts of these people on the server that Berdseye started; missing ones are created.

    Call it while holding `Connection.exclusively`.
    """
    assert connection.own is not None
    passwords = read_passwords(connection.folder)
    accounts: list[Account] = []
    with _AdminPages(connection.url, connection.own) as pages:
        for person in persons:
            before = people.account(person.id)
            user = people.provided(person.id)
            number = int(user.id)
            email = str(user.email).casefold()
            password = passwords.get(email)
            if password is not None and (password.user, password.joined) != (number, _joined(user)):
                password = None  # of an account with this address on a server that was emptied since
            chosen_by_person = before is not None and bool(address_of(email))
            if reset or (password is None and not chosen_by_person):
                password = Password(secrets.token_urlsafe(_PASSWORD_BYTES), number, _joined(user))
                # Set on the server first: a password that is noted here but not valid there would look like a valid one.
                pages.set_password(number, password.password)
                passwords[email] = password
                write_passwords(connection.folder, passwords)
            accounts.append(Account(person.name, connection.url, email, password.password if password else ""))
    return accounts


def without_account(people: People, persons: Sequence[Annotator]) -> list[Annotator]:
    """Return those of these people who have no account on the server."""
    return [person for person in persons if people.account(person.id) is None]


def _external_account(judgments: Judgments, connection: Connection, people: People, person: Annotator) -> Account:
    user = people.account(person.id)
    if user is not None:
        password_form = f"{connection.url}/admin/users/user/{user.id}/password/"
        return Account(person.name, connection.url, str(user.email), ours=False, password_form=password_form)
    try:
        link = connection.client.organizations.invites.get_invite_link().invite_url or ""
    except ApiError:  # a token that may not invite, or another edition
        link = ""
    address = next((one for one in _addresses(judgments, person) if address_of(one)), "")
    invitation = f"{connection.url}{link}" if link.startswith("/") else link
    return Account(person.name, connection.url, address, ours=False, invitation=invitation)


def _addresses(judgments: Judgments, person: Annotator) -> list[str]:
    """Return the e-mail addresses that a person's account may have, their own first."""
    own = next((one.email for one in known_people(judgments) if one.annotator.id == person.id), "")
    return [address for address in (own, email_of(person)) if address]


def _joined(user: Any) -> str:
    return str(user.date_joined)


class _AdminPages:
    """The admin pages of a Label Studio server; signs in when first needed."""

    def __init__(self, url: str, admin: Credentials) -> None:
        self._url, self._admin, self._signed_in = url, admin, False
        # No request may go through a proxy named in the environment: the server is on this machine.
        self._http = httpx.Client(base_url=url, trust_env=False, timeout=_SECONDS, headers={"Connection": "close"})

    def __enter__(self) -> "_AdminPages":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def set_password(self, user: int, password: str) -> None:
        """Set a user's password; raises `BerdseyeError` if the server does not accept it."""
        if not self._signed_in:
            self._submit("/user/login/", {"email": self._admin.email, "password": self._admin.password})
            self._signed_in = True
        fields = {"password1": password, "password2": password, "usable_password": "true"}
        self._submit(f"/admin/users/user/{user}/password/", fields)

    def _submit(self, path: str, fields: dict[str, str]) -> None:
        self._http.get(path)
        token = self._http.cookies.get("csrftoken", "")
        answer = self._http.post(path, data={**fields, "csrfmiddlewaretoken": token}, headers={"Referer": self._url})
        # The server redirects after it accepts a form, and shows a refused form again.
        if answer.status_code != httpx.codes.FOUND:
            raise BerdseyeError(
                f"Label Studio did not accept the admin's request to set a password (status {answer.status_code}).",
                where=f"{self._url}{path}",
                hint="If the admin's password was changed there, put the new one into credentials.json.",
            )
