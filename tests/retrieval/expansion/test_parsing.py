"""What language models write where JSON was asked for."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.retrieval.expansion.language_model import LARGEST, json_values, parse_statements

YES, NO, MAYBE = "Yes, they teach children.", "No, animals suffer there.", "It depends on the zoo."


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([YES, NO]),
        json.dumps({"Education View": YES, "Welfare View": NO}),
        json.dumps({"perspectives": [YES, NO]}),
        json.dumps({"perspectives": {"Education View": YES, "Welfare View": NO}}),
        json.dumps([{"name": "Education View", "text": YES}, {"name": "Welfare View", "text": NO}]),
        json.dumps({"Education View": {"view": YES}, "Welfare View": {"view": NO}}),
        json.dumps([[YES], [NO]]),
        f"Sure! Here they are:\n```json\n{json.dumps([YES, NO])}\n```\nI hope that this is of help [1].",
        f'Here is a list {{of answers}}: ["{YES}", "{NO}"]. Ask me "what else there is" if you like.',
        f'["{YES}",\n"{NO}",',
        f'{{"Education View": "{YES}", "Welfare View": "{NO}", "Third": "It is not cle',
        f'[{{"name": "Education View", "text": "{YES}"}}, {{"name": "Welfare View", "text": "{NO}"}}, {{"name": "Thi',
        f'```\n["{YES}", "{NO}" oops]\n```\nThe list "is not quite right".',
        f"1. {YES}\n2. {NO}",
        f"There are two:\n\n  1) {YES}\n\n  2) {NO}\n\nThat is all.",
        f"- {YES}\n- {NO}\n- {YES.upper()}",
        f"* **Education:** {YES}\n* **Welfare**: {NO}",
        f'• "{YES}",\n• "{NO}"',
        json.dumps([YES, "yes, they  teach\nchildren.", NO, "", " ", "…", 3, None, "Maybe not", True]),
    ],
)
def test_statements_are_found_in_every_dress(text: str) -> None:
    assert parse_statements(text) == (YES, NO)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot answer that.",
        "[]",
        "{}",
        "[1, 2]",
        "- one bullet is no list",
        "{" * 5000,
        "[" * 100_000,
        '"',
        '["',
    ],
)
def test_where_nothing_is_listed_nothing_is_found(text: str) -> None:
    assert parse_statements(text) == ()


def test_at_most_ten_are_taken_and_other_scripts_count_too() -> None:
    assert len(parse_statements(json.dumps([f"Answer number {n}." for n in range(30)]))) == LARGEST
    assert parse_statements('["应该禁止", "不应该禁止"]') == ("应该禁止", "不应该禁止")


@given(st.text(alphabet='{}[]":,ab1 \n\\-*.`', max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    found = parse_statements(text)
    assert len({f.casefold() for f in found}) == len(found) <= LARGEST


@given(
    st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3), max_size=3), st.text("ab ,.:-\n")
)
def test_whole_values_are_found_amid_prose(values: list[dict[str, str]], prose: str) -> None:
    assert json_values(prose.join(["", *map(json.dumps, values), ""])) == values
