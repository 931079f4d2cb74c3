"""The data of a training: labelled pairs in three splits that share no question.

Also distillation: a small detector learns a strong detector's probabilities, as BERDS trained Mistral on GPT-4's labels.
"""

import hashlib
import json
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
    demo; both are None for labels that do not come from judgments of this workspace. Two kinds of further pairs are trained on
    with `train` and are no part of `data_hash`: `written` ones, with their labels, and `unlabelled` ones, with the probabilities
    of a detector (`distilled`), whose labels are ignored.
    """

    train: list[LabelledPair]
    dev: list[LabelledPair]
    test: list[LabelledPair]
    source: str
    data_hash: str
    judgments: int | None = None
    simulated: int | None = None
    written: list[LabelledPair] = field(default_factory=list)
    unlabelled: list[LabelledPair] = field(default_factory=list)

    @property
    def further_hash(self) -> str:
        """A hash of the further pairs, empty without any."""
        if not self.written and not self.unlabelled:
            return ""
        further = [[(p.pair.key, p.supports) for p in self.written], [p.pair.key for p in self.unlabelled]]
        return hashlib.blake2b(json.dumps(further).encode(), digest_size=6).hexdigest()

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
    """Return the pairs to train on with their targets: with a teacher its probabilities, otherwise the labels of `train` and of
    the written pairs, and the probabilities of `stance` for the unlabelled ones.

    In this way, a `stance` in training keeps its opinion of pairs that nobody labelled. A written or unlabelled pair is skipped
    if dev or test has its question (or, without one, its perspective), or if it is in the data already. Dev and test keep
    people's labels. The probabilities go through the label cache.
    """
    held_out = {group(p) for p in (*data.dev, *data.test)}
    known = {p.pair.key for p in (*data.train, *data.dev, *data.test)}
    written = {p.pair.key: p for p in data.written if group(p) not in held_out and p.pair.key not in known}
    known |= written.keys()
    unlabelled = {p.pair.key: p for p in data.unlabelled if group(p) not in held_out and p.pair.key not in known}
    labelled = [*data.train, *written.values()]
    targets = truth(labelled).astype(np.float32)
    card: dict[str, Any] = {"written": len(written)} if data.written else {}
    if teacher is None and not data.unlabelled:
        return DistilledSet(replace(data, train=labelled), targets, card)
    detector = parse_detector(teacher or _WITHOUT_TEACHER, workspace)
    taught = [*([] if teacher is None else labelled), *unlabelled.values()]
    said = label(LabelStore(workspace), detector, [p.pair for p in taught], progress=progress)
    pairs = [p._replace(supports=bool(t >= detector.threshold)) for p, t in zip(taught, said.tolist(), strict=True)]
    card |= {"unlabelled": len(unlabelled), "unlabelled_left_out": len(data.unlabelled) - len(unlabelled)}
    if teacher is None:
        card |= {"unlabelled_by": detector.name, "unlabelled_by_version": detector.version}
        return DistilledSet(replace(data, train=[*labelled, *pairs]), np.concatenate([targets, said]), card)
    agreed = float(np.mean((said[: len(data.train)] >= detector.threshold) == truth(data.train)))
    card |= {
        "teacher": detector.name,
        "teacher_version": detector.version,
        "teacher_agrees_with_train_labels": round(agreed, 4),
    }
    return DistilledSet(replace(data, train=pairs), said, card)
