"""Label sources: a detector, people's judgments, the consensus of these judgments with its uncertainty
(`consensus(dawid-skene)`), gold labels, labels derived from the former for merged or reworded perspectives, several sources in
order of trust (`human>embedded`), or one or several detectors whose mean is corrected by people's judgments of a sample.

The rule for derived labels: a passage supports a new perspective if it supports any perspective that the new one replaced. It
does not support the new one if all of the replaced perspectives have a label and it supports none of them. Otherwise there is
no label. Berdseye derives nothing for the parts of a split perspective, because a passage that supports the old perspective may
support either part. Derived labels are not judgments: they are never stored, and count only if the label source names `derived`.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.annotation.judgments.adjudication import adjudicated_labels, majority_labels
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.stored import GOLD
from berdseye.data.datasets.versions import parts_of_perspectives
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.grammar import Call, parse
from berdseye.data.labels import LabelStore
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Grade, Pair, pair_key
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import detector_kinds, parse_detector
from berdseye.detectors.labelling import label_keys, unsure_width
from berdseye.detectors.opinions import grade_of, unsure_about
from berdseye.detectors.protocol import Detector
from berdseye.detectors.thresholds import Tuned, version_in_use
from berdseye.detectors.trained import adopted_detector, detector_names
from berdseye.evaluation.labels.consensus import CONSENSUS, METHODS, Method, consensus_of

Values = npt.NDArray[np.float64]
Parts = list[tuple[str, ...]]
HUMAN = "human"
CORRECTED = "corrected"
DERIVED = "derived"
_NO_DETECTORS = (HUMAN, GOLD, DERIVED, *(f"{CONSENSUS}({method})" for method in METHODS))
_FEW = 2000


def derived_labels(workspace: Workspace, pairs: Sequence[Pair], labels_of: Callable[[Sequence[str]], Values]) -> Values:
    """Return the derived label of each pair, float64[n_pairs] of 1, 0 and NaN, over all versions of all data sets.

    The rule is that of the module. `labels_of` returns the labels of pairs by their keys. If several edits led to one text, the
    newest edit that gives a label counts. If a replaced perspective has no label but comes from an edit itself, the rule applies
    to it as well.
    """
    parts = parts_of_perspectives(workspace)
    places = [n for n, pair in enumerate(pairs) if pair.perspective in parts]
    keys = {
        (pairs[n].passage, text): pair_key(pairs[n].passage, text)
        for n in places
        for text in replaced_texts(pairs[n].perspective, parts)
    }
    labels = dict(zip(keys, labels_of(list(keys.values())).tolist() if keys else [], strict=True))
    derived: Values = np.full(len(pairs), np.nan)
    for n in places:
        derived[n] = _derived(pairs[n].passage, pairs[n].perspective, parts, labels, frozenset())
    return derived


def replaced_texts(text: str, parts: Mapping[str, Parts]) -> set[str]:
    """Return all texts that a perspective replaced, directly or through other edits."""
    texts: set[str] = set()
    waiting = [text]
    while waiting:
        new = set(chain.from_iterable(parts.get(waiting.pop(), []))) - texts
        texts |= new
        waiting += new
    return texts


def _derived(
    passage: str,
    text: str,
    parts: Mapping[str, Parts],
    labels: Mapping[tuple[str, str], float],
    above: frozenset[str],
) -> float:
    for edit in parts.get(text, []) if text not in above else []:
        values = []
        for part in edit:
            label = labels[passage, part]
            values.append(_derived(passage, part, parts, labels, above | {text}) if np.isnan(label) else label)
        if 1.0 in values or not np.isnan(values).any():
            return float(1.0 in values)
    return np.nan


@dataclass(frozen=True)
class LabelSource:
    """Sources in order of trust: the first source that has a label for a pair gives the pair's label.

    The parts of a `corrected` source are detectors; people's judgments correct the means of their labels
    (evaluation/scores/corrected.py), and the first detector gives labels where one label per pair is needed.
    If the first source is `consensus(...)`, the uncertainty of people's labels is part of measures
    (evaluation/scores/posterior_draws.py).
    """

    parts: tuple[str, ...]
    corrected: bool = False

    def __str__(self) -> str:
        return f"{CORRECTED}({','.join(self.parts)})" if self.corrected else ">".join(self.parts)

    @property
    def plain(self) -> "LabelSource":
        """The source without correction: for a corrected source its first detector, for any other source itself."""
        return LabelSource(self.parts[:1] if self.corrected else self.parts)

    @property
    def further(self) -> tuple["LabelSource", ...]:
        """The detectors of a corrected source beside the first, each as a source of its own."""
        return tuple(LabelSource((part,)) for part in self.parts[1:]) if self.corrected else ()

    @property
    def consensus(self) -> Method | None:
        """The method of the consensus of people's judgments, if the source begins with one."""
        return next((method for method in METHODS if self.parts[:1] == (f"{CONSENSUS}({method})",)), None)

    @property
    def asks_detector(self) -> bool:
        """Whether the last source is a detector, which labels every pair."""
        return self.parts[-1] not in _NO_DETECTORS

    def detector(self, workspace: Workspace) -> Detector | None:
        """Return the detector among the sources, or None; of several corrected ones the first."""
        return parse_detector(self.plain.parts[-1], workspace) if self.asks_detector else None


