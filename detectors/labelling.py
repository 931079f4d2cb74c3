"""Labels of pairs through the label cache: cached labels are read, all others are predicted and stored."""

import logging
from collections.abc import Callable, Sequence
from math import isnan
from time import monotonic
from typing import NamedTuple

import numpy as np

from berdseye.data.labels import LabelStore
from berdseye.data.progress import Progress, silent
from berdseye.data.records import DetectorVersion, Label, Pair
from berdseye.data.texts.truncation import cut_note
from berdseye.data.workspace import DEFAULTS, Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.opinions import Opinion, grade_of, opinions, unsure_about
from berdseye.detectors.protocol import Detector, Floats, cut_function, stances_function
from berdseye.detectors.trained import adopted_detector

_log = logging.getLogger(__name__)
_SECONDS = 20.0


def label_function(workspace: Workspace) -> Callable[[str, Sequence[Pair]], Floats]:
    """Return a function from a detector's name and pairs to P(supports), through the label cache, for `>> cover(DETECTOR)`."""

    def label_pairs(detector: str, pairs: Sequence[Pair]) -> Floats:
        return label(LabelStore(workspace), parse_detector(detector, workspace), pairs)

    return label_pairs


def adopted_predictions(workspace: Workspace) -> Callable[[Sequence[Pair]], tuple[list[float], DetectorVersion]]:
    """Predictions of the adopted detector, through the label cache: the probability that each pair supports, and the detector.
    The exchange with Label Studio takes such a function."""

    def predict(pairs: Sequence[Pair]) -> tuple[list[float], DetectorVersion]:
        detector = parse_detector(adopted_detector(workspace), workspace)
        probabilities = label(LabelStore(workspace), detector, pairs)
        return probabilities.tolist(), version_of(workspace, detector)

    return predict


def version_of(workspace: Workspace, detector: Detector) -> DetectorVersion:
    """Return the record of a detector that goes with its labels."""
    grade = grade_of(workspace, detector)
    return DetectorVersion(detector.name, detector.version, detector.threshold, grade, unsure_width(workspace))


def label(
    store: LabelStore,
    detector: Detector,
    pairs: Sequence[Pair],
    *,
    progress: Progress = silent,
) -> Floats:
    """Return P(supports) of each pair, float32[n_pairs], through the label cache.

    Predictions are stored every 20 seconds and on an interruption, so that another call resumes the work.
    """
    return label_keys(
        store, detector, [pair.key for pair in pairs], lambda places: [pairs[i] for i in places], progress=progress
    )


class OpinedPair(NamedTuple):
    """A detector's label of a pair, P(opposes) (NaN: not known), and the opinion that a page shows for them."""

    label: Label
    opposing: float
    opinion: Opinion

    @property
    def probability(self) -> float:
        """The probability of what the opinion says, NaN for `not yet`; P(supports) for `unsure` and `on topic`, and
        1 - P(supports) for `off topic`."""
        against = 0.0 if isnan(self.opposing) else self.opposing
        match self.opinion:
            case "opposes":
                return self.opposing
            case "off topic":
                return 1 - self.label.probability
            case "neither" | "does not support":
                return max(0.0, 1 - self.label.probability - against)
            case _:
                return self.label.probability

    @property
    def probabilities(self) -> str:
        """The probabilities that are known, by their names; empty for `not yet`."""
        supporting = self.label.probability
        if isnan(supporting):
            return ""
        known = f"P(supports) = {supporting:.2f}"
        if isnan(self.opposing):
            return known
        return f"{known}, P(opposes) = {self.opposing:.2f}, P(neither) = {max(0.0, 1 - supporting - self.opposing):.2f}"


def opined(
    workspace: Workspace, detector: Detector, pairs: Sequence[Pair], *, at_most: int | None = None
) -> list[OpinedPair]:
    """Return a detector's label and opinion of each pair, through the label cache.

    At most `at_most` pairs without a stored label are labelled, the first ones (None: all); the others have the opinion `not yet`
    and the probability NaN. The width of the opinion `unsure` is the setting `unsure` in the section `detectors` of the
    workspace.
    """
    store, keys = LabelStore(workspace), [pair.key for pair in pairs]
    supporting = store.get(detector.name, keys, detector.version)
    missing = np.flatnonzero(np.isnan(supporting))[:at_most].tolist()
    if missing:
        supporting[missing] = label(store, detector, [pairs[place] for place in missing])
    opposing = store.opposing(detector.name, keys, detector.version)
    return _opined(workspace, detector, supporting, opposing)


def opined_at_once(workspace: Workspace | None, detector: Detector, pairs: Sequence[Pair]) -> list[OpinedPair]:
    """Return a detector's label and opinion of each pair, computed without the label cache."""
    tell = stances_function(detector)
    if tell is None:
        supporting = detector.predict(pairs)
        return _opined(workspace, detector, supporting, np.full(len(pairs), np.nan, dtype=np.float32))
    stances = tell(pairs)
    return _opined(workspace, detector, stances[:, 0], stances[:, 1])


