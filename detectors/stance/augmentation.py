"""Augmentation of examples of stance: how an example varies each time that it is drawn for a batch."""

import re
from collections.abc import Sequence
from random import Random

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from berdseye.detectors.stance.examples import (
    CONTRADICTED,
    DENIED,
    ENTAILED,
    UNRELATED,
    Example,
    Statement,
    inside_sentence,
)
from berdseye.detectors.training_pairs import denial

_MOST_SUPPORTED, _MOST_OTHERS = 2, 3
_STATED, _REJECTED = 0.15, 0.15
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_SENTENCES_AROUND = (1, 4)
_WORD = re.compile(r"[^\W_]{4,}")
_REJECTIONS = (
    "Some say that {}. They are wrong.",
    "Opponents argue that {}. But this does not hold.",
    "It is often claimed that {}. However, the facts say otherwise.",
    "Critics insist that {}, and they are mistaken.",
    "The old argument that {} convinces nobody any more.",
    "Many people believe that {}. They forget the following.",
    "I used to think that {}. I no longer do.",
    "“{},” they tell us. Nonsense.",
)


def drawn(example: Example, denied: float, chance: Random) -> Example:
    """Choose a few perspectives of an example and add the denials of a share `denied` of them.

    The denial of a supported perspective is opposed, and the other way round: a word of negation does not reveal the label. Some
    passages begin with the claim that they support, so that claims are compared with their own denials too, and some with the
    claim that they oppose, which they reject.
    """
    shuffled = chance.sample(example.statements, len(example.statements))
    chosen = [s for s in shuffled if s.kept]
    chosen += [s for s in shuffled if not s.kept and s.allowed == ENTAILED][:_MOST_SUPPORTED]
    chosen += [s for s in shuffled if not s.kept and s.allowed != ENTAILED][:_MOST_OTHERS]
    opening = chance.random()
    stated = [s.text for s in chosen if s.kept and s.allowed == ENTAILED and opening < _STATED]
    rejected = [
        s.text for s in chosen if s.kept and s.allowed == CONTRADICTED and _STATED <= opening < _STATED + _REJECTED
    ]
    if stated:
        example = example._replace(passage=f"{stated[0].rstrip('.')}. {example.passage}")
    elif rejected:
        claim = inside_sentence(rejected[0].rstrip("."))
        example = example._replace(passage=f"{chance.choice(_REJECTIONS).format(claim)} {example.passage}")
    for statement in tuple(chosen):
        if statement.deniable and statement.allowed in DENIED and chance.random() < denied:
            text = denial(statement.text)
            if text is not None and all(text != other.text for other in chosen):
                chosen.append(Statement(text, DENIED[statement.allowed]))
    return Example(example.passage, tuple(chosen))


def off_topic(example: Example, others: Sequence[Example], chance: Random) -> Example:
    """Add a perspective of another example that shares no longer word with the passage, if one drawn at random is such."""
    other = chance.choice(chance.choice(others).statements).text
    if _words(other) & _words(example.passage):
        return example
    return example._replace(statements=(*example.statements, Statement(other, UNRELATED)))


def in_context(example: Example, others: Sequence[Example], chance: Random) -> Example:
    """Put sentences of another passage before or after the passage, unless they share a longer word with a perspective.

    Evidence is then one sentence of several, as in retrieved passages, and the labels stay.
    """
    sentences = _SENTENCE_END.split(chance.choice(others).passage)
    start = chance.randrange(len(sentences))
    around = " ".join(sentences[start : start + chance.randint(*_SENTENCES_AROUND)])
    if any(_words(around) & _words(statement.text) for statement in example.statements):
        return example
    parts = chance.sample((f"{example.passage.rstrip(' .')}.", around), 2)
    return example._replace(passage=" ".join(parts))


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.casefold()) if word not in ENGLISH_STOP_WORDS}
