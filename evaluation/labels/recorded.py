"""What a label source says of the perspectives of questions, whether or not a run ranked the passages.

Which questions count must not depend on what the stored runs ranked: otherwise a run could leave a question out of its mean
by ranking only passages that nobody judged.
"""

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt
from sqlalchemy import select

from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.schema import pairs
from berdseye.data.datasets.stored import GOLD
from berdseye.data.datasets.versions import parts_of_perspectives
from berdseye.data.labels import LabelStore
from berdseye.data.records import Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.consensus import consensus_of
from berdseye.evaluation.labels.sources import DERIVED, HUMAN, LabelSource, all_majority_labels, replaced_texts

Values = npt.NDArray[np.float64]
_Labels = dict[str, tuple[str, bool]]


def recorded_labels(
    workspace: Workspace, judgments: Judgments, source: LabelSource, questions: Sequence[Question], corpus: str
) -> list[Values]:
    """Return for each question float64[m_i], by perspective: 1 if a passage supports it by people or gold labels of the source, 0
    if there are only labels against it, NaN if there is none.

    People's labels are those of passages of the corpus. Gold labels name no corpus, so that all of them count. The detector of a
    source is not asked. `derived` counts the labels of the perspectives that an edit replaced.
    """
    wanted = sorted({p.text for q in questions for p in q.perspectives})
    edits = parts_of_perspectives(workspace) if DERIVED in source.parts else {}
    replaced = {text: replaced_texts(text, edits) for text in wanted if text in edits}
    texts = sorted({*wanted, *chain.from_iterable(replaced.values())})
    read = {
        HUMAN: lambda: _by_people(judgments, all_majority_labels(judgments, judgments.version(), None), texts, corpus),
        GOLD: lambda: _gold(workspace, texts),
    }
    if source.consensus is not None:
        method = source.consensus
        read[source.parts[0]] = lambda: _by_people(judgments, consensus_of(judgments, method).as_dict(), texts, corpus)
    said = _by_text([read[part]() for part in source.parts if part in read])
    if replaced:
        both = _by_text([read[HUMAN](), read[GOLD]()])
        for text, old in replaced.items():
            labels = [both[t] for t in old if t in both]
            if text not in said and labels:
                said[text] = max(labels)
    return [np.array([said.get(p.text, np.nan) for p in q.perspectives], dtype=np.float64) for q in questions]


def _by_people(judgments: Judgments, labels: Mapping[str, bool], texts: Sequence[str], corpus: str) -> _Labels:
    query = select(pairs.c.key, pairs.c.perspective).where(pairs.c.corpus == corpus)
    known = set(texts)
    with judgments.reading() as connection:
        rows = connection.execute(query).all()
    return {key: (text, labels[key]) for key, text in rows if text in known and key in labels}


def _gold(workspace: Workspace, texts: Sequence[str]) -> _Labels:
    found = LabelStore(workspace).of_perspectives(GOLD, texts)
    return {key: (text, value == 1) for key, (text, value) in found.items()}


def _by_text(sources: Sequence[Mapping[str, tuple[str, bool]]]) -> dict[str, float]:
    """Return for each perspective whether a pair with it supports; the first source that has a label for a pair decides."""
    first: _Labels = {}
    for labels in reversed(sources):
        first |= labels
    said: dict[str, float] = {}
    for text, supports in first.values():
        said[text] = max(said.get(text, 0.0), float(supports))
    return said
