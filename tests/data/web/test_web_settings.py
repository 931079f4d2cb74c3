"""Settings of a web corpus."""

import json
from typing import Any

import pytest

from berdseye.data.errors import BadInputError, BerdseyeError, UnknownNameError
from berdseye.data.web.settings import SERPER, TRUSTED_LISTS, WebSettings


def test_settings_come_back_from_json() -> None:
    settings = WebSettings(
        address="https://search.example/x/",
        trusted=TRUSTED_LISTS["institutions"],
        language="pt-BR",
        count=30,
        seconds_a_page=2,
    )
    assert WebSettings.read(json.loads(json.dumps(settings.write()))) == settings
    assert settings.search_address == "https://search.example/x"
    assert WebSettings.read({"provider": "serper"}).search_address == SERPER


@pytest.mark.parametrize(
    "values",
    [
        {},  # SearXNG has no address of its own
        {"address": "search.example"},
        {"address": "ftp://search.example"},
        {"address": "https://u:p@search.example"},
        {"address": "https://search.example/?q="},
        {"address": "http://["},
        {"address": 7},
        {"provider": "serper", "address": "http://serper.example"},
        {"provider": "bing"},
        {"count": 0},
        {"count": 1001},
        {"count": "100"},
        {"count": 10.5},
        {"count": True},
        {"concurrency": 0},
        {"seconds_a_page": 0},
        {"seconds_a_page": -1},
        {"seconds_a_page": float("nan")},
        {"seconds_a_question": float("inf")},
        {"bytes_a_page": 10**12},
        {"allow_private": "no"},
        {"allow_private": 1},
        {"language": "English"},
        {"trusted": "gov"},
        {"trusted": [".gov"]},
        {"trusted": [7]},
    ],
)
def test_what_cannot_be_used_is_refused(values: dict[str, Any]) -> None:
    base = {} if "address" in values or "provider" in values or not values else {"address": "http://localhost:8080"}
    with pytest.raises(BerdseyeError) as told:
        WebSettings.read({**base, **values})
    assert "\n" not in str(told.value)
    given = [value[0] if isinstance(value, list) else value for value in values.values()]
    facts = [*values, *map(str, given)] or ["address"]
    assert any(fact in str(told.value) for fact in facts), "the setting or its value is named"


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="concurrency"):
        WebSettings.read({"concurency": 3})
    with pytest.raises(UnknownNameError, match="serper"):
        WebSettings.read({"provider": "serpr"})


def test_a_key_is_sent_unencrypted_to_this_machine_only() -> None:
    assert WebSettings(provider="serper", address="http://127.0.0.1:8000").address
    with pytest.raises(BadInputError, match="unencrypted"):
        WebSettings(provider="serper", address="http://127.0.0.1.evil.example")
