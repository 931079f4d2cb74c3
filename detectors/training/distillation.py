"""A strong detector's probabilities as what a small one learns, as BERDS trained Mistral on GPT-4's labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from berdseye.data.labelled_pairs import LabelledPair
from berdseye.data.labels import LabelStore
from berdseye.data.progress import Progress
from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import label
from berdseye.detectors.protocol import Floats
from berdseye.detectors.registry import parse_detector
from berdseye.detectors.training.head import truth
from berdseye.detectors.training.training_set import TrainingSet, group


@dataclass(frozen=True)
class Taught:
    """A training set, the probability to learn for each of its training pairs, float32[n_train], and words for the card."""

    data: TrainingSet
    targets: Floats
    told: dict[str, Any]


def distilled(
    workspace: Workspace,
    teacher: str | None,
    data: TrainingSet,
    unlabelled: Sequence[LabelledPair],
    progress: Progress,
) -> Taught:
    """Labels of people where there is no teacher, else the teacher's probabilities for `train` and the unlabelled pairs.

    An unlabelled pair of a question (or, without one, a perspective) that dev or test holds is left out, and so is one that
    train holds. Dev and test keep people's labels. What the teacher says goes through the label cache.
    """
    if teacher is None:
        return Taught(data, truth(data.train).astype(np.float32), {})
    detector = parse_detector(teacher, workspace)
    held = {group(p) for p in (*data.dev, *data.test)}
    known = {p.pair.key for p in (*data.train, *data.dev, *data.test)}
    added = {p.pair.key: p for p in unlabelled if group(p) not in held and p.pair.key not in known}
    train = [*data.train, *added.values()]
    targets = label(LabelStore(workspace), detector, [p.pair for p in train], progress=progress)
    agreed = float(np.mean((targets[: len(data.train)] >= detector.threshold) == truth(data.train)))
    told = {
        "teacher": detector.name,
        "teacher_version": detector.version,
        "teacher_agrees_with_train_labels": round(agreed, 4),
        "unlabelled": len(added),
        "unlabelled_left_out": len(unlabelled) - len(added),
    }
    said = [p._replace(supports=bool(t >= detector.threshold)) for p, t in zip(train, targets.tolist(), strict=True)]
    return Taught(replace(data, train=said), targets, told)
