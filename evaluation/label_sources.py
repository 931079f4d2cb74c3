"""Where the labels behind a number come from: a detector, people, gold, or people where there are any and else a detector."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.judgments import Judgments
from annotation.votes import people_say
from data.datasets import GOLD
from data.errors import BadInputError, UnknownNameError
from data.grammar import parse
from data.labels import LabelStore
from data.progress import Progress, silent
from data.records import Pair
from data.workspace import Workspace
from detectors.labelling import label
from detectors.protocol import Detector
from detectors.registry import DETECTORS, parse_detector
from detectors.trained import detector_names

HUMAN = "human"


@dataclass(frozen=True)
class LabelSource:
    """Sources in order of trust: the first that says something of a pair decides."""

    parts: tuple[str, ...]

    def __str__(self) -> str:
        return ">".join(self.parts)

    def detector(self, workspace: Workspace) -> Detector | None:
        """The detector among the sources, if there is one."""
        last = self.parts[-1]
        return None if last in (HUMAN, GOLD) else parse_detector(last, workspace)


def default_sources(workspace: Workspace) -> list[str]:
    """What a person can choose from without typing; the adopted detector comes first."""
    adopted, *others = detector_names(workspace)
    return [adopted, f"{HUMAN}>{adopted}", HUMAN, GOLD, *others]


def parse_label_source(text: str) -> LabelSource:
    """A label source from `embedded`, `human`, `gold`, `human>embedded`, …; raises `UnknownNameError`."""
    parts = tuple(str(call) for call in parse(text))
    for place, part in enumerate(parts):
        if part in (HUMAN, GOLD):
            continue
        if part.partition("(")[0] not in DETECTORS:
            raise UnknownNameError("label source", part, [HUMAN, GOLD, *DETECTORS])
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
    """1 (supports), 0 (does not) or NaN (nobody said) of each pair, float64[n_pairs]."""
    store = LabelStore(workspace)
    keys = [pair.key for pair in pairs]
    found: npt.NDArray[np.float64] = np.full(len(pairs), np.nan)
    for part in source.parts:
        if part == HUMAN:
            said = people_say(judgments.present(keys if len(keys) <= 2000 else None), first=first)
            values = np.array([float(said[key]) if key in said else np.nan for key in keys])
        elif part == GOLD:
            values = store.get(GOLD, keys).astype(np.float64)
        else:
            detector = parse_detector(part, workspace)
            values = (label(store, detector, pairs, progress=progress) >= detector.threshold).astype(np.float64)
        found = np.where(np.isnan(found), values, found) if len(pairs) else found
    return found
