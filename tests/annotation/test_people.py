"""Who signs in is who judges: by the provider's subject, never by the display name."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.people import Identity, by_email, find_or_invite, link, people, person_of, unlink
from berdseye.data.errors import BadInputError, UnknownNameError
from tests.annotation.made_pairs import record

ISSUER = "https://id.example.org"


def who(sub: str, name: str = "Ana", email: str = "", issuer: str = ISSUER) -> Identity:
    return Identity(issuer, sub, name, email)


def test_two_people_of_one_name_stay_two(judgments: Judgments) -> None:
    judgments.sign_in("ANA")
    first = person_of(judgments, who("1", email="ana@example.org"))
    second = person_of(judgments, who("2", email="ana@elsewhere.org"))
    other = person_of(judgments, who("1", issuer="https://other.example.org"))
    assert [p.name for p in (first, second, other)] == ["Ana (2)", "Ana (3)", "Ana (4)"]
    assert len({p.id for p in (first, second, other)}) == 3
    again = person_of(judgments, who("1", name="Anna Maria", email="new@example.org"))
    assert again == first
    assert by_email(judgments, "New@Example.org") == first
    with pytest.raises(UnknownNameError, match=r"ana@example\.org"):
        by_email(judgments, "ana@example.org")


def test_an_address_joins_only_where_nobody_else_signs_in_with_it(judgments: Judgments) -> None:
    local = judgments.sign_in("Ana")
    link(judgments, "ana", "ana@example.org")
    assert person_of(judgments, who("7", name="A. Sun", email="ANA@example.org")) == local
    with pytest.raises(BadInputError, match="belongs to another sign-in account"):
        person_of(judgments, who("8", email="ana@example.org"))
    assert person_of(judgments, who("8")).name == "Ana (2)", "an address that is not verified is none"
    assert person_of(judgments, who("8", email="ana@example.org")).name == "Ana (2)"
    assert by_email(judgments, "ana@example.org") == local, "someone known does not take another's address along"


def test_an_admin_links_a_local_name_to_someone_who_has_signed_in(judgments: Judgments) -> None:
    (pair,) = judgments.add_pairs([record(0)])
    local, made = judgments.sign_in("Ana"), person_of(judgments, who("1", email="ana@example.org"))
    judgments.judge(local, pair, "supports", source="annotate")
    judgments.judge(made, pair, "unsure", source="annotate")
    assert link(judgments, "Ana", "ana@example.org") == local
    assert person_of(judgments, who("1", email="ana@example.org")) == local
    assert [(p.annotator.name, p.email, p.signed_in) for p in people(judgments)] == [
        ("Ana", "ana@example.org", True),
        ("Ana (2)", "", False),
    ]
    assert [j.annotator.name for j in judgments.present()] == ["Ana", "Ana (2)"], "what was judged stays with its name"
    unlink(judgments, "Ana")
    assert person_of(judgments, who("1", email="ana@example.org")).name == "Ana (3)"
    judgments.sign_in("Noor", demo=True)
    with pytest.raises(BadInputError, match="simulated annotator"):
        link(judgments, "Noor", "noor@example.org")
    with pytest.raises(BadInputError, match="not a valid e-mail address"):
        link(judgments, "Ana", "no address")


def test_a_batch_invites_people_by_address(judgments: Judgments) -> None:
    made = create_batch(judgments, BatchPlan("b", people=("Bo@example.org", "Cy"), per_pair=2), [Item(record(0))])
    assert [p.name for p in made.people] == ["bo@example.org", "Cy"]
    bo = person_of(judgments, who("2", name="Cy", email="bo@example.org"))
    assert (bo.id, bo.name) == (made.people[0].id, "Cy (2)"), "the invited are named when they come"
    assert find_or_invite(judgments, "bo@example.org") == bo


@pytest.mark.parametrize("name", ["", "  \x00 \u202e", "é" * 300, "ß" * 120, "<b>x</b> =1+1"])
def test_any_display_name_makes_a_presentable_annotator(judgments: Judgments, name: str) -> None:
    first, second = (person_of(judgments, who(sub, name, f"{sub}@example.org")) for sub in "ab")
    assert first.name != second.name
    assert all(p.name.isprintable() and 0 < len(p.name) <= 120 for p in (first, second))
    assert person_of(judgments, who("a" * 400, name)) == person_of(judgments, who("a" * 400, name))


def at_once(url: str) -> None:
    """Many tabs of two people of one name sign in for the first time at the same moment."""
    held = Judgments.open(url)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda n: person_of(held, who(str(n % 2), email=f"{n % 2}@x.org")), range(16)))
    assert len({p.id for p in found}) == 2
    assert {p.name for p in found} == {"Ana", "Ana (2)"}
    held.engine.dispose()


def test_many_sign_in_at_once(database_url: str) -> None:
    at_once(database_url)


@pytest.mark.postgres
def test_many_sign_in_at_once_on_postgres(postgres_url: str) -> None:
    at_once(postgres_url)
