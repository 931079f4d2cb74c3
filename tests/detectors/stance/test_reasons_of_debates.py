"""Claims joined with titles of a debate, as training examples: a reason counts, and what joins it to the claim varies."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.detectors.stance.augmentation import drawn
from berdseye.detectors.stance.examples import (
    CONTRADICTED,
    ENTAILED,
    NOT_SUPPORTED,
    Allowed,
    Example,
    Statement,
    _debate_examples,
    because,
    with_reason,
)
from berdseye.detectors.stance.reasons import claim_and_reason
from berdseye.detectors.training_pairs import Argument, Debate, denial
from tests.detectors.made_debates import FILLER, SUBJECTS

FORMS = ("{}, because {}", "{}, since {}", "{}, as {}", "{}: {}", "{}; {}", "{}. {}")


def debate(subject: str) -> Debate:
    """Return a debate with four arguments for and two against."""
    arguments = [
        Argument(stance, title(subject, stance, n), (f"{subject} {stance} {n} {FILLER}",), ())
        for stance, count in (("supporting", 4), ("opposing", 2))
        for n in range(count)
    ]
    return Debate(f"The city should ban {subject}", tuple(arguments))


def title(subject: str, stance: str, number: int) -> str:
    return f"A {stance} reason about {subject}, number {number}"


@pytest.mark.parametrize("seed", [0, 1])
def test_a_passage_supports_its_claim_with_its_own_title_alone(seed: int) -> None:
    debates = [debate(subject) for subject in SUBJECTS]
    found = _debate_examples(debates, seed)
    assert found == _debate_examples(debates, seed)
    used = set()
    for example in found:
        subject, stance, number = example.passage.split()[:3]
        claim = f"The city should ban {subject}"
        mine, theirs = (claim, denial(claim)) if stance == "supporting" else (denial(claim), claim)
        other_stance = "opposing" if stance == "supporting" else "supporting"
        joined = {s.text: s.allowed for s in example.statements if " reason about " in s.text and "ban" in s.text}

        def labels(claim: str | None, reason: str, joined: dict[str, Allowed] = joined) -> list[Allowed]:
            forms = {form: with_reason(str(claim), reason, form) for form in FORMS}
            used.update(form for form, text in forms.items() if text in joined)
            return [joined.pop(text) for text in forms.values() if text in joined]

        assert labels(mine, title(subject, stance, int(number))) == [ENTAILED]
        others = [n for n in range(4 if stance == "supporting" else 2) if n != int(number)]
        assert [labels(mine, title(subject, stance, n)) for n in others] == [[NOT_SUPPORTED]] * len(others)
        against = [labels(theirs, title(subject, other_stance, n)) for n in range(4)]
        assert [one for one in against if one] == [[CONTRADICTED]] * 2
        assert joined == {}
    assert used == set(FORMS)


def test_the_denial_of_a_claim_with_a_reason_is_no_perspective() -> None:
    """The contrary claim with the same reason is neither supported nor opposed for certain."""
    examples = _debate_examples([debate(subject) for subject in SUBJECTS], 0)
    chance = Random(0)
    for example in examples:
        texts = {statement.text for statement in example.statements}
        added = [s.text for s in drawn(example, 1.0, chance).statements if s.text not in texts]
        assert not [text for text in added if " reason about " in text and "ban" in text]
    plain = Example("Cars are loud.", (Statement("Cars should be banned", ENTAILED),))
    assert len(drawn(plain, 1.0, chance).statements) == 2


@given(st.sampled_from(FORMS), st.booleans())
def test_a_claim_with_a_reason_is_one_sentence_or_two(form: str, ends: bool) -> None:
    joined = with_reason("Zoos should be closed" + "." * ends, "Animals suffer there", form)
    assert joined.casefold() == form.format("Zoos should be closed", "Animals suffer there").casefold()
    parts = claim_and_reason(joined)
    assert parts == (None if form == "{}, as {}" else ("Zoos should be closed.", "Animals suffer there"))


def test_a_reason_begins_as_its_form_asks() -> None:
    assert because("Zoos should be closed.", "Animals suffer") == "Zoos should be closed, because animals suffer"
    assert with_reason("Zoos should be closed", "animals suffer", "{}. {}") == "Zoos should be closed. Animals suffer"
    assert with_reason("Zoos should be closed", "NATO says so", "{}; {}") == "Zoos should be closed; NATO says so"