def share_unsure(
    workspace: Workspace | None, detector: Detector, supporting: Floats, threshold: float | None = None
) -> float | None:
    """Return the share of pairs, from 0 to 1, that a detector is unsure about at its own threshold or at `threshold`.

    `supporting` is P(supports), float32[n]; pairs without a label (NaN) do not count. None without pairs.
    """
    known = supporting[~np.isnan(supporting)]
    if not len(known):
        return None
    at = detector.threshold if threshold is None else threshold
    return float(unsure_about(at, unsure_width(workspace), known).mean())


def unsure_width(workspace: Workspace | None) -> float:
    """Return how near to the threshold a probability is `unsure`: the setting `unsure` in the section `detectors`."""
    return float((DEFAULTS if workspace is None else workspace.settings)["detectors"]["unsure"])


def _opined(workspace: Workspace | None, detector: Detector, supporting: Floats, opposing: Floats) -> list[OpinedPair]:
    width = unsure_width(workspace)
    given = opinions(grade_of(workspace, detector), detector.threshold, width, supporting, opposing)
    return [
        OpinedPair(Label(p, p >= detector.threshold), against, opinion)
        for p, against, opinion in zip(supporting.tolist(), opposing.tolist(), given, strict=True)
    ]


def label_keys(
    store: LabelStore,
    detector: Detector,
    keys: Sequence[str],
    texts: Callable[[Sequence[int]], Sequence[Pair]],
    *,
    progress: Progress = silent,
) -> Floats:
    """Return P(supports) of pairs given by their keys, float32[n_keys], through the label cache.

    `texts` returns the pairs at some places of `keys`; it is called only for pairs without a cached label. Predictions are
    stored every 20 seconds and on an interruption, so that another call resumes the work. The log has a warning if the detector
    read only a part of some texts, now or when it computed the cached labels, which record this since version 0.5.
    """
    version = detector.version
    probabilities_by_place = store.get(detector.name, keys, version)
    unknown = np.flatnonzero(np.isnan(probabilities_by_place)).tolist()
    first: dict[str, int] = {}
    for place in unknown:
        first.setdefault(keys[place], place)
    missing = list(first)
    predicted: dict[str, float] = {}
    waiting: dict[str, _Prediction] = {}
    tell, cut = stances_function(detector), cut_function(detector)
    last_stored = monotonic()
    try:
        for start in range(0, len(missing), detector.pairs_at_once):
            batch = missing[start : start + detector.pairs_at_once]
            pairs = texts([first[key] for key in batch])
            rows = detector.predict(pairs)[:, None] if tell is None else tell(pairs)
            were_cut = [None] * len(pairs) if cut is None else cut(pairs).tolist()
            waiting.update(zip(batch, map(_Prediction, rows.tolist(), were_cut), strict=True))
            progress(start + len(batch), "pairs", len(missing))
            if monotonic() - last_stored > _SECONDS:
                _store(store, detector.name, version, waiting, predicted)
                last_stored = monotonic()
    finally:
        _store(store, detector.name, version, waiting, predicted)
    if cut is not None and (truncated := store.count_cut(detector.name, keys, version)):
        _log.warning(cut_note(detector.name, truncated, len(set(keys))))
    probabilities_by_place[unknown] = [predicted[keys[place]] for place in unknown]
    return probabilities_by_place


def predict_all(detector: Detector, pairs: Sequence[Pair], *, progress: Progress = silent) -> Floats:
    """Return P(supports) of each pair, float32[n_pairs], without the label cache."""
    parts: list[Floats] = [np.zeros(0, dtype=np.float32)]
    for start in range(0, len(pairs), detector.pairs_at_once):
        parts.append(detector.predict(pairs[start : start + detector.pairs_at_once]))
        progress(min(start + detector.pairs_at_once, len(pairs)), "pairs", len(pairs))
    return np.concatenate(parts)


class _Prediction(NamedTuple):
    """The stances of a pair, (P(supports),) or (P(supports), P(opposes), P(neither)), and whether a text of it was cut (None: the
    detector does not report this)."""

    stances: Sequence[float]
    cut: bool | None


def _store(
    store: LabelStore, name: str, version: str, waiting: dict[str, _Prediction], known: dict[str, float]
) -> None:
    """Store the waiting predictions, and move P(supports) of each to `known`."""
    rows = [one.stances for one in waiting.values()]
    supporting = [row[0] for row in rows]
    opposing = [row[1] for row in rows] if rows and len(rows[0]) > 1 else None
    cut = [one.cut for one in waiting.values() if one.cut is not None]
    store.put(name, version, list(waiting), supporting, opposing, cut=cut or None)
    known.update(zip(waiting, supporting, strict=True))
    waiting.clear()
