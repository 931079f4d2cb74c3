"""Passages with perspectives near them that nobody labelled, for a teacher of `stance` to judge.

A search brings passages that are on the topic of a perspective and support something else, which labelled pairs hardly contain.
"""

from collections.abc import Mapping, Sequence
from random import Random

import numpy as np

from berdseye.data.models.static_embedding import static_embedding
from berdseye.detectors.stance.examples import NEITHER, OPPOSES, SUPPORTS, Example, Statement
from berdseye.detectors.training_pairs import denial

NEAR = "near"
UNKNOWN = frozenset({SUPPORTS, OPPOSES, NEITHER})
_PASSAGES = ("debates", "fever", "windows of arguments")
_PERSPECTIVES = ("debates", "claims", "arguments")
_NEAREST, _CHOSEN = 20, 3
_DENIED = 0.3
_AT_ONCE = 1024


def near_examples(examples: Mapping[str, Sequence[Example]], seed: int) -> dict[str, list[Example]]:
    """Return the longer passages of training examples, each with three of the 20 perspectives nearest to it by static embedding.

    They are one more source, `NEAR`, beside those of `training_examples`. Perspectives that come with the passage are left out,
    and a share of the others is denied. The same arguments give the same examples, in a random order.
    """
    chance = Random(seed)
    own: dict[str, set[str]] = {}
    for source in _PASSAGES:
        for example in examples.get(source, ()):
            own.setdefault(example.passage, set()).update(statement.text for statement in example.statements)
    found = {s.text for source in _PERSPECTIVES for example in examples.get(source, ()) for s in example.statements}
    passages, perspectives = list(own), sorted(found)
    if not passages or len(perspectives) <= _NEAREST:
        return {NEAR: []}
    embed = static_embedding().encode
    table = embed(perspectives).T
    out = []
    for start in range(0, len(passages), _AT_ONCE):
        block = passages[start : start + _AT_ONCE]
        nearest = np.argpartition(-(embed(block) @ table), _NEAREST, axis=1)[:, :_NEAREST]
        for passage, row in zip(block, np.sort(nearest, axis=1).tolist(), strict=True):
            others = [perspectives[place] for place in row if perspectives[place] not in own[passage]]
            chosen = chance.sample(others, min(_CHOSEN, len(others)))
            texts = [(denial(text) if chance.random() < _DENIED else None) or text for text in chosen]
            if texts:
                out.append(Example(passage, tuple(Statement(text, UNKNOWN) for text in texts)))
    chance.shuffle(out)
    return {NEAR: out}
