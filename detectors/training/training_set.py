"""What a detector is trained, tuned and tested on: labelled pairs in three splits that share no question.

A strong detector's probabilities as what a small one learns, as BERDS trained Mistral on GPT-4's labels.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import numpy as np

from berdseye.data.datasets.labelled_pairs import LabelledPair, Split
from berdseye.data.datasets.stored import same_question, split_of
from berdseye.data.errors import BadInputError
from berdseye.data.labels import LabelStore
from berdseye.data.progress import Progress
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.labelling import label
from berdseye.detectors.protocol import Floats
from berdseye.detectors.training.head import truth

FEWEST = 8
"""Pairs without which nothing is trained."""
_LONGEST_TOLD = 80


@dataclass(frozen=True)
class TrainingSet:
    """Labelled pairs by split, `source` and `data_hash` of what they were read from. `test` may be empty."""

    train: list[LabelledPair]
    dev: list[LabelledPair]
    test: list[LabelledPair]
    source: str
    data_hash: str

    def counts(self) -> dict[str, dict[str, int]]:
        """Pairs, supporting pairs and questions of each split."""
        return {
            name: {
                "pairs": len(pairs),
                "positives": sum(p.supports for p in pairs),
                "questions": len({group(p) for p in pairs}),
            }
            for name, pairs in (("train", self.train), ("dev", self.dev), ("test", self.test))
        }


def training_set(pairs: Sequence[LabelledPair], source: str | Path, data_hash: str) -> TrainingSet:
    """The pairs by their own splits, and where a pair has none, by a hash of its question (80/10/10).

    Pairs without a question are grouped by their perspective. Raises `BadInputError`, naming `source`, for a question in
    two splits, a pair with both labels, fewer than 8 pairs to train on, and a train or dev split with one label only.
    """
    split = [p.split or cast(Split, split_of(group(p))) for p in pairs]
    by = {name: [p for p, s in zip(pairs, split, strict=True) if s == name] for name in ("train", "dev", "test")}
    _refuse_shared_questions(pairs, split, source)
    _refuse_two_labels(pairs, source)
    if len(by["train"]) < FEWEST:
        raise BadInputError(
            f"There are {len(by['train'])} pairs to train on, and {FEWEST} are the least.",
            where=source,
            hint="Label more pairs.",
        )
    for name, why in (("train", "learn"), ("dev", "choose a checkpoint and a threshold")):
        counted = Counter(p.supports for p in by[name])
        if len(counted) < 2:
            held = f"only pairs with label {int(next(iter(counted)))}" if counted else "no pairs"
            raise BadInputError(
                f"The {name} split holds {held}, and both labels are needed to {why}.",
                where=source,
                hint="Add pairs of more questions, or say in a column 'split' which are train, dev and test.",
            )
    return TrainingSet(by["train"], by["dev"], by["test"], str(source), data_hash)


def pairs_hash(pairs: Sequence[LabelledPair]) -> str:
    """12 hex digits that change with every text, label and split, in whatever order the pairs stand."""
    rows = sorted([p.pair.key, p.pair.title, int(p.supports), p.question, p.split] for p in pairs)
    return sha256(json.dumps(rows).encode()).hexdigest()[:12]


def group(pair: LabelledPair) -> str:
    """What must not stand in two splits: the question, or without one the perspective."""
    return same_question(pair.question or pair.pair.perspective)


def _refuse_shared_questions(pairs: Sequence[LabelledPair], split: Sequence[str], source: str | Path) -> None:
    splits: dict[str, set[str]] = defaultdict(set)
    named: dict[str, str] = {}
    for pair, name in zip(pairs, split, strict=True):
        splits[group(pair)].add(name)
        named.setdefault(group(pair), pair.question or pair.pair.perspective)
    shared = [group for group, names in splits.items() if len(names) > 1]
    if shared:
        others = f" So do {len(shared) - 1} more." if len(shared) > 1 else ""
        raise BadInputError(
            f"The question '{named[shared[0]][:_LONGEST_TOLD]}' stands in the splits "
            f"{' and '.join(sorted(splits[shared[0]]))}.{others}",
            where=source,
            hint="Put all pairs of a question into one split, or leave the column out.",
        )


def _refuse_two_labels(pairs: Sequence[LabelledPair], source: str | Path) -> None:
    labels: dict[str, bool] = {}
    for pair in pairs:
        if labels.setdefault(pair.pair.key, pair.supports) != pair.supports:
            raise BadInputError(
                f"The pair of '{pair.pair.perspective[:_LONGEST_TOLD]}' stands there with both labels.",
                where=source,
                hint="Keep one of the two rows.",
            )


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
