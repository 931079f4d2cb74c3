"""The section [people] of the settings."""

from pathlib import Path

import pytest

from berdseye.data.errors import BerdseyeError
from berdseye.data.people import folded_email
from berdseye.data.workspace import Workspace

TEAM = '[people]\nmode = "team"\nissuer = "https://id.example.org/"\nclient_id = "b"\n'


def opened(workspace: Workspace, settings: str) -> Workspace:
    (workspace.folder / "berdseye.toml").write_text(settings)
    return Workspace.open(workspace.folder)


def test_a_name_is_enough_unless_the_settings_say_otherwise(workspace: Workspace) -> None:
    assert not workspace.people.team
    assert opened(workspace, TEAM).people.team


def test_an_address_has_its_own_role_else_its_domains_else_the_default(workspace: Workspace) -> None:
    roles = '[people.roles]\n"Ana@Example.org" = "admin"\n"@example.org" = "annotator"\n'
    people = opened(workspace, TEAM + roles).people
    asked = ("ana@example.org", " ANA@EXAMPLE.ORG ", "bo@example.org", "bo@sub.example.org", "bo@badexample.org")
    assert [people.role_of(email) for email in asked] == ["admin", "admin", "annotator", None, None]
    people = opened(workspace, TEAM + 'default_role = "researcher"\n' + roles).people
    assert people.role_of("bo@elsewhere.org") == "researcher"
    assert people.issuer == "https://id.example.org"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('[people]\nmode = "teem"', "Did you mean team"),
        ('[people]\nmode = "team"', "Set issuer and client_id"),
        (TEAM.replace("https", "http"), "must be an https URL"),
        (TEAM.replace("id.", "u:p@id."), "must be an https URL"),
        (TEAM + 'address = "here"', "must be an https URL"),
        (TEAM + 'default_role = "admin"', "List the admins"),
        (TEAM + 'default_role = "anotator"', "Did you mean annotator"),
        (TEAM + "session_hours = 0", "must be above 0"),
        (TEAM + '[people.roles]\nana = "admin"', "not a valid e-mail address"),
        (TEAM + '[people.roles]\n"a@b" = "boss"', "Unknown role"),
        (TEAM + '[people.roles]\n"a@b" = 1', "Unknown role"),
        (TEAM + '[people.roles]\n"a@b" = "admin"\n"A@b" = "annotator"', "has two roles"),
        (TEAM + 'client_secret = "hush-hush"', "set BERDSEYE_OIDC_CLIENT_SECRET"),
        (TEAM + 'cookie_secret = "hush-hush"', "set BERDSEYE_COOKIE_SECRET"),
    ],
)
def test_invalid_settings_are_reported_and_no_secret_is_repeated(
    workspace: Workspace, settings: str, said: str
) -> None:
    with pytest.raises(BerdseyeError) as error:
        opened(workspace, settings)
    assert said in str(error.value)
    assert "hush" not in str(error.value)
    assert str(Path("berdseye.toml")) in str(error.value)


def test_addresses_are_compared_in_lower_case() -> None:
    assert folded_email(" Ana@Example.ORG ") == "ana@example.org"
    for wrong in ("ana", "a@b@c", "a b@c", "a\n@b", "a" * 300 + "@b"):
        with pytest.raises(BerdseyeError, match=r"e-mail.*ana@example.org"):
            folded_email(wrong)
