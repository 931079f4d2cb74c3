"""Reading a choice between two words from log-probabilities and from what was written."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.language_models.choosing import YES_OR_NO, Choice, answers_first, probability
from berdseye.data.language_models.protocol import Alternative, Completion


def first_tokens(**likely: float) -> Completion:
    """A completion whose first token could have been these, with these probabilities."""
    told = [Alternative(token, math.log(p)) for token, p in likely.items()]
    return Completion("", 1, 1, None, tuple(told))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Yes", True),
        ("no", False),
        ("  YES.\n", True),
        ("**No**", False),
        ('{"answer": "yes"}', True),
        ('```json\n{"verdict": "no"}\n```', False),
        ('{"supports": false}', False),
        ('{"answer": "no', False),
        ('["yes"]', True),
        ("Answer: Yes", True),
        ("The answer is no.", False),
        ("No, because yes would go too far.", False),
        ("Yes the passage argues for it", True),
        ("The passage gives reasons.\n\nYes.", True),
        ("<think>Yes? Or no?</think>\n\nNo", False),
        ("", None),
        ("Yes or no?", None),
        ("Yes and no.", None),
        ("No doubt it does.", None),
        ("There is no evidence in the passage.", None),
        ('{"answer": "ye', None),
        ("Nothing here.", None),
        ("<think>I should say yes", None),
        ("Answer: yes. Final answer: no.", True),
        ("I think: answer yes. On reflection the answer is no.", None),
    ],
)
def test_what_is_written(text: str, said: bool | None) -> None:
    assert answers_first(text, YES_OR_NO) is said


@pytest.mark.parametrize(
    ("text", "said"), [("1", True), ("2.", False), ("Answer 2", False), ("[1]", True), ("12", None), ("1 or 2", None)]
)
def test_other_words(text: str, said: bool | None) -> None:
    assert answers_first(text, Choice("1", "2")) is said


def test_spellings_are_added_up() -> None:
    told = first_tokens(**{"Yes": 0.3, " yes": 0.2, "YES": 0.1, "No": 0.2, "Maybe": 0.2})
    assert probability(told, YES_OR_NO) == pytest.approx(0.6 / 0.8)


def test_a_token_without_a_probability_counts_as_much_as_it_can() -> None:
    assert probability(first_tokens(Yes=0.9, Maybe=0.06, Well=0.04), YES_OR_NO) == pytest.approx(1.0)
    assert probability(first_tokens(No=0.5, Maybe=0.2), YES_OR_NO) == pytest.approx(0.2 / 0.7)
    assert probability(first_tokens(Yes=0.8), YES_OR_NO) == pytest.approx(0.8)


def test_first_tokens_that_say_little_leave_it_to_the_text() -> None:
    told = first_tokens(**{"{": 0.95, "Yes": 0.03, "No": 0.01})
    assert probability(told._replace(text='{"answer": "no"}'), YES_OR_NO) == 0.0
    assert probability(told._replace(text="{}"), YES_OR_NO) is None


@given(
    st.text(),
    st.none() | st.lists(st.tuples(st.sampled_from(["Yes", " no", "NO", "x", "▁yes"]) | st.text(), st.floats(-800, 0))),
)
def test_whatever_comes_the_probability_is_one_or_nothing(text: str, told: list[tuple[str, float]] | None) -> None:
    alternatives = None if told is None else tuple(Alternative(*entry) for entry in told)
    found = probability(Completion(text, None, None, None, alternatives), YES_OR_NO)
    assert found is None or 0.0 <= found <= 1.0
