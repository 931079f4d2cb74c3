"""The mapping between annotators here and users of Label Studio.

An annotator's e-mail address decides, otherwise the name if it can mean only one account. A judgment that was pulled once
stays with the annotator under whom it was recorded, whatever happens to the account in Label Studio.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import Annotator, Judgments, folded_name
from berdseye.annotation.judgments.schema import annotators
from berdseye.annotation.label_studio.connection import ApiError, Connection
from berdseye.annotation.label_studio.exchange_state import read_authors
from berdseye.annotation.label_studio.server import ADMIN_EMAIL
from berdseye.annotation.people import people
from berdseye.data.errors import BadInputError
from berdseye.data.people import folded_email

_DOMAIN = "berdseye.local"
_LONGEST_NAME = 120
_OURS = re.compile(rf"(?P<slug>[a-z0-9-]+)-(?P<id>\d+)@{re.escape(_DOMAIN)}")
_REMOVED = "Deleted"
"""What Label Studio shows instead of the address of everyone who was removed from the organization."""
_BAD_REQUEST = 400


def email_of(person: Annotator) -> str:
    """Return the made-up e-mail address of an annotator's account in Label Studio."""
    plain = unicodedata.normalize("NFKD", person.name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-") or "annotator"
    return f"{slug}-{person.id}@{_DOMAIN}"


def name_of(user: Any) -> str:
    """Return the name that a user of Label Studio has here."""
    return name_of_account(user.first_name, user.last_name, user.email, user.id)


def name_of_account(first: str | None, last: str | None, email: str | None, number: object) -> str:
    """Return the name that someone with this first name, last name and address has here: printable, at most 120 characters.

    The admin account of Berdseye's own server is not a person, and keeps its full address as its name.
    """
    if email == ADMIN_EMAIL:
        return ADMIN_EMAIL
    for name in (f"{first or ''} {last or ''}", (email or "").partition("@")[0]):
        shown = " ".join("".join(c if c.isprintable() else " " for c in name).split())[:_LONGEST_NAME]
        if shown:
            return shown
    return f"Label Studio user {number}"


def address_of(email: str | None) -> str:
    """Return a person's own e-mail address in the form for comparison; empty for none and for one made up by Berdseye."""
    try:
        address = folded_email(email or "")
    except BadInputError:
        return ""
    return "" if address.endswith(f"@{_DOMAIN}") else address


class Directory:
    """Finds annotators by a person's data in Label Studio; `accounts` are the (address, name) of all possible people.

    A name is a guess. It counts only if it can mean just one account: not if two accounts have the name, and not if the
    annotator has an account of their own there.
    """

    def __init__(self, judgments: Judgments, accounts: Iterable[tuple[str | None, str]] = ()) -> None:
        self._judgments = judgments
        everyone = people(judgments)
        self.annotators = {person.annotator.id: person.annotator for person in everyone}
        self.emails = {person.annotator.id: person.email for person in everyone if person.email}
        self._by_email = {person.email: person.annotator for person in everyone if person.email}
        self._by_name = {folded_name(person.annotator.name): person.annotator for person in everyone}
        account_set = set(accounts)
        self._names = Counter(folded_name(name) for email, name in account_set if self._surely(email) is None)
        self._sure = {found.id for email, _ in account_set if (found := self._surely(email)) is not None}

    def known(self, email: str | None, name: str) -> Annotator | None:
        """Return the annotator of this address, otherwise of this name unless something shows that it is somebody else."""
        if (found := self._surely(email)) is not None:
            return found
        folded = folded_name(name)
        same = self._by_name.get(folded)
        if same is None or same.id in self._sure or self._names[folded] > 1:
            return None
        return None if address_of(email) and same.id in self.emails else same

    def find_or_sign_in(self, email: str | None, name: str) -> Annotator:
        """Return the annotator of this address or name, created if there is none; a name that is taken gets the address added."""
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
        """Return the annotator to whom an address belongs, whatever the name."""
        if (found := self._by_email.get(address_of(email))) is not None:
            return found
        ours = _OURS.fullmatch(email or "")
        person = None if ours is None else self.annotators.get(int(ours["id"]))
        # An annotator of another workspace may have the same number, so the whole address must match.
        return person if person is not None and email_of(person) == email else None


class People:
    """Users of the server by annotator, and annotators by user; each is created when first needed."""

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
        """Load the annotators under whom annotations of these pairs were exchanged with a project (`Project.key`)."""
        with self._judgments.reading() as database:
            self._authors |= read_authors(database, project, pairs)

    def author(self, pair: str, annotation: int, user: int | None) -> Annotator | None:
        """Return whose an annotation is: the annotator it was exchanged under, otherwise the user's; None if that is unknown.

        So an account that is renamed, moved to another address or deleted takes no judgments away, and gives none to others.
        """
        known = self._directory.annotators.get(self._authors.get((pair, annotation), 0))
        return known or (None if user is None else self.annotator(user))

    def annotator(self, user: int) -> Annotator | None:
        """Return the annotator of a user, created if there is none; None for a user that the server does not list."""
        if user not in self._person_of:
            if user not in self._users:
                return None
            there = self._users[user]
            self._link(user, self._directory.find_or_sign_in(there.email, name_of(there)))
        return self._person_of[user]

    def known(self, pair: str, annotation: int, user: int | None) -> Annotator | None:
        """Return whose an annotation is, but None for a user who is new here: unlike `author`, it creates no annotator."""
        known = self._directory.annotators.get(self._authors.get((pair, annotation), 0))
        return known or self._person_of.get(user or 0)

    def called(self, user: int | None) -> str | None:
        """Return the name that a user has here; None for a user that the server does not list."""
        return name_of(self._users[user]) if user in self._users else None

    def name(self, annotator: int) -> str:
        """Return the name of an annotator."""
        person = self._directory.annotators.get(annotator)
        return f"annotator {annotator}" if person is None else person.name

    def listed(self, user: int | None) -> int | None:
        """Return the id of a user if the server lists it, otherwise None."""
        return user if user in self._users else None

    def account(self, annotator: int) -> Any | None:
        """Return the user under whom an annotator's judgments are pushed; None if there is none yet."""
        email = self._email_of(annotator)
        known = self._users_of[annotator]
        same = [u for u in known if (self._users[u].email or "").casefold() == email]
        number = min(same or known, default=None)
        return None if number is None else self._users[number]

    def user(self, annotator: int) -> int:
        """Return the id of the user under whom an annotator's judgments are pushed, created if there is none."""
        return int(self.provided(annotator).id)

    def provided(self, annotator: int) -> Any:
        """Return the user under whom an annotator's judgments are pushed, created if there is none."""
        client = self._connection.client
        user = self.account(annotator)
        if user is None:
            user = self._create(annotator)
        # Without an active organization a user exists but sees no project; a crash may have happened between the two calls.
        if user.active_organization is None:
            user = client.users.update(user.id, active_organization=self._connection.organization)
            self._users[user.id] = user
        return user

    def _email_of(self, annotator: int) -> str:
        if annotator not in self._directory.annotators:
            self._directory = Directory(self._judgments, [(u.email, name_of(u)) for u in self._users.values()])
        person = self._directory.annotators[annotator]
        return self._directory.emails.get(annotator) or email_of(person)

    def _create(self, annotator: int) -> Any:
        person, email = self._directory.annotators[annotator], self._email_of(annotator)
        if self._connection.own is None:
            # Berdseye cannot set passwords on a server that it did not start: an account under the person's own address
            # would only prevent them from signing up with it.
            email = email_of(person)
        try:
            user = self._connection.client.users.create(
                username=email.partition("@")[0][:30], email=email, first_name=person.name
            )
        except ApiError as error:
            if error.status_code != _BAD_REQUEST or "already exists" not in str(error.body):
                raise
            raise BadInputError(
                f"The account {email} of {person.name} was removed from the organization in Label Studio.",
                where=self._connection.url,
                hint="Its admin can restore it at /admin/organizations/organizationmember/: clear 'deleted at'.",
            ) from error
        self._users[user.id] = user
        self._link(user.id, person)
        return user

    def _link(self, user: int, person: Annotator) -> None:
        self._person_of[user] = person
        self._users_of[person.id].add(user)
