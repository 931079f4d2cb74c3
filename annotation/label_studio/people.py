"""Annotators here and users there: who is who.

An e-mail address decides where an annotator has one, else the name, where only one account can be meant by it. What was
received once stays with the annotator under whom it was received, whatever becomes of the account there.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import Annotator, Judgments, folded_name
from berdseye.annotation.judgments.schema import annotators
from berdseye.annotation.label_studio.connection import Connection
from berdseye.annotation.label_studio.exchange_state import read_authors
from berdseye.annotation.label_studio.sdk import ApiError
from berdseye.annotation.label_studio.server import ADMIN_EMAIL
from berdseye.annotation.people import people
from berdseye.data.errors import BadInputError
from berdseye.data.people import folded_email

_DOMAIN = "berdseye.local"
_LONGEST_NAME = 120
_OURS = re.compile(rf"(?P<slug>[a-z0-9-]+)-(?P<id>\d+)@{re.escape(_DOMAIN)}")
_REMOVED = "Deleted"
"""What Label Studio shows in the place of the address of everyone who was removed from the organization."""
_BAD_REQUEST = 400


def email_of(person: Annotator) -> str:
    """The e-mail address under which Label Studio knows an annotator."""
    plain = unicodedata.normalize("NFKD", person.name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-") or "annotator"
    return f"{slug}-{person.id}@{_DOMAIN}"


def name_of(user: Any) -> str:
    """What to call a user of Label Studio here."""
    return name_of_account(user.first_name, user.last_name, user.email, user.id)


def name_of_account(first: str | None, last: str | None, email: str | None, number: object) -> str:
    """What to call someone of this first and last name and address: a printable name of at most 120 characters.

    The admin of Berdseye's own server is nobody in person, and keeps its whole address as its name.
    """
    if email == ADMIN_EMAIL:
        return ADMIN_EMAIL
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
    """Annotators by what Label Studio says of a person; `accounts` are the (address, name) of all who may turn up.

    A name is a guess. It counts only where one account can be meant: not where two accounts have the name, nor where the
    annotator is known there by an account of their own.
    """

    def __init__(self, judgments: Judgments, accounts: Iterable[tuple[str | None, str]] = ()) -> None:
        self._judgments = judgments
        known = people(judgments)
        self.annotators = {person.annotator.id: person.annotator for person in known}
        self.emails = {person.annotator.id: person.email for person in known if person.email}
        self._by_email = {person.email: person.annotator for person in known if person.email}
        self._by_name = {folded_name(person.annotator.name): person.annotator for person in known}
        listed = set(accounts)
        self._names = Counter(folded_name(name) for email, name in listed if self._surely(email) is None)
        self._sure = {found.id for email, _ in listed if (found := self._surely(email)) is not None}

    def known(self, email: str | None, name: str) -> Annotator | None:
        """The annotator of this address; else the one of this name, where nothing says that it is somebody else."""
        if (found := self._surely(email)) is not None:
            return found
        folded = folded_name(name)
        same = self._by_name.get(folded)
        if same is None or same.id in self._sure or self._names[folded] > 1:
            return None
        return None if address_of(email) and same.id in self.emails else same

    def find_or_sign_in(self, email: str | None, name: str) -> Annotator:
        """The annotator that someone is, new where nobody is; a name that another bears is told apart by the address."""
        if (found := self.known(email, name)) is not None:
            return found
        address = address_of(email)
        taken = folded_name(name) in self._by_name
        person = self._judgments.sign_in(f"{name[:60]} ({address or email})"[:_LONGEST_NAME] if taken else name)
        if address:
            with writing(self._judgments.engine) as connection:
                row = annotators.c.id == person.id, annotators.c.email.is_(None)
                connection.execute(annotators.update().where(*row).values(email=address))
            self.emails[person.id], self._by_email[address] = address, person
        self.annotators[person.id] = self._by_name[folded_name(person.name)] = person
        return person

    def _surely(self, email: str | None) -> Annotator | None:
        """The annotator to whom an address belongs, whatever the name."""
        if (found := self._by_email.get(address_of(email))) is not None:
            return found
        ours = _OURS.fullmatch(email or "")
        person = None if ours is None else self.annotators.get(int(ours["id"]))
        # Another workspace's annotator may bear the same number: the address has to fit as a whole.
        return person if person is not None and email_of(person) == email else None


class People:
    """Users of the server by annotator, and annotators by user; each is made when first needed."""

    def __init__(self, judgments: Judgments, connection: Connection) -> None:
        self._judgments, self._connection = judgments, connection
        self._users: dict[int, Any] = {
            user.id: user for user in connection.client.users.list() if user.email != _REMOVED
        }
        self._directory = Directory(judgments, [(user.email, name_of(user)) for user in self._users.values()])
        self._person_of: dict[int, Annotator] = {}
        self._users_of: dict[int, set[int]] = defaultdict(set)
        self._authors: dict[tuple[str, int], int] = {}
        for user in self._users.values():
            if (known := self._directory.known(user.email, name_of(user))) is not None:
                self._link(user.id, known)

    def recall(self, project: str, pairs: Sequence[str]) -> None:
        """Remember under whom the annotations of these pairs were received from, or sent to, a project (`Project.key`)."""
        with self._judgments.reading() as database:
            self._authors |= read_authors(database, project, pairs)

    def author(self, pair: str, annotation: int, user: int | None) -> Annotator | None:
        """Whose an annotation is: the person under whom it is known, else the user's; None where nobody can say.

        An account that was renamed, moved to another address or deleted takes nobody's words away, and gives none to others.
        """
        known = self._directory.annotators.get(self._authors.get((pair, annotation), 0))
        return known or (None if user is None else self.annotator(user))

    def annotator(self, user: int) -> Annotator | None:
        """The annotator that a user is, signed in here when new; None for a user the server does not list."""
        if user not in self._person_of:
            if user not in self._users:
                return None
            there = self._users[user]
            self._link(user, self._directory.find_or_sign_in(there.email, name_of(there)))
        return self._person_of[user]

    def known(self, pair: str, annotation: int, user: int | None) -> Annotator | None:
        """`author`, but None for one who is new here: nobody is signed in by this."""
        known = self._directory.annotators.get(self._authors.get((pair, annotation), 0))
        return known or self._person_of.get(user or 0)

    def called(self, user: int | None) -> str | None:
        """What to call a user here; None for one the server does not list."""
        return name_of(self._users[user]) if user in self._users else None

    def name(self, annotator: int) -> str:
        """The name of an annotator."""
        person = self._directory.annotators.get(annotator)
        return f"annotator {annotator}" if person is None else person.name

    def listed(self, user: int | None) -> int | None:
        """A user's number where the server lists it, else None."""
        return user if user in self._users else None

    def account(self, annotator: int) -> Any | None:
        """The user as whom an annotator's judgments are sent; None where there is none yet."""
        email = self._email_of(annotator)
        known = self._users_of[annotator]
        same = [u for u in known if (self._users[u].email or "").casefold() == email]
        number = min(same or known, default=None)
        return None if number is None else self._users[number]

    def user(self, annotator: int) -> int:
        """The number of the user as whom an annotator's judgments are sent, made when there is none."""
        return int(self.provided(annotator).id)

    def provided(self, annotator: int) -> Any:
        """That user, made when there is none."""
        client = self._connection.client
        there = self.account(annotator)
        if there is None:
            there = self._made(annotator)
        # Without an active organization a user exists but sees no project; a crash may have come between the
        # two calls.
        if there.active_organization is None:
            there = client.users.update(there.id, active_organization=self._connection.organization)
            self._users[there.id] = there
        return there

    def _email_of(self, annotator: int) -> str:
        if annotator not in self._directory.annotators:
            self._directory = Directory(self._judgments, [(u.email, name_of(u)) for u in self._users.values()])
        person = self._directory.annotators[annotator]
        return self._directory.emails.get(annotator) or email_of(person)

    def _made(self, annotator: int) -> Any:
        person, email = self._directory.annotators[annotator], self._email_of(annotator)
        if self._connection.own is None:
            # Nobody can be given a password on a server of someone else's: an account under the person's own address
            # would only keep them from signing up with it.
            email = email_of(person)
        try:
            made = self._connection.client.users.create(
                username=email.partition("@")[0][:30], email=email, first_name=person.name
            )
        except ApiError as error:
            if error.status_code != _BAD_REQUEST or "already exists" not in str(error.body):
                raise
            raise BadInputError(
                f"The account {email} of {person.name} was removed from the organization in Label Studio.",
                where=self._connection.url,
                hint="Its admin can take it back in at /admin/organizations/organizationmember/: clear 'deleted at'.",
            ) from error
        self._users[made.id] = made
        self._link(made.id, person)
        return made

    def _link(self, user: int, person: Annotator) -> None:
        self._person_of[user] = person
        self._users_of[person.id].add(user)
