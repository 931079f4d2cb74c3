"""The data of a training: labelled pairs in three splits that share no question.

Also distillation: a small detector learns a strong detector's probabilities, as BERDS trained Mistral on GPT-4's labels.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from berdseye.data.datasets.labelled_pairs import LabelledPair, Split
from berdseye.data.datasets.stored import split_of, split_unit
from berdseye.data.errors import BadInputError
from berdseye.data.labels import LabelStore
from berdseye.data.progress import Progress
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.labelling import label
from berdseye.detectors.protocol import Floats
from berdseye.detectors.training.head import truth

FEWEST = 8
"""The minimum number of pairs to train on."""
_LONGEST_QUOTE = 80
_WITHOUT_TEACHER = "stance"


@dataclass(frozen=True)
class TrainingSet:
    """Labelled pairs by split, with the `source` and `data_hash` of their data. `test` may be empty.

    `judgments` is the number of judgments that the labels rest on, `simulated` the number of them by simulated annotators of the
    demo; both are None for labels that do not come from judgments of this workspace. `unlabelled` pairs are trained on too, with
    the probabilities of a detector (`distilled`); their labels are ignored.
    """

    train: list[LabelledPair]
    dev: list[LabelledPair]
    test: list[LabelledPair]
    source: str
    data_hash: str
    judgments: int | None = None
    simulated: int | None = None
    unlabelled: list[LabelledPair] = field(default_factory=list)

    def counts(self) -> dict[str, dict[str, int]]:
        """Count the pairs, supporting pairs and questions of each split."""
        return {
            name: {
                "pairs": len(pairs),
                "positives": sum(p.supports for p in pairs),
                "questions": len({group(p) for p in pairs}),
            }
            for name, pairs in (("train", self.train), ("dev", self.dev), ("test", self.test))
        }


def training_set(pairs: Sequence[LabelledPair], source: str | Path, data_hash: str) -> TrainingSet:
    """Split pairs by their own splits, or by a hash of their question (80/10/10) if they have none.

    Pairs without a question are grouped by their perspective. Raises `BadInputError`, naming `source`, for a question in two
    splits, a pair with both labels, fewer than 8 pairs to train on, and a train or dev split with one label only.
    """
    split = [p.split or cast(Split, split_of(group(p))) for p in pairs]
    by_split = {name: [p for p, s in zip(pairs, split, strict=True) if s == name] for name in ("train", "dev", "test")}
    _refuse_shared_questions(pairs, split, source)
    _refuse_two_labels(pairs, source)
    if len(by_split["train"]) < FEWEST:
        raise BadInputError(
            f"Training requires at least {FEWEST} pairs in the train split, got {len(by_split['train'])}.",
            where=source,
            hint="Label more pairs.",
        )
    for name, why in (("train", "learn"), ("dev", "choose a checkpoint and a threshold")):
        counted = Counter(p.supports for p in by_split[name])
        if len(counted) < 2:
            content = f"only pairs with label {int(next(iter(counted)))}" if counted else "no pairs"
            raise BadInputError(
                f"The {name} split has {content}, but both labels are required to {why}.",
                where=source,
                hint="Judge pairs of more questions, one in ten of which is for dev, or set a file's column 'split'.",
            )
    return TrainingSet(by_split["train"], by_split["dev"], by_split["test"], str(source), data_hash)


def group(pair: LabelledPair) -> str:
    """Return what must not be in two splits: the question, or the perspective of a pair without one."""
    return split_unit(pair.question, pair.pair.perspective)


def _refuse_shared_questions(pairs: Sequence[LabelledPair], split: Sequence[str], source: str | Path) -> None:
    splits: dict[str, set[str]] = defaultdict(set)
    named: dict[str, str] = {}
    for pair, name in zip(pairs, split, strict=True):
        splits[group(pair)].add(name)
        named.setdefault(group(pair), pair.question or pair.pair.perspective)
    shared = [group for group, names in splits.items() if len(names) > 1]
    if shared:
        others = f", and {len(shared) - 1} more questions are in several splits" if len(shared) > 1 else ""
        raise BadInputError(
            f"The question '{named[shared[0]][:_LONGEST_QUOTE]}' is in the splits "
            f"{' and '.join(sorted(splits[shared[0]]))}{others}.",
            where=source,
            hint="Put all pairs of a question into one split, or omit the column 'split'.",
        )


def _refuse_two_labels(pairs: Sequence[LabelledPair], source: str | Path) -> None:
    labels: dict[str, bool] = {}
    for pair in pairs:
        if labels.setdefault(pair.pair.key, pair.supports) != pair.supports:
            raise BadInputError(
                f"A pair with the perspective '{pair.pair.perspective[:_LONGEST_QUOTE]}' has both labels.",
                where=source,
                hint="Keep one of the two rows.",
            )


@dataclass(frozen=True)
class DistilledSet:
    """A training set, the target probability of each of its training pairs, float32[n_train], and fields of the card."""

    data: TrainingSet
    targets: Floats
    card: dict[str, Any]


def distilled(workspace: Workspace, teacher: str | None, data: TrainingSet, progress: Progress) -> DistilledSet:
    """Return the teacher's probabilities for `train` and the unlabelled pairs, or, without a teacher, people's labels for
    `train` and the probabilities of `stance` for the unlabelled pairs.

    In this way, a `stance` in training keeps its opinion of pairs that nobody labelled. An unlabelled pair is skipped if dev or
    test has its question (or, without one, its perspective), or if it is in the data already. Dev and test keep people's labels.
    The probabilities go through the label cache.
    """
    labels = truth(data.train).astype(np.float32)
    if teacher is None and not data.unlabelled:
        return DistilledSet(data, labels, {})
    detector = parse_detector(teacher or _WITHOUT_TEACHER, workspace)
    held_out_groups = {group(p) for p in (*data.dev, *data.test)}
    labelled_keys = {p.pair.key for p in (*data.train, *data.dev, *data.test)}
    added = {
        p.pair.key: p for p in data.unlabelled if group(p) not in held_out_groups and p.pair.key not in labelled_keys
    }
    card: dict[str, Any] = {"unlabelled": len(added), "unlabelled_left_out": len(data.unlabelled) - len(added)}
    taught = [] if teacher is None else data.train
    asked = [*taught, *added.values()]
    targets = label(LabelStore(workspace), detector, [p.pair for p in asked], progress=progress)
    pairs = [p._replace(supports=bool(t >= detector.threshold)) for p, t in zip(asked, targets.tolist(), strict=True)]
    if teacher is None:
        return DistilledSet(replace(data, train=[*data.train, *pairs]), np.concatenate([labels, targets]), card)
    agreed = float(np.mean((targets[: len(taught)] >= detector.threshold) == truth(taught)))
    card |= {
        "teacher": detector.name,
        "teacher_version": detector.version,
        "teacher_agrees_with_train_labels": round(agreed, 4),
    }
    return DistilledSet(replace(data, train=pairs), targets, card)