def source_grade(workspace: Workspace, source: LabelSource) -> Grade | Literal[""]:
    """Return the grade of the detector among the sources, empty if there is none; of several the lowest."""
    detector = source.detector(workspace)
    if detector is None:
        return ""
    grades = {grade_of(workspace, detector), *(source_grade(workspace, one) for one in source.further)}
    return "topic" if "topic" in grades else grade_of(workspace, detector)


def detector_version(workspace: Workspace, source: LabelSource) -> str:
    """Return the version of the detector among the sources, with a tuned threshold (`version_in_use`); of several all versions in
    order, empty if there is none."""
    detector = source.detector(workspace)
    if detector is None:
        return ""
    return ", ".join([version_in_use(detector), *(detector_version(workspace, one) for one in source.further)])


def label_versions(workspace: Workspace, judgments: Judgments, source: LabelSource) -> dict[str, str]:
    """Return the versions of everything that the labels of a source depend on: equal versions mean equal labels."""
    parts = set(source.parts)
    detectors = {part: parse_detector(part, workspace) for part in source.parts if part not in _NO_DETECTORS}
    versions = {part: detector.version for part, detector in detectors.items()}
    versions |= {f"threshold of {p}": f"{d.threshold:g}" for p, d in detectors.items() if isinstance(d, Tuned)}
    if parts & {HUMAN, DERIVED} or source.consensus is not None:
        versions["judgments"] = str(judgments.version())
    if parts & {GOLD, DERIVED}:
        versions[GOLD] = LabelStore(workspace).state(GOLD)
    if DERIVED in parts:
        edits = repr(sorted(parts_of_perspectives(workspace).items()))
        versions[DERIVED] = hashlib.blake2b(edits.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return versions


def default_source(workspace: Workspace) -> str:
    """Return the default label source: the adopted detector.

    If the workspace has gold labels, people's judgments and gold labels come before the detector, because the detector is often
    wrong where they are right.
    """
    adopted = adopted_detector(workspace)
    return f"{HUMAN}>{GOLD}>{adopted}" if GOLD in LabelStore(workspace).sources() else adopted


def default_sources(workspace: Workspace) -> list[str]:
    """Return the label sources offered for selection; the default comes first."""
    adopted, *others = detector_names(workspace)
    sources = [
        default_source(workspace),
        adopted,
        f"{HUMAN}>{adopted}",
        f"{CORRECTED}({adopted})",
        HUMAN,
        f"{CONSENSUS}({METHODS[0]})",
        GOLD,
        *others,
    ]
    return list(dict.fromkeys(sources))


def parse_label_source(text: str) -> LabelSource:
    """Parse a label source such as `embedded`, `human`, `gold`, `human>derived>embedded`, `consensus(dawid-skene)>embedded`,
    `corrected(embedded)` or `corrected(stance,embedded)`. `consensus` alone stands for `consensus(dawid-skene)`.

    Raises `UnknownNameError` for an unknown source and `BadInputError` for sources that cannot be combined.
    """
    calls = parse(text)
    if calls[0].name == CORRECTED:
        return _corrected(text, calls)
    parts = tuple(f"{CONSENSUS}({METHODS[0]})" if str(call) == CONSENSUS else str(call) for call in calls)
    for place, part in enumerate(parts):
        if part.startswith(f"{CONSENSUS}(") and part not in _NO_DETECTORS:
            raise UnknownNameError("method of the consensus", part[len(CONSENSUS) + 1 : -1], METHODS)
        if part.startswith(CONSENSUS) and (place > 0 or HUMAN in parts):
            raise BadInputError(
                f"In '{text}', {part} must be the first source and takes the place of {HUMAN}.",
                hint=f"Write, for example, {part}>embedded.",
            )
        if part in _NO_DETECTORS:
            continue
        if part.partition("(")[0] not in detector_kinds():
            raise UnknownNameError("label source", part, [*_NO_DETECTORS, CONSENSUS, CORRECTED, *detector_kinds()])
        if place < len(parts) - 1:
            raise BadInputError(
                f"In '{text}', no source can follow {part}.", hint="A detector labels every pair, so it must be last."
            )
    return LabelSource(parts)


def _corrected(text: str, calls: Sequence[Call]) -> LabelSource:
    example = f"Write, for example, {CORRECTED}(embedded), or {CORRECTED}(stance,embedded) for several detectors."
    if len(calls) > 1 or not calls[0].args or calls[0].kwargs:
        raise BadInputError(f"'{text}' does not name the detectors to correct.", hint=example)
    detectors: list[str] = []
    for argument in calls[0].args:
        inner = parse_label_source(str(argument))
        if inner.corrected or len(inner.parts) > 1 or inner.parts[0] in _NO_DETECTORS:
            raise BadInputError(f"'{inner}' is not a detector.", hint=example)
        if inner.parts[0] in detectors:
            raise BadInputError(f"'{text}' names {inner} twice.", hint="Name each detector once.")
        detectors += inner.parts
    return LabelSource(tuple(detectors), corrected=True)


def labels_of(
    workspace: Workspace,
    judgments: Judgments,
    source: LabelSource,
    pairs: Sequence[Pair],
    *,
    first: int | None = None,
    progress: Progress = silent,
) -> npt.NDArray[np.float64]:
    """Return the label of each pair, float64[n_pairs]: 1 (supports), 0 (does not support) or NaN (no label).

    With `first` (an annotator's id), the own judgments of that annotator come before the majority. Raises `BadInputError` for a
    corrected source, which gives a mean and does not label single pairs.
    """
    return labels_by_key(
        workspace,
        judgments,
        source,
        [pair.key for pair in pairs],
        lambda places: [pairs[i] for i in places],
        first=first,
        progress=progress,
    )


def labels_by_key(
    workspace: Workspace,
    judgments: Judgments,
    source: LabelSource,
    keys: Sequence[str],
    texts: Callable[[Sequence[int]], Sequence[Pair]],
    *,
    first: int | None = None,
    ask: bool = True,
    progress: Progress = silent,
) -> npt.NDArray[np.float64]:
    """Return the label of each pair, given by its key: float64[n_pairs] of 1 (supports), 0 (does not support) and NaN (no label).

    `texts` returns the pairs at some positions of `keys`, for a detector that has not labelled them yet. Without `ask`, the
    detector is not run, and these pairs have no label of it. Raises `BadInputError` for a corrected source.
    """
    if source.corrected:
        raise BadInputError(
            f"'{source}' corrects means and does not label single pairs.",
            hint=f"Use {source.plain} or {HUMAN}>{source.plain}.",
        )
    store = LabelStore(workspace)
    labels: npt.NDArray[np.float64] = np.full(len(keys), np.nan)
    for part in source.parts:
        if not keys:
            values = labels
        elif source.consensus is not None and part == source.parts[0]:
            values = consensus_of(judgments, source.consensus).labels(np.array(keys, dtype="S32"))
        elif part == HUMAN:
            human = (
                majority_labels(judgments.present(keys), first=first, gold=adjudicated_labels(judgments, keys))
                if len(keys) <= _FEW
                else all_majority_labels(judgments, judgments.version(), first)
            )
            values = np.array([float(human[key]) if key in human else np.nan for key in keys])
        elif part == GOLD:
            values = store.get(GOLD, keys).astype(np.float64)
        elif part == DERIVED:
            values = np.full(len(keys), np.nan)
            missing = np.flatnonzero(np.isnan(labels)).tolist()
            values[missing] = derived_labels(
                workspace,
                texts(missing),
                partial(
                    labels_by_key, workspace, judgments, LabelSource((HUMAN, GOLD)), texts=lambda _: [], first=first
                ),
            )
        else:
            detector = parse_detector(part, workspace)
            values = np.full(len(keys), np.nan)
            missing = np.flatnonzero(np.isnan(labels)).tolist()
            unlabelled = [keys[place] for place in missing]
            probabilities = (
                label_keys(store, detector, unlabelled, _at(texts, missing), progress=progress)
                if ask
                else store.get(detector.name, unlabelled, detector.version)
            )
            values[missing] = np.where(np.isnan(probabilities), np.nan, probabilities >= detector.threshold)
        labels = np.where(np.isnan(labels), values, labels) if len(keys) else labels
    return labels


class DetectorLabels(NamedTuple):
    """The keys of pairs whose label comes from the detector of a label source, and says less than "supports" or "does not
    support": `topic_only`, because the detector does not tell sides, and `unsure`, because its probability is near its threshold.
    A pair can be in both."""

    topic_only: set[str]
    unsure: set[str]


def detector_labels(
    workspace: Workspace, judgments: Judgments, source: LabelSource, pairs: Sequence[Pair]
) -> DetectorLabels:
    """Return which pairs have a label of the source's detector, and not of a source before it, that tells the topic alone, and
    which one that the detector is unsure about. The detector is not run: a pair that it has not labelled is not unsure."""
    detector, before = source.detector(workspace), LabelSource(source.plain.parts[:-1])
    if detector is None or not pairs:
        return DetectorLabels(set(), set())
    keys = np.array([pair.key for pair in pairs], dtype=object)
    if before.parts:
        keys = keys[np.isnan(labels_of(workspace, judgments, before, pairs))]
    supporting = LabelStore(workspace).get(detector.name, keys.tolist(), detector.version)
    unsure = keys[unsure_about(detector.threshold, unsure_width(workspace), supporting)]
    topic_only = set(keys.tolist()) if source_grade(workspace, source.plain) == "topic" else set()
    return DetectorLabels(topic_only, set(unsure.tolist()))


def _at(
    texts: Callable[[Sequence[int]], Sequence[Pair]], places: Sequence[int]
) -> Callable[[Sequence[int]], Sequence[Pair]]:
    """Return `texts` for positions among some of its places."""
    return lambda chosen: texts([places[number] for number in chosen])


@lru_cache(maxsize=4)
def all_majority_labels(judgments: Judgments, version: int, first: int | None) -> dict[str, bool]:
    """Return people's label of every judged pair; cached, because a page reads the labels of several runs in turn."""
    del version
    return majority_labels(judgments.present(), first=first, gold=adjudicated_labels(judgments))
