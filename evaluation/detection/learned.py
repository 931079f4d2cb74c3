"""What a detector was trained or tuned on, as far as this workspace knows: pairs of it prove nothing of the detector."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.annotation.training_sets.store import list_sets
from berdseye.data.errors import BerdseyeError
from berdseye.data.grammar import parse
from berdseye.data.passages import clean
from berdseye.data.splits import same_question
from berdseye.data.workspace import Workspace
from berdseye.detectors.trained import list_trained


class Learned(NamedTuple):
    """Questions (`same_question`) and passages of the train and dev splits of the training sets `sets`; `elsewhere` names what
    the detector learned from that does not stand in this workspace, so that nothing can be said about it."""

    questions: frozenset[str]
    passages: frozenset[str]
    sets: tuple[str, ...]
    elsewhere: tuple[str, ...]

    def seen(self, table: pd.DataFrame) -> npt.NDArray[np.bool_]:
        """Which rows of `JudgedPairs.table` have a question, or a passage in the same words, that was learned from, bool[n]."""
        if not self.sets:
            return np.zeros(len(table), dtype=bool)
        questions = table["question"].where(table["question"] != "", table["perspective"]).map(same_question)
        return np.asarray(
            questions.isin(self.questions) | table["passage"].map(_same_words).isin(self.passages), dtype=bool
        )


def learned(workspace: Workspace, detector: str) -> Learned:
    """Of a detector by its name, of those it started from, and of the parts of a mean."""
    cards = {t.detector: t.card for t in list_trained(workspace)}
    sets = {(s.id, s.hash): s for s in list_sets(workspace)}
    questions: set[str] = set()
    passages: set[str] = set()
    used: dict[str, None] = {}
    elsewhere: dict[str, None] = {}
    waiting = [detector]
    while waiting:
        name = waiting.pop()
        waiting += _parts(name)
        if (card := cards.pop(name, None)) is None:
            continue
        waiting += _bases(card)
        made = sets.get((str(card.get("data")), str(card.get("data_hash"))))
        if made is None:
            elsewhere[str(card.get("data") or "data that its card does not name")] = None
            continue
        used[made.id] = None
        rows = [pair for pair in made.pairs() if pair.split != "test"]
        questions |= {same_question(pair.question or pair.pair.perspective) for pair in rows}
        passages |= {_same_words(pair.pair.passage) for pair in rows}
    return Learned(frozenset(questions), frozenset(passages), tuple(used), tuple(elsewhere))


def _same_words(passage: str) -> str:
    return same_question(clean(passage))


def _bases(card: dict[str, Any]) -> list[str]:
    base = card.get("base")
    return [str(b) for b in base] if isinstance(base, list) else [str(base)] if base else []


def _parts(name: str) -> list[str]:
    """The detectors that a mean is taken of."""
    try:
        (call,) = parse(name)
    except (BerdseyeError, ValueError):  # a base may be a model's name, or a folder
        return []
    return [str(part) for part in call.args] if call.name == "mean" else []
