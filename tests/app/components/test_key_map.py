"""The keys of the app: none means two things, none is Streamlit's, and the documentation has them all."""

import re
from collections import Counter
from pathlib import Path

import pytest
from streamlit.elements.lib.shortcut_utils import normalize_shortcut
from streamlit.errors import StreamlitAPIException

from berdseye.app.components.keys import EVIDENCE_KEYS, PAGES, STREAMLIT_KEYS, TOUR, key_table

APP = Path(__file__).resolve().parents[3] / "app"
SOURCES = {path: path.read_text(encoding="utf-8") for path in APP.rglob("*.py")}


@pytest.mark.parametrize("page", PAGES)
def test_no_key_of_a_page_means_two_things(page: str) -> None:
    pressed = Counter(binding.key.casefold() for binding in PAGES[page])
    assert [key for key, times in pressed.items() if times > 1] == []
    assert not STREAMLIT_KEYS & set(pressed)


def test_the_keys_of_the_tour_are_no_other_page_s_and_all_are_buttons() -> None:
    others = {binding.key for bindings in PAGES.values() if bindings is not TOUR for binding in bindings}
    assert not others & {binding.key for binding in TOUR}
    assert {binding.by for binding in TOUR} == {"button"}


@pytest.mark.parametrize("page", PAGES)
def test_streamlit_takes_the_keys_of_buttons_and_no_other_page_key_is_a_button_s(page: str) -> None:
    for binding in PAGES[page]:
        if binding.by == "button":
            assert normalize_shortcut(binding.key) == binding.key


def test_what_streamlit_keeps_is_what_we_think() -> None:
    for key in STREAMLIT_KEYS:
        with pytest.raises(StreamlitAPIException, match="cannot use"):
            normalize_shortcut(key)


def test_no_button_has_a_key_that_is_not_declared() -> None:
    for path, source in SOURCES.items():
        assert not re.search(r"shortcut=\"", source), f"{path.name}: take it from key_map.py"


def test_every_key_that_the_page_presses_finds_something() -> None:
    everything = "\n".join(SOURCES.values())
    for binding in {b for bindings in PAGES.values() for b in bindings if b.target}:
        assert f'key="{binding.target}"' in everything, binding


def test_the_script_of_the_passage_knows_the_keys_of_evidence() -> None:
    script = (APP / "components" / "passage_text.js").read_text(encoding="utf-8")
    named = {"escape": "Escape:", "arrowdown": "ArrowDown:", "arrowup": "ArrowUp:", "space": '" ":', "e": " e:"}
    for binding in EVIDENCE_KEYS:
        assert named.get(binding.key, "[1-9]") in script


def test_the_documentation_has_every_key() -> None:
    text = (APP / "components" / "README.md").read_text(encoding="utf-8")
    for page, bindings in PAGES.items():
        assert f"**{page}**\n\n{key_table(bindings)}\n" in text
