"""The words a question matches."""

import pytest

from berdseye.retrieval.lexical.query_words import matched_spans


def matched(text: str, query: str) -> list[str]:
    return [text[start:end] for start, end in matched_spans(text, query)]


@pytest.mark.parametrize(
    ("text", "query", "words"),
    [
        ("Cars were banned; the ban on cars holds.", "Should a car be banned?", ["Cars", "banned", "ban", "cars"]),
        ("The cat and the car.", "the and of", []),
        ("Scarce cars", "car", ["cars"]),
        ("ÉCOLE, école!", "école", ["ÉCOLE", "école"]),
        ("<b>cars</b>&cars", "b cars", ["cars", "cars"]),
        ("", "cars", []),
        ("cars", "", []),
        ("😀cars😀 \u202ecars", "cars", ["cars", "cars"]),
    ],
)
def test_words_whose_stems_are_the_question_s(text: str, query: str, words: list[str]) -> None:
    assert matched(text, query) == words
