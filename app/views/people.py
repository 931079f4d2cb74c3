"""The People page: everyone with their role, sign-in and judgments, the rights of each role, and the annotation guidelines."""

import pandas as pd
import streamlit as st

from berdseye.annotation.batches.stored import Batch, list_batches
from berdseye.annotation.judgments.pace import activity_by_person
from berdseye.annotation.people import Person, link, unlink
from berdseye.annotation.people import people as known_people
from berdseye.app.access.roles import check, may, right_of_command
from berdseye.app.access.session import errors_in_place, judgments, people, role, started_by
from berdseye.app.components.choices import one_of
from berdseye.app.components.guidelines_editor import draw_guidelines
from berdseye.app.components.plain_text import escaped
from berdseye.app.components.rights_table import rights_table
from berdseye.data.people import PeopleSettings

VIEWS = ("People", "Roles", "Guidelines")
_MESSAGE = "people_message"


def sign_in_of(person: Person) -> str:
    """Describe how a person signs in."""
    if person.annotator.demo:
        return "simulated"
    if person.signed_in:
        return "by the provider"
    return "by the provider, not yet" if person.email and people().team else "by name"


def rows_of(everyone: list[Person], batches: list[Batch], settings: PeopleSettings) -> pd.DataFrame:
    """Return the table of people, one row for each."""
    active = activity_by_person(judgments())
    rows = []
    for person in everyone:
        done = active.get(person.annotator.id)
        open_to = [b.name for b in batches if b.is_open and b.admits(person.annotator) and not person.annotator.demo]
        rows.append(
            {
                "Name": person.annotator.name,
                "E-mail": person.email or None,
                "Role": (settings.role_of(person.email) if person.email else None) or "no role",
                "Sign-in": sign_in_of(person),
                "Judgments": 0 if done is None else done.judgments,
                "Last judgment": None if done is None else done.last[:10],
                "Open batches": ", ".join(open_to) or None,
            }
        )
    frame = pd.DataFrame(rows)
    return frame if settings.team else frame.drop(columns="Role")


def draw_people() -> None:
    """Draw everyone, and for admins the form that links and unlinks addresses."""
    everyone = known_people(judgments())
    settings = people()
    if not everyone:
        st.info(
            "Nobody yet. A person appears here when they enter their name or sign in, or when a batch names them.",
            icon=":material/group:",
        )
        return
    table = rows_of(everyone, list_batches(judgments()), settings)
    st.dataframe(table, hide_index=True, key="people-table", placeholder="–")
    if any(person.annotator.demo for person in everyone):
        st.caption("Simulated people belong to the demo. They cannot sign in.")
    if not settings.team:
        st.caption(
            "This workspace is in local mode: a name is enough, and everyone may use every page and command. For roles "
            "and sign-in, set up team mode under `[people]` in the settings file of the workspace, `berdseye.toml`."
        )
    if may(role(), right_of_command(("people", "link"))):
        draw_addresses([person for person in everyone if not person.annotator.demo])


def draw_addresses(linkable: list[Person]) -> None:
    """Draw the form that links an e-mail address to a person, or removes it."""
    st.subheader("E-mail addresses", anchor=False)
    st.caption(
        "In team mode people sign in with their address. A person who judged by name before continues under that name after "
        "you link the address. Another person who had the address loses it; all judgments stay."
    )
    if not linkable:
        st.caption("No person can have an address yet.")
        return
    by_name = {person.annotator.name: person for person in linkable}
    left, middle, right = st.columns([2, 3, 2], vertical_alignment="bottom")
    name = left.selectbox("Person", list(by_name), key="address-of")
    email = middle.text_input(
        "E-mail address", by_name[name].email, key=f"address-{name}", placeholder="ana@example.org", max_chars=254
    )
    typed = (email or "").strip()
    with right.container(horizontal=True):
        st.button(
            "Link",
            icon=":material/link:",
            key="link-address",
            disabled=not typed or typed == by_name[name].email,
            on_click=change_address,
            args=(name, typed),
        )
        st.button(
            "Unlink",
            icon=":material/link_off:",
            key="unlink-address",
            disabled=not (by_name[name].email or by_name[name].signed_in),
            help="Removes the address and the sign-in. The judgments stay.",
            on_click=change_address,
            args=(name, ""),
        )


def change_address(name: str, email: str) -> None:
    """Link an address to a person, or remove theirs if `email` is empty."""
    with errors_in_place():
        check(role(), right_of_command(("people", "link")), started_by() or "this person")
        if email:
            person = link(judgments(), name, email)
            st.session_state[_MESSAGE] = f"{email} now signs in as {person.name}."
        else:
            person = unlink(judgments(), name)
            st.session_state[_MESSAGE] = f"{person.name} has no address now."


def draw_roles() -> None:
    """Draw the rights of each role, and in team mode who has which role."""
    settings = people()
    rights_table()
    if not settings.team:
        st.caption("This workspace is in local mode: everyone has the role of an admin.")
        return
    st.subheader("Who has which role", anchor=False)
    st.caption(
        "Roles are set under `[people.roles]` in the settings file of the workspace, `berdseye.toml`. A change there takes "
        "effect at the next click. An address comes before its domain."
    )
    given = [(address, str(found)) for address, found in sorted(settings.roles.items())]
    rows = [*given, ("every other address", settings.default_role or "no access")]
    st.dataframe(
        pd.DataFrame(rows, columns=["Address or domain", "Role"]), hide_index=True, key="roles-table", width="content"
    )


def page() -> None:
    """Draw the page."""
    if message := st.session_state.pop(_MESSAGE, ""):
        st.success(escaped(message), icon=":material/check:")
    view = one_of("View", VIEWS, key="people_view", named=False)
    if view == "Guidelines":
        draw_guidelines()
    elif view == "Roles":
        draw_roles()
    else:
        draw_people()


with errors_in_place():
    page()
