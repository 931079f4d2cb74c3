"""Where the labels behind a number come from: a detector, people, gold, what derives from those where perspectives were merged
or reworded, people where there are any and else a detector, or a detector whose mean is corrected by people's judgments of a
sample.

Labels of perspectives that were merged or reworded, derived from what was said of the old ones.

The rule: a passage supports the new perspective where it supports any of those whose place that took; it does not where all of
them have a label and none is supported; else nothing is known. Nothing is derived for the parts of a split: who supports
the whole may mean either part. Such labels are no judgments: they are never stored, and count only where the label source
names `derived`.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain

import numpy as np
import numpy.typing as npt

from berdseye.annotation.judgments.adjudication import adjudicated_labels, majority_labels
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.stored import GOLD
from berdseye.data.datasets.versions import parts_of_perspectives
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.grammar import parse
from berdseye.data.labels import LabelStore
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Pair, pair_key
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import DETECTORS, parse_detector
from berdseye.detectors.labelling import label_keys
from berdseye.detectors.protocol import Detector
from berdseye.detectors.thresholds import Tuned
from berdseye.detectors.trained import adopted_detector, detector_names

Values = npt.NDArray[np.float64]
Parts = list[tuple[str, ...]]


def derived_labels(workspace: Workspace, pairs: Sequence[Pair], said: Callable[[Sequence[str]], Values]) -> Values:
    """1, 0 or NaN of each pair, float64[n_pairs], by the rule above over all versions of all data sets.

    `said` gives what is known of pairs, by their keys. Of several edits that brought one text, the newest that tells counts;
    where an old perspective came of an edit itself and nothing was said of it, the rule is applied to that too.
    """
    parts = parts_of_perspectives(workspace)
    places = [n for n, pair in enumerate(pairs) if pair.perspective in parts]
    keys = {
        (pairs[n].passage, text): pair_key(pairs[n].passage, text)
        for n in places
        for text in _all_parts(pairs[n].perspective, parts)
    }
    labels = dict(zip(keys, said(list(keys.values())).tolist() if keys else [], strict=True))
    found: Values = np.full(len(pairs), np.nan)
    for n in places:
        found[n] = _derived(pairs[n].passage, pairs[n].perspective, parts, labels, frozenset())
    return found


def _all_parts(text: str, parts: Mapping[str, Parts]) -> set[str]:
    """The texts that a perspective came of, at any remove."""
    found: set[str] = set()
    waiting = [text]
    while waiting:
        new = set(chain.from_iterable(parts.get(waiting.pop(), []))) - found
        found |= new
        waiting += new
    return found


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


HUMAN = "human"
CORRECTED = "corrected"
DERIVED = "derived"
_NO_DETECTORS = (HUMAN, GOLD, DERIVED)
_FEW = 2000


@dataclass(frozen=True)
class LabelSource:
    """Sources in order of trust: the first that says something of a pair decides.

    A `corrected` source is one detector; people's judgments correct what comes of its labels (evaluation/scores/corrected.py).
    """

    parts: tuple[str, ...]
    corrected: bool = False

    def __str__(self) -> str:
        return f"{CORRECTED}({self.parts[0]})" if self.corrected else ">".join(self.parts)

    @property
    def plain(self) -> "LabelSource":
        """Of a corrected source its detector; of others themselves."""
        return LabelSource(self.parts)

    @property
    def asks_detector(self) -> bool:
        """Whether the last of the sources is a detector, which gives every pair a label."""
        return self.parts[-1] not in _NO_DETECTORS

    def detector(self, workspace: Workspace) -> Detector | None:
        """The detector among the sources, if there is one."""
        return parse_detector(self.parts[-1], workspace) if self.asks_detector else None


def label_versions(workspace: Workspace, judgments: Judgments, source: LabelSource) -> dict[str, str]:
    """Versions of all that the labels of a source depend on: while these are the same, the labels are."""
    parts = set(source.parts)
    detectors = {part: parse_detector(part, workspace) for part in source.parts if part not in _NO_DETECTORS}
    versions = {part: detector.version for part, detector in detectors.items()}
    versions |= {f"threshold of {p}": f"{d.threshold:g}" for p, d in detectors.items() if isinstance(d, Tuned)}
    if parts & {HUMAN, DERIVED}:
        versions["judgments"] = str(judgments.version())
    if parts & {GOLD, DERIVED}:
        versions[GOLD] = LabelStore(workspace).state(GOLD)
    if DERIVED in parts:
        told = repr(sorted(parts_of_perspectives(workspace).items()))
        versions[DERIVED] = hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return versions


def default_source(workspace: Workspace) -> str:
    """Where labels come from when nobody says: the adopted detector; where the workspace holds gold labels, people's judgments
    and those come before it, since the detector is often wrong where they are not."""
    adopted = adopted_detector(workspace)
    return f"{HUMAN}>{GOLD}>{adopted}" if GOLD in LabelStore(workspace).sources() else adopted


def default_sources(workspace: Workspace) -> list[str]:
    """What a person can choose from without typing; the default comes first."""
    adopted, *others = detector_names(workspace)
    sources = [
        default_source(workspace),
        adopted,
        f"{HUMAN}>{adopted}",
        f"{CORRECTED}({adopted})",
        HUMAN,
        GOLD,
        *others,
    ]
    return list(dict.fromkeys(sources))


def parse_label_source(text: str) -> LabelSource:
    """A label source from `embedded`, `human`, `gold`, `human>derived>embedded`, `corrected(embedded)`, …; raises
    `UnknownNameError`."""
    calls = parse(text)
    if calls[0].name == CORRECTED:
        if len(calls) > 1 or len(calls[0].args) != 1 or calls[0].kwargs:
            raise BadInputError(f"'{text}' does not name one detector.", hint=f"Write it like {CORRECTED}(embedded).")
        inside = parse_label_source(str(calls[0].args[0]))
        if inside.corrected or len(inside.parts) > 1 or inside.parts[0] in _NO_DETECTORS:
            raise BadInputError(f"'{inside}' is no detector.", hint=f"Write it like {CORRECTED}(embedded).")
        return LabelSource(inside.parts, corrected=True)
    parts = tuple(str(call) for call in calls)
    for place, part in enumerate(parts):
        if part in _NO_DETECTORS:
            continue
        if part.partition("(")[0] not in DETECTORS:
            raise UnknownNameError("label source", part, [*_NO_DETECTORS, CORRECTED, *DETECTORS])
        if place < len(parts) - 1:
            raise BadInputError(f"In '{text}' nothing can come after {part}.", hint="A detector labels every pair.")
    return LabelSource(parts)


def labels_of(
    workspace: Workspace,
    judgments: Judgments,
    source: LabelSource,
    pairs: Sequence[Pair],
    *,
    first: int | None = None,
    progress: Progress = silent,
) -> npt.NDArray[np.float64]:
    """1 (supports), 0 (does not) or NaN (nobody said) of each pair, float64[n_pairs].

    Raises `BadInputError` for a corrected source, which gives a mean and says nothing of one pair.
    """
    return labels_by_key(
        workspace,
        judgments,
        source,
        [pair.key for pair in pairs],
        lambda asked: [pairs[i] for i in asked],
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
    """The same for pairs known by their keys; `texts` gives those at some places, for a detector that has not seen them.

    Without `ask` it is not asked about those, which have no label of it then.
    """
    if source.corrected:
        raise BadInputError(
            f"'{source}' corrects means and labels no pair.", hint=f"Take {source.plain} or {HUMAN}>{source.plain}."
        )
    store = LabelStore(workspace)
    found: npt.NDArray[np.float64] = np.full(len(keys), np.nan)
    for part in source.parts:
        if part == HUMAN:
            said = (
                majority_labels(judgments.present(keys), first=first, gold=adjudicated_labels(judgments, keys))
                if len(keys) <= _FEW
                else _all_said(judgments, judgments.version(), first)
            )
            values = np.array([float(said[key]) if key in said else np.nan for key in keys])
        elif part == GOLD:
            values = store.get(GOLD, keys).astype(np.float64)
        elif part == DERIVED:
            values = np.full(len(keys), np.nan)
            missing = np.flatnonzero(np.isnan(found)).tolist()
            values[missing] = derived_labels(
                workspace,
                texts(missing),
                partial(
                    labels_by_key, workspace, judgments, LabelSource((HUMAN, GOLD)), texts=lambda _: [], first=first
                ),
            )
        else:
            detector = parse_detector(part, workspace)
            chances = (
                label_keys(store, detector, keys, texts, progress=progress)
                if ask
                else store.get(detector.name, keys, detector.version)
            )
            values = np.where(np.isnan(chances), np.nan, chances >= detector.threshold)
        found = np.where(np.isnan(found), values, found) if len(keys) else found
    return found


@lru_cache(maxsize=4)
def _all_said(judgments: Judgments, version: int, first: int | None) -> dict[str, bool]:
    """People's word on every pair; kept, since the runs of a page ask one after the other."""
    del version
    return majority_labels(judgments.present(), first=first, gold=adjudicated_labels(judgments))
