"""What the label of a pair rests on, as spans of the passage: people's evidence, otherwise the sentence that the detector scores
highest when it reads each sentence alone, unless it says of none, however unsure, that it supports the perspective."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.recorded import Span, present_evidence
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair
from berdseye.data.texts.chunkers import sentence_spans
from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import unsure_width
from berdseye.detectors.protocol import Detector, is_quick

Basis = Literal["evidence", "detector"]


class Rationale(NamedTuple):
    """The spans that a label rests on, in order, and whether people marked them or the detector's scores chose them."""

    spans: tuple[Span, ...]
    by: Basis


class Rationales(NamedTuple):
    """The known rationales by the key of the pair, and the sentences that the detector must label to know the others."""

    known: dict[str, Rationale]
    unlabelled: list[Pair]


def rationales(workspace: Workspace, judgments: Judgments, detector: Detector, pairs: Sequence[Pair]) -> Rationales:
    """Return what the labels of pairs rest on, as far as it is stored; nothing is labelled here.

    The evidence is that of present judgments with the verdict `supports`. Sentences are labelled like passages, with the title of
    theirs, and a passage of one sentence has no rationale. Only a quick detector (see `is_quick`) is asked about sentences; where
    it scores them all below its threshold by more than the width of its unsure band, there is no rationale.
    """
    evidence = present_evidence(judgments, [pair.key for pair in pairs])
    known = {key: Rationale(spans, "evidence") for key, spans in evidence.items()}
    if not is_quick(detector):
        return Rationales(known, [])
    spans = {pair: sentence_spans(pair.passage) for pair in pairs if pair.key not in known}
    alone = {
        pair: [Pair(pair.passage[start:end], pair.perspective, pair.title) for start, end in found]
        for pair, found in spans.items()
        if len(found) > 1
    }
    sentences = [sentence for read in alone.values() for sentence in read]
    stored = LabelStore(workspace).get(detector.name, [each.key for each in sentences], detector.version)
    scores = iter(stored.tolist())
    for pair, read in alone.items():
        own = np.array([next(scores) for _ in read])
        if not np.isnan(own).any() and own.max() >= detector.threshold - unsure_width(workspace):
            known[pair.key] = Rationale((spans[pair][int(own.argmax())],), "detector")
    missing = [each for each, score in zip(sentences, stored.tolist(), strict=True) if np.isnan(score)]
    return Rationales(known, list(dict.fromkeys(missing)))
