"""How each person signs in to Label Studio as themselves, so that what they judge there comes back as theirs.

On the server that Berdseye starts, every account gets a random password. The API cannot set one, and the command
`label-studio reset_password` opens the database by the environment of whoever calls it, which need not be the server's
(PostgreSQL). So the form is used that Django has for this, under /admin/, on the running server, with the admin's sign-in.

On a server of someone else's no password can be set: people sign up there by the organization's invitation link.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from berdseye.annotation.judgments.log import Annotator, Judgments
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.people import People, address_of, email_of
from berdseye.annotation.label_studio.sdk import ApiError
from berdseye.annotation.label_studio.server import Credentials, Password, read_passwords, write_passwords
from berdseye.annotation.people import people as known_people
from berdseye.data.errors import BadInputError, BerdseyeError

_PASSWORD_BYTES = 15
_SECONDS = 60.0


@dataclass(frozen=True)
class Account:
    """How a person signs in at `url`: with `email` and `password`.

    The password is empty where Berdseye knows none. On a server of someone else's (`ours` is false), `invitation` is where a
    person without an account signs up with that address, and `password_form` where an admin of that server sets the password
    of one who has an account.
    """

    person: str
    url: str
    email: str
    password: str = field(default="", repr=False)
    ours: bool = True
    invitation: str = field(default="", repr=False)
    password_form: str = ""


def known_account(judgments: Judgments, folder: Path, url: str, person: Annotator) -> Account | None:
    """A person's account on the server that Berdseye started in `folder`, as it was noted there; asks no server.

    None where no password was given yet. Raises `BadInputError` for a damaged file of passwords.
    """
    held = read_passwords(folder)
    email = next((one for one in _addresses(judgments, person) if one in held), None)
    return None if email is None else Account(person.name, url, email, held[email].password)


def give_account(
    judgments: Judgments, connection: Connection, person: Annotator, *, reset: bool = False
) -> Account:  # fmt: skip
    """A person's account, made where there is none and Berdseye may; with `reset`, under a new password.

    An account under the person's own address that was there before is left its password, which is theirs, unless `reset` asks.
    Raises `BadInputError` for a made-up person, and for `reset` on a server of someone else's.
    """
    if person.demo:
        raise BadInputError("A made-up person of the demo has no account.", hint="Choose another name.")
    if reset and connection.own is None:
        raise BadInputError(
            "Berdseye cannot set passwords on a Label Studio server that it did not start.",
            where=connection.url,
            hint="An admin of that server can: leave out --reset to see where.",
        )
    with connection.exclusively():
        people = People(judgments, connection)
        if connection.own is None:
            return _elsewhere(judgments, connection, people, person)
        return give_accounts(connection, people, [person], reset=reset)[0]


def give_accounts(
    connection: Connection, people: People, persons: Sequence[Annotator], *, reset: bool = False
) -> list[Account]:
    """The accounts of these people on the server that Berdseye started, made where missing; within an exchange."""
    assert connection.own is not None
    held = read_passwords(connection.folder)
    given: list[Account] = []
    with _AdminPages(connection.url, connection.own) as pages:
        for person in persons:
            before = people.account(person.id)
            there = people.provided(person.id)
            number = int(there.id)
            email = str(there.email).casefold()
            known = held.get(email)
            if known is not None and (known.user, known.joined) != (number, _joined(there)):
                known = None  # of an account of this address on a server that was emptied since
            theirs = before is not None and bool(address_of(email))
            if reset or (known is None and not theirs):
                known = Password(secrets.token_urlsafe(_PASSWORD_BYTES), number, _joined(there))
                # First there: a password that is noted here and does not hold could not be told from one that does.
                pages.set_password(number, known.password)
                held[email] = known
                write_passwords(connection.folder, held)
            given.append(Account(person.name, connection.url, email, known.password if known else ""))
    return given


def without_account(people: People, persons: Sequence[Annotator]) -> list[Annotator]:
    """Those of these people for whom the server lists no account."""
    return [person for person in persons if people.account(person.id) is None]


def _elsewhere(judgments: Judgments, connection: Connection, people: People, person: Annotator) -> Account:
    there = people.account(person.id)
    if there is not None:
        form = f"{connection.url}/admin/users/user/{there.id}/password/"
        return Account(person.name, connection.url, str(there.email), ours=False, password_form=form)
    try:
        link = connection.client.organizations.invites.get_invite_link().invite_url or ""
    except ApiError:  # a token that may not invite, or another edition
        link = ""
    address = next((one for one in _addresses(judgments, person) if address_of(one)), "")
    invitation = f"{connection.url}{link}" if link.startswith("/") else link
    return Account(person.name, connection.url, address, ours=False, invitation=invitation)


def _addresses(judgments: Judgments, person: Annotator) -> list[str]:
    """The addresses under which an account may be a person's, their own first."""
    own = next((one.email for one in known_people(judgments) if one.annotator.id == person.id), "")
    return [address for address in (own, email_of(person)) if address]


def _joined(user: Any) -> str:
    return str(user.date_joined)


class _AdminPages:
    """The admin's pages of a Label Studio server, signed in to when first needed."""

    def __init__(self, url: str, admin: Credentials) -> None:
        self._url, self._admin, self._signed_in = url, admin, False
        # Nothing of this may reach a proxy of the environment: the server is on this machine.
        self._http = httpx.Client(base_url=url, trust_env=False, timeout=_SECONDS, headers={"Connection": "close"})

    def __enter__(self) -> "_AdminPages":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def set_password(self, user: int, password: str) -> None:
        """Set a user's password; raises `BerdseyeError` where the server does not take it."""
        if not self._signed_in:
            self._submit("/user/login/", {"email": self._admin.email, "password": self._admin.password})
            self._signed_in = True
        fields = {"password1": password, "password2": password, "usable_password": "true"}
        self._submit(f"/admin/users/user/{user}/password/", fields)

    def _submit(self, path: str, fields: dict[str, str]) -> None:
        self._http.get(path)
        token = self._http.cookies.get("csrftoken", "")
        answer = self._http.post(path, data={**fields, "csrfmiddlewaretoken": token}, headers={"Referer": self._url})
        # A form that was taken leads on; one that was refused is shown again.
        if answer.status_code != httpx.codes.FOUND:
            raise BerdseyeError(
                f"Label Studio did not let its admin set a password ({answer.status_code}).",
                where=f"{self._url}{path}",
                hint="The admin's password may have been changed there: credentials.json has to hold the present one.",
            )
