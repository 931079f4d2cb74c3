"""People who sign in at a provider: who is whom, without taking two for one.

A provider knows a person by a subject, which stays when the name or the e-mail address changes; so do we. An address joins
only where the provider says that it has verified it, and where nobody else holds it.
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
    """Who a provider says a person is; `email` is empty unless the provider has verified it."""

    issuer: str
    sub: str
    name: str
    email: str

    @property
    def subject(self) -> str:
        """What `annotators.subject` holds: unique over all providers."""
        whole = f"{self.issuer} {self.sub}"
        if len(whole) <= _LONGEST_SUBJECT:
            return whole
        return f"{self.issuer[:200]} {hashlib.blake2b(whole.encode(), digest_size=32).hexdigest()}"


class Person(NamedTuple):
    """Someone known here, with the address they are known by, and whether they have signed in at a provider."""

    annotator: Annotator
    email: str
    signed_in: bool


def person_of(judgments: Judgments, identity: Identity) -> Annotator:
    """The annotator that an identity is: the one of its subject, else the one an admin linked to its address, else a new one.

    A new one whose name is taken gets a number behind it. Raises `BadInputError` where the address belongs to another
    subject: whose it is now is for an admin to say.
    """
    email = folded_email(identity.email)
    with writing(judgments.engine) as connection:
        if connection.dialect.name == "postgresql":
            # People who sign in wait for each other, so that nobody becomes two and no name is given twice.
            connection.execute(text("LOCK TABLE annotators IN SHARE ROW EXCLUSIVE MODE"))
        found = _by(connection, subject=identity.subject)
        holder = _by(connection, email=email) if email else None
        if found is None and holder is not None:
            if holder.subject is not None:
                raise BadInputError(
                    f"{email} belongs to someone who signs in as another.",
                    hint="An admin can give it to you: berdseye people link.",
                )
            found = holder
        if found is None:
            return _new(connection, identity, email)
        free = holder is None or holder.id == found.id
        change = {"subject": identity.subject, **({"email": email} if email and free else {})}
        if found.folded == found.email:
            change |= _name_for(connection, identity, found.email)  # invited by the address, nameless until now
        if any(getattr(found, name) != value for name, value in change.items()):
            connection.execute(update(annotators).where(annotators.c.id == found.id).values(change))
        return Annotator(found.id, change.get("name", found.name), found.demo)


def known_or_invited(judgments: Judgments, who: str) -> Annotator:
    """The annotator of a name, or of an e-mail address: whoever signs in with that address will be this one."""
    if "@" not in who:
        return judgments.sign_in(who)
    email = folded_email(who)
    with judgments.reading() as connection:
        found = _by(connection, email=email)
    if found is not None:
        return Annotator(found.id, found.name, found.demo)
    made = judgments.sign_in(email)
    with writing(judgments.engine) as connection:
        unlinked = annotators.c.email.is_(None) & annotators.c.subject.is_(None)
        connection.execute(update(annotators).where(annotators.c.id == made.id, unlinked).values(email=email))
    return made


def link(judgments: Judgments, name: str, email: str) -> Annotator:
    """Let whoever signs in with this address be the person of this name; what others judged stays with them.

    Someone who held the address (and perhaps signed in with it) does so no more, and the sign-in goes along.
    """
    person, address = judgments.annotator(name), folded_email(email)
    if person.demo:
        raise BadInputError("A made-up person of the demo is nobody's.", hint="Choose another name.")
    with writing(judgments.engine) as connection:
        holder = _by(connection, email=address)
        if holder is not None and holder.id == person.id:
            return person
        subject = None if holder is None else holder.subject
        if holder is not None:
            rest = {"email": None, "subject": None}
            connection.execute(update(annotators).where(annotators.c.id == holder.id).values(rest))
        row = {"email": address, "subject": subject}
        connection.execute(update(annotators).where(annotators.c.id == person.id).values(row))
    return person


def unlink(judgments: Judgments, name: str) -> Annotator:
    """Let nobody sign in as the person of this name; their judgments stay."""
    person = judgments.annotator(name)
    with writing(judgments.engine) as connection:
        row = {"email": None, "subject": None}
        connection.execute(update(annotators).where(annotators.c.id == person.id).values(row))
    return person


def people(judgments: Judgments) -> list[Person]:
    """Everyone known here, by name."""
    with judgments.reading() as connection:
        return [
            Person(Annotator(row.id, row.name, row.demo), row.email or "", row.subject is not None)
            for row in connection.execute(select(annotators).order_by(annotators.c.folded))
        ]


def by_email(judgments: Judgments, email: str) -> Annotator:
    """The person of an address; raises `UnknownNameError`."""
    with judgments.reading() as connection:
        found = _by(connection, email=folded_email(email))
    if found is None:
        raise UnknownNameError("e-mail address", email, [p.email for p in people(judgments) if p.email])
    return Annotator(found.id, found.name, found.demo)


def known_person(judgments: Judgments, who: str) -> Annotator:
    """The person of a name, or else of an e-mail address; raises `UnknownNameError`."""
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
    made = connection.execute(annotators.insert().values(row).returning(annotators)).one()
    return Annotator(made.id, made.name, made.demo)


def _name_for(connection: Connection, identity: Identity, email: str) -> dict[str, str]:
    """The person's own name where nobody has it, else with a number behind it."""
    wanted = _presentable(identity.name) or email.partition("@")[0] or "Someone"
    for number in count(1):
        name = wanted if number == 1 else f"{wanted[: _LONGEST_NAME - 8]} ({number})"
        if _by(connection, folded=folded_name(name)) is None:
            return {"name": name, "folded": folded_name(name)}
    raise AssertionError("Numbers do not end.")


def _presentable(name: str) -> str:
    """A display name as annotators have them: printable, in one line, not too long once folded."""
    shown = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    while len(folded_name(shown)) > _LONGEST_NAME or len(shown) > _LONGEST_NAME:
        shown = shown[:-1].rstrip()
    return shown
