"""Annotators here and users there: who is who."""

import re
import unicodedata
from collections import defaultdict
from typing import Any

from annotation.judgments import Annotator, Judgments
from annotation.label_studio.connection import Connection

_DOMAIN = "berdseye.local"
_OURS = re.compile(rf"(?P<slug>[a-z0-9-]+)-(?P<id>\d+)@{re.escape(_DOMAIN)}")


def email_of(person: Annotator) -> str:
    """The e-mail address under which Label Studio knows an annotator."""
    plain = unicodedata.normalize("NFKD", person.name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-") or "annotator"
    return f"{slug}-{person.id}@{_DOMAIN}"


def name_of(user: Any) -> str:
    """What to call a user of Label Studio here."""
    whole = f"{user.first_name or ''} {user.last_name or ''}"
    for name in (whole, (user.email or "").partition("@")[0]):
        shown = " ".join("".join(c if c.isprintable() else " " for c in name).split())[:120]
        if shown:
            return shown
    return f"Label Studio user {user.id}"


class People:
    """Users of the server by annotator, and annotators by user; each is made when first needed."""

    def __init__(self, judgments: Judgments, connection: Connection) -> None:
        self._judgments, self._connection = judgments, connection
        self._users: dict[int, Any] = {user.id: user for user in connection.client.users.list()}
        self._annotators = {person.id: person for person in judgments.annotators()}
        self._by_name = {person.name.casefold(): person for person in self._annotators.values()}
        self._person_of: dict[int, Annotator] = {}
        self._users_of: dict[int, set[int]] = defaultdict(set)
        for user in self._users.values():
            if (known := self._known(user)) is not None:
                self._link(user.id, known)

    def annotator(self, user: int) -> Annotator | None:
        """The annotator that a user is, signed in here when new; None for a user the server does not list."""
        if user not in self._person_of:
            if user not in self._users:
                return None
            self._link(user, self._judgments.sign_in(name_of(self._users[user])))
        return self._person_of[user]

    def known(self, user: int) -> Annotator | None:
        """The annotator that a user is; None for one who is new here, and is not signed in by this."""
        return self._person_of.get(user)

    def called(self, user: int) -> str | None:
        """What to call a user here; None for one the server does not list."""
        return name_of(self._users[user]) if user in self._users else None

    def user(self, annotator: int) -> int:
        """The user as whom an annotator's judgments are sent, made when there is none."""
        if annotator not in self._annotators:
            self._annotators.update((person.id, person) for person in self._judgments.annotators())
        person = self._annotators[annotator]
        email = email_of(person)
        known = self._users_of[annotator]
        number = min([u for u in known if self._users[u].email == email] or known, default=None)
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

    def _known(self, user: Any) -> Annotator | None:
        ours = _OURS.fullmatch(user.email or "")
        if ours is not None:
            person = self._annotators.get(int(ours["id"]))
            # Another workspace's annotator may bear the same number: the address has to fit as a whole.
            if person is not None and email_of(person) == user.email:
                return person
        return self._by_name.get(name_of(user).casefold())

    def _link(self, user: int, person: Annotator) -> None:
        self._annotators.setdefault(person.id, person)
        self._person_of[user] = person
        self._users_of[person.id].add(user)
