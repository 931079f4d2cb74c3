"""Which endings are trusted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError
from berdseye.data.web.settings import (
    DEBATEQA_TRUSTED,
    TRUSTED_LISTS,
    checked_pattern,
    is_trusted,
    trusted_endings,
)

TRUSTED = TRUSTED_LISTS["institutions"]

YES = """
https://www.cdc.gov/flu http://mit.edu https://en.wikipedia.org/wiki/X https://www.who.int/ https://www.navy.mil
https://www.gov.uk/x https://gov.uk https://ons.gov.uk https://www.health.gov.au https://ox.ac.uk https://www.u-tokyo.ac.jp
https://www.meti.go.jp https://www.education.gouv.fr https://www.gob.mx/salud https://www.health.govt.nz
https://www.unimelb.edu.au https://x.nsw.edu.au https://statcan.gc.ca https://ec.europa.eu https://charity.org.uk
HTTPS://WWW.CDC.GOV https://www.cdc.gov. https://www.cdc.gov:8443/ https://evil.com.gov/
"""
NO = """
https://example.com https://gov.evil.com https://evil.com/.gov https://evil.com/?x=.gov https://evil.com#.gov
https://cdc.gov@evil.com/ https://u:p@www.cdc.gov/ https://cdc-gov.com https://mygov https://notgov.ukx https://org.evil.net https://ac.de
https://www.ac.de https://edu.de https://gov.tv https://x.gov.tv https://fakegov https://cdcgov.com https://evil.xgov
https://127.0.0.1 https://[::1]/ https://com https://go.com https://edu.com gov file:///x.gov https:///x.gov
https://evil.com\\.gov https://evil.com%2f.gov.evil.com
"""


@pytest.mark.parametrize("url", YES.split())
def test_trusted(url: str) -> None:
    assert is_trusted(url, TRUSTED)


@pytest.mark.parametrize("url", NO.split())
def test_not_trusted(url: str) -> None:
    assert not is_trusted(url, TRUSTED)


def test_without_endings_everybody_is_trusted() -> None:
    assert is_trusted("https://example.com", ())


def test_a_site_can_be_an_ending() -> None:
    assert is_trusted("https://news.bbc.co.uk/x", ("bbc.co.uk",))
    assert is_trusted("https://bbc.co.uk/x", ("bbc.co.uk",))
    assert not is_trusted("https://notbbc.co.uk/x", ("bbc.co.uk",))


LABEL = st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True)
HOST = st.lists(LABEL, min_size=1, max_size=3).map(".".join)


@given(HOST, st.sampled_from([p for p in TRUSTED if "*" not in p]), HOST, st.text("abc/.?#=@", max_size=8))
def test_only_the_end_of_the_host_counts(host: str, ending: str, other: str, rest: str) -> None:
    assert is_trusted(f"https://{host}.{ending}/{rest}", (ending,))
    assert not is_trusted(f"https://{ending}.{host}.com/{rest}", (ending,))
    assert not is_trusted(f"https://{host}{ending}.com/{rest}", (ending,))
    assert not is_trusted(f"https://{other}.com/{rest}.{ending}", (ending,))


@pytest.mark.parametrize(
    "pattern", ["", ".gov", "*.gov", "*", "gov.", "GOV", "gov/", "a b", "ac.**", "ac.*.uk", "-a", "ac*"]
)
def test_what_is_no_ending(pattern: str) -> None:
    with pytest.raises(BadInputError, match="not a domain ending"):
        checked_pattern(pattern)


@pytest.mark.parametrize("name", TRUSTED_LISTS)
def test_the_endings_we_bring_are_endings(name: str) -> None:
    assert [checked_pattern(pattern) for pattern in TRUSTED_LISTS[name]] == list(TRUSTED_LISTS[name])


def test_debateqa_trusts_five_endings_and_no_others() -> None:
    """DebateQA keeps .edu, .org, .gov, .info and .pro; ours once refused the last two and added those of countries."""
    assert set(DEBATEQA_TRUSTED) == {"edu", "org", "gov", "info", "pro"}
    kept = "https://mit.edu https://x.org https://cdc.gov/flu https://zoos.info/a https://law.pro"
    assert all(is_trusted(url, DEBATEQA_TRUSTED) for url in kept.split())
    others = (
        "https://www.gov.uk https://ox.ac.uk https://www.who.int https://navy.mil https://europa.eu https://info.com"
    )
    assert not any(is_trusted(url, DEBATEQA_TRUSTED) for url in others.split())


def test_a_list_is_named_in_place_of_its_endings() -> None:
    assert trusted_endings(["debateqa", "org", "who.int"]) == ("edu", "org", "gov", "info", "pro", "who.int")
    assert trusted_endings([]) == ()
