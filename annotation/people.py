"""People who sign in at a provider, and the annotators that they are here; two people are never taken for one.

A provider identifies a person by a subject, which stays when the name or the e-mail address changes, and Berdseye uses this
subject too. An e-mail address links a person only if the provider has verified it and nobody else has it.
"""

import hashlib
from itertools import count
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select, text, update

from berdseye.annotation.judgments.database import writing
from berdseye.annotation.judgments.log import Annotator, Judgments, folded_name, now
from berdseye.annotation.judgments.schema import annotators
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.people import folded_email

_LONGEST_NAME = 120
_LONGEST_SUBJECT = 300


class Identity(NamedTuple):
    """The identity of a person as a provider reports it; `email` is empty unless the provider has verified it."""

    issuer: str
    sub: str
    name: str
    email: str

    @property
    def subject(self) -> str:
        """The value of `annotators.subject`: unique over all providers."""
        full_subject = f"{self.issuer} {self.sub}"
        if len(full_subject) <= _LONGEST_SUBJECT:
            return full_subject
        return f"{self.issuer[:200]} {hashlib.blake2b(full_subject.encode(), digest_size=32).hexdigest()}"


class Person(NamedTuple):
    """An annotator with their e-mail address, and whether they have signed in at a provider."""

    annotator: Annotator
    email: str
    signed_in: bool


def person_of(judgments: Judgments, identity: Identity) -> Annotator:
    """Return the annotator of an identity: that of its subject, otherwise the one linked to its address, otherwise a new one.

    A new annotator whose name is taken gets a number after it. Raises `BadInputError` if the address belongs to another
    subject: an admin has to decide whose it is now.
    """
    email = folded_email(identity.email)
    with writing(judgments.engine) as connection:
        if connection.dialect.name == "postgresql":
            # Concurrent sign-ins wait for each other, so that nobody becomes two people and no name is used twice.
            connection.execute(text("LOCK TABLE annotators IN SHARE ROW EXCLUSIVE MODE"))
        row = _by(connection, subject=identity.subject)
        holder = _by(connection, email=email) if email else None
        if row is None and holder is not None:
            if holder.subject is not None:
                raise BadInputError(
                    f"The address {email} belongs to another sign-in account.",
                    hint="An admin can assign it to you: `berdseye people link`.",
                )
            row = holder
        if row is None:
            return _new(connection, identity, email)
        free = holder is None or holder.id == row.id
        change = {"subject": identity.subject, **({"email": email} if email and free else {})}
        if row.folded == row.email:
            change |= _name_for(connection, identity, row.email)  # invited by address, without a name until now
        if any(getattr(row, name) != value for name, value in change.items()):
            connection.execute(update(annotators).where(annotators.c.id == row.id).values(change))
        return Annotator(row.id, change.get("name", row.name), row.demo)


def find_or_invite(judgments: Judgments, who: str) -> Annotator:
    """Return the annotator of a name or an e-mail address, created if there is none.

    Someone who later signs in with this address becomes this annotator.
    """
    if "@" not in who:
        return judgments.sign_in(who)
    email = folded_email(who)
    with judgments.reading() as connection:
        row = _by(connection, email=email)
    if row is not None:
        return Annotator(row.id, row.name, row.demo)
    person = judgments.sign_in(email)
    with writing(judgments.engine) as connection:
        unlinked = annotators.c.email.is_(None) & annotators.c.subject.is_(None)
        connection.execute(update(annotators).where(annotators.c.id == person.id, unlinked).values(email=email))
    return person


def link(judgments: Judgments, name: str, email: str) -> Annotator:
    """Link an address to the annotator of this name, for sign-in; everyone's judgments stay with their annotator.

    Another annotator who had the address (and may have signed in with it) loses it, and the sign-in moves with the address.
    Raises `BadInputError` for a simulated annotator of the demo.
    """
    person, address = judgments.annotator(name), folded_email(email)
    if person.demo:
        raise BadInputError(
            f"{person.name} is a simulated annotator of the demo and cannot be linked.", hint="Choose another name."
        )
    with writing(judgments.engine) as connection:
        holder = _by(connection, email=address)
        if holder is not None and holder.id == person.id:
            return person
        subject = None if holder is None else holder.subject
        if holder is not None:
            unlinked = {"email": None, "subject": None}
            connection.execute(update(annotators).where(annotators.c.id == holder.id).values(unlinked))
        row = {"email": address, "subject": subject}
        connection.execute(update(annotators).where(annotators.c.id == person.id).values(row))
    return person


def unlink(judgments: Judgments, name: str) -> Annotator:
    """Remove the address and the sign-in of the annotator of this name; their judgments stay."""
    person = judgments.annotator(name)
    with writing(judgments.engine) as connection:
        row = {"email": None, "subject": None}
        connection.execute(update(annotators).where(annotators.c.id == person.id).values(row))
    return person


def people(judgments: Judgments) -> list[Person]:
    """Return all annotators, ordered by name."""
    with judgments.reading() as connection:
        return [
            Person(Annotator(row.id, row.name, row.demo), row.email or "", row.subject is not None)
            for row in connection.execute(select(annotators).order_by(annotators.c.folded))
        ]


def by_email(judgments: Judgments, email: str) -> Annotator:
    """Return the annotator of an e-mail address; raises `UnknownNameError`."""
    with judgments.reading() as connection:
        row = _by(connection, email=folded_email(email))
    if row is None:
        raise UnknownNameError("e-mail address", email, [p.email for p in people(judgments) if p.email])
    return Annotator(row.id, row.name, row.demo)


def find_person(judgments: Judgments, who: str) -> Annotator:
    """Return the annotator of a name, otherwise of an e-mail address; raises `UnknownNameError`."""
    named = [person for person in judgments.annotators() if folded_name(person.name) == folded_name(who)]
    if named:
        return named[0]
    return by_email(judgments, who) if "@" in who else judgments.annotator(who)


def _by(connection: Connection, **where: str) -> Row[Any] | None:
    ((column, value),) = where.items()
    return connection.execute(select(annotators).where(annotators.c[column] == value)).one_or_none()


def _new(connection: Connection, identity: Identity, email: str) -> Annotator:
    row = {
        **_name_for(connection, identity, email),
        "demo": False,
        "at": now(),
        "email": email or None,
        "subject": identity.subject,
    }
    inserted = connection.execute(annotators.insert().values(row).returning(annotators)).one()
    return Annotator(inserted.id, inserted.name, inserted.demo)


def _name_for(connection: Connection, identity: Identity, email: str) -> dict[str, str]:
    """Return the person's own name, followed by a number if someone else has it."""
    wanted = _presentable(identity.name) or email.partition("@")[0] or "Someone"
    for number in count(1):
        name = wanted if number == 1 else f"{wanted[: _LONGEST_NAME - 8]} ({number})"
        if _by(connection, folded=folded_name(name)) is None:
            return {"name": name, "folded": folded_name(name)}
    raise AssertionError("count() does not end")


def _presentable(name: str) -> str:
    """Return a display name that an annotator can have: printable, on one line, and not too long once case-folded."""
    shown = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    while len(folded_name(shown)) > _LONGEST_NAME or len(shown) > _LONGEST_NAME:
        shown = shown[:-1].rstrip()
    return shown
