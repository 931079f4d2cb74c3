"""Annotators here and users there: who is who. An e-mail address decides where an annotator has one, else the name."""

import re
import unicodedata
from collections import defaultdict
from typing import Any

from annotation.database import writing
from annotation.judgments import Annotator, Judgments, folded_name
from annotation.label_studio.connection import Connection
from annotation.people import people
from annotation.schema import annotators
from data.errors import BadInputError
from data.people import folded_email

_DOMAIN = "berdseye.local"
_LONGEST_NAME = 120
_OURS = re.compile(rf"(?P<slug>[a-z0-9-]+)-(?P<id>\d+)@{re.escape(_DOMAIN)}")


def email_of(person: Annotator) -> str:
    """The e-mail address under which Label Studio knows an annotator."""
    plain = unicodedata.normalize("NFKD", person.name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-") or "annotator"
    return f"{slug}-{person.id}@{_DOMAIN}"


def name_of(user: Any) -> str:
    """What to call a user of Label Studio here."""
    return name_of_account(user.first_name, user.last_name, user.email, user.id)


def name_of_account(first: str | None, last: str | None, email: str | None, number: object) -> str:
    """What to call someone of this first and last name and address: a printable name of at most 120 characters."""
    for name in (f"{first or ''} {last or ''}", (email or "").partition("@")[0]):
        shown = " ".join("".join(c if c.isprintable() else " " for c in name).split())[:_LONGEST_NAME]
        if shown:
            return shown
    return f"Label Studio user {number}"


def address_of(email: str | None) -> str:
    """An address of someone's own as it is compared; empty for none, and for one that was made up here."""
    try:
        address = folded_email(email or "")
    except BadInputError:
        return ""
    return "" if address.endswith(f"@{_DOMAIN}") else address


class Directory:
    """Annotators by what Label Studio says of a person."""

    def __init__(self, judgments: Judgments) -> None:
        self._judgments = judgments
        known = people(judgments)
        self.annotators = {person.annotator.id: person.annotator for person in known}
        self.emails = {person.annotator.id: person.email for person in known if person.email}
        self._by_email = {person.email: person.annotator for person in known if person.email}
        self._by_name = {folded_name(person.annotator.name): person.annotator for person in known}

    def known(self, email: str | None, name: str) -> Annotator | None:
        """The annotator of this address; else the one of this name, where no two addresses tell them apart."""
        if (found := self._by_email.get(address_of(email))) is not None:
            return found
        ours = _OURS.fullmatch(email or "")
        if ours is not None:
            person = self.annotators.get(int(ours["id"]))
            # Another workspace's annotator may bear the same number: the address has to fit as a whole.
            if person is not None and email_of(person) == email:
                return person
        same = self._by_name.get(folded_name(name))
        return None if same is None or (address_of(email) and same.id in self.emails) else same

    def find_or_sign_in(self, email: str | None, name: str) -> Annotator:
        """The annotator that someone is, new where nobody is; a name that another bears is told apart by the address."""
        if (found := self.known(email, name)) is not None:
            return found
        address = address_of(email)
        taken = folded_name(name) in self._by_name
        person = self._judgments.sign_in(f"{name[:60]} ({address})"[:_LONGEST_NAME] if taken else name)
        if address:
            with writing(self._judgments.engine) as connection:
                row = annotators.c.id == person.id, annotators.c.email.is_(None)
                connection.execute(annotators.update().where(*row).values(email=address))
            self.emails[person.id], self._by_email[address] = address, person
        self.annotators[person.id] = self._by_name[folded_name(person.name)] = person
        return person


class People:
    """Users of the server by annotator, and annotators by user; each is made when first needed."""

    def __init__(self, judgments: Judgments, connection: Connection) -> None:
        self._judgments, self._connection = judgments, connection
        self._users: dict[int, Any] = {user.id: user for user in connection.client.users.list()}
        self._directory = Directory(judgments)
        self._person_of: dict[int, Annotator] = {}
        self._users_of: dict[int, set[int]] = defaultdict(set)
        for user in self._users.values():
            if (known := self._directory.known(user.email, name_of(user))) is not None:
                self._link(user.id, known)

    def annotator(self, user: int) -> Annotator | None:
        """The annotator that a user is, signed in here when new; None for a user the server does not list."""
        if user not in self._person_of:
            if user not in self._users:
                return None
            there = self._users[user]
            self._link(user, self._directory.find_or_sign_in(there.email, name_of(there)))
        return self._person_of[user]

    def known(self, user: int) -> Annotator | None:
        """The annotator that a user is; None for one who is new here, and is not signed in by this."""
        return self._person_of.get(user)

    def called(self, user: int) -> str | None:
        """What to call a user here; None for one the server does not list."""
        return name_of(self._users[user]) if user in self._users else None

    def user(self, annotator: int) -> int:
        """The user as whom an annotator's judgments are sent, made when there is none."""
        if annotator not in self._directory.annotators:
            self._directory = Directory(self._judgments)
        person = self._directory.annotators[annotator]
        email = self._directory.emails.get(annotator) or email_of(person)
        known = self._users_of[annotator]
        number = min([u for u in known if (self._users[u].email or "").casefold() == email] or known, default=None)
        client = self._connection.client
        if number is None:
            made = client.users.create(username=email.partition("@")[0][:30], email=email, first_name=person.name)
            number = int(made.id)
            self._users[number] = made
            self._link(number, person)
        # Without an active organization a user exists but sees no project; a crash may have come between the
        # two calls.
        if self._users[number].active_organization is None:
            self._users[number] = client.users.update(number, active_organization=self._connection.organization)
        return number

    def _link(self, user: int, person: Annotator) -> None:
        self._person_of[user] = person
        self._users_of[person.id].add(user)
