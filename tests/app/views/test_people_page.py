"""The page People: everyone, their addresses, the rights of the roles, and the guidelines."""

import pytest
from streamlit.testing.v1 import AppTest

from berdseye.annotation.batches.stored import BatchPlan, Item, close_batch, create_batch
from berdseye.annotation.guidelines.versions import in_use, packaged, use, uses
from berdseye.annotation.judgments.log import PairRecord
from berdseye.annotation.people import Identity, people, person_of
from berdseye.app.access import session
from berdseye.app.access.roles import MAY, RIGHTS, RefusedError
from berdseye.app.access.session import judgments as shared_judgments
from berdseye.app.components import guidelines_editor
from berdseye.app.components.rights_table import RIGHTS_IN_WORDS
from berdseye.data.people import PeopleSettings, Role
from berdseye.data.workspace import Workspace
from tests.app.drawn_page import again, drawn, says, texts

ITEM = Item(PairRecord("d", "q", "Cats?", "Cats are good.", None, "c", "", "Cats purr."))
TEAM = PeopleSettings(
    "team", "https://id.example.org", "b", roles={"@example.org": "annotator", "ada@example.org": "admin"}
)


def press(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click()
    return again(at)


# People -----------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("at_hand")
def test_everyone_is_listed_with_their_judgments_and_open_batches() -> None:
    held = shared_judgments()
    create_batch(held, BatchPlan("for-ana", people=("Ana",)), [ITEM])
    create_batch(held, BatchPlan("for-all"), [ITEM])
    close_batch(held, create_batch(held, BatchPlan("closed"), [ITEM]))
    held.judge(
        held.sign_in("Ana"), ITEM.record.key, "supports", source="annotate", at="2026-03-04T10:00:00.000000+00:00"
    )
    held.sign_in("Bo")
    table = drawn("people").dataframe[0].value.set_index("Name")
    assert list(table.loc["Ana", ["Judgments", "Last judgment", "Open batches"]]) == [
        1,
        "2026-03-04",
        "for-all, for-ana",
    ]
    assert list(table.loc["Bo", ["Judgments", "Open batches", "Sign-in"]]) == [0, "for-all", "by name"]
    assert "Role" not in table, "local mode has no roles"


@pytest.mark.usefixtures("demo")
def test_simulated_people_are_marked_and_get_no_address() -> None:
    at = drawn("people", name="Ana")
    table = at.dataframe[0].value.set_index("Name")
    assert table.loc["Noor", "Sign-in"] == "simulated"
    assert at.selectbox(key="address-of").options == ["Ana"]
    assert says(at, r"simulated people.*demo", "caption")


@pytest.mark.usefixtures("at_hand")
def test_an_address_is_linked_and_unlinked() -> None:
    held = shared_judgments()
    at = drawn("people", name="Ana")
    assert at.button(key="link-address").disabled
    at.text_input(key="address-Ana").set_value("Ana@Example.org")
    press(again(at), "link-address")
    assert says(at, r"now signs in as Ana", "success")
    assert [p.email for p in people(held)] == ["ana@example.org"]
    at.text_input(key="address-Ana").set_value("not an address")
    press(again(at), "link-address")
    assert says(at, "not a valid e-mail address", "error")
    press(at, "unlink-address")
    assert [p.email for p in people(held)] == [""]


@pytest.mark.usefixtures("at_hand")
def test_in_team_mode_the_page_says_who_has_which_role_and_where_roles_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    held = shared_judgments()
    person_of(held, Identity(TEAM.issuer, "1", "Ada", "ada@example.org"))
    person_of(held, Identity(TEAM.issuer, "2", "Eve", "eve@elsewhere.org"))
    _in_team(monkeypatch, "researcher")
    table = drawn("people").dataframe[0].value.set_index("Name")
    assert table["Role"].to_dict() == {"Ada": "admin", "Eve": "no role"}
    assert set(table["Sign-in"]) == {"by the provider"}
    at = drawn("people", people_view="Roles")
    assert says(at, r"`\[people\.roles\]` in the settings file of the workspace, `berdseye\.toml`", "caption")
    assert at.dataframe[0].value.to_numpy().tolist() == [
        ["@example.org", "annotator"], ["ada@example.org", "admin"], ["every other address", "no access"],
    ]  # fmt: skip


@pytest.mark.usefixtures("at_hand")
def test_only_admins_link_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    shared_judgments().sign_in("Ana")
    for role, offered in (("researcher", False), ("admin", True)):
        _in_team(monkeypatch, role)  # type: ignore[arg-type]
        assert ("link-address" in {b.key for b in drawn("people").button}) is offered


def _in_team(monkeypatch: pytest.MonkeyPatch, role: Role) -> None:
    """Draw pages as a person with this role; only the sign-in is missing."""
    monkeypatch.setattr(session, "people", lambda: TEAM)
    monkeypatch.setattr(session, "role", lambda: role)
    monkeypatch.setattr(session, "_permit_page", lambda: None)
    monkeypatch.setattr(session, "started_by", lambda: "rea@example.org")


@pytest.mark.usefixtures("at_hand")
def test_the_rights_of_each_role_are_ticked() -> None:
    table = drawn("people", people_view="Roles").table[0].value
    assert set(RIGHTS_IN_WORDS) == set(RIGHTS)
    assert len(table) == len(RIGHTS)
    assert {role: (table[role] == "✓").sum() for role in MAY} == {role: len(rights) for role, rights in MAY.items()}


# Guidelines -------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("at_hand")
def test_guidelines_are_edited_with_a_preview_and_used_from_then_on() -> None:
    held = shared_judgments()
    at = drawn("people", name="Lea", people_view="Guidelines")
    assert packaged("judge").text in [m.value for m in at.markdown]
    press(at, "edit-guidelines")
    assert at.button(key="use-guidelines").disabled, "nothing has changed"
    at.text_area(key="guidelines-text-judge").set_value(packaged("judge").text + "\n\nAsk Noor.")
    again(at)
    assert any(":green-background[Ask Noor\\.]" in m.value for m in at.markdown), "the changes"
    assert any(m.value.endswith("Ask Noor.") for m in at.markdown), "the preview"
    press(at, "use-guidelines")
    assert in_use(held).text.endswith("Ask Noor.")
    assert [use.made_by for use in uses(held, "judge")] == ["Lea"]
    assert uses(held, "verify") == []
    assert says(at, r"version \w+ is now in use for the task judge", "success")
    press(at, "use-again")
    assert in_use(held) == packaged("judge")


@pytest.mark.usefixtures("at_hand")
def test_versions_of_the_task_are_compared_and_a_picture_is_not_fetched() -> None:
    held = shared_judgments()
    use(held, "First.", task="verify", made_by="Ana")
    use(held, "Second. ![p](http://evil.example/p)", task="verify", made_by="Bo")
    use(held, "Of another task.", task="judge")
    at = drawn("people", people_view="Guidelines", guidelines_of="Verify a decision")
    offered = at.selectbox(key="compare-verify").options
    assert [option.split(" · ", 1)[1] for option in offered] == [
        f"{uses(held, 'verify')[1].at[:10]} · Ana", "packaged with Berdseye",
    ]  # fmt: skip
    assert any(":red[~~First\\.~~]" in m.value for m in at.markdown)
    assert not [m.value for m in at.markdown if "![p]" in m.value]


@pytest.mark.usefixtures("at_hand")
def test_an_empty_text_and_a_discarded_one_change_nothing() -> None:
    at = drawn("people", name="Lea", people_view="Guidelines")
    press(at, "edit-guidelines")
    at.text_area(key="guidelines-text-judge").set_value("  ")
    assert again(at).button(key="use-guidelines").disabled
    press(at, "leave-guidelines")
    assert "edit-guidelines" in {b.key for b in at.button}
    assert uses(shared_judgments(), "judge") == []


def test_batches_with_guidelines_of_their_own_are_named(at_hand: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    held = shared_judgments()
    own = use(held, "Own.", task="prefer").version
    create_batch(held, BatchPlan("special", guidelines=own), [ITEM])
    at = drawn("people", name="Lea", people_view="Guidelines")
    press(at, "edit-guidelines")
    assert says(at, r"next pair.*keep them: special", "caption")
    monkeypatch.setattr(guidelines_editor, "role", lambda: "adjudicator")
    monkeypatch.setattr(guidelines_editor, "errors_in_place", lambda: pytest.raises(RefusedError, match="a researcher"))
    guidelines_editor.put_in_use("judge", "Mine.")
    assert in_use(held) == packaged("judge")
    assert at_hand.people.team is False
    assert "Mine." not in texts(at)
