"""Batches of passages with perspectives, mixed from all sources, for the training of `stance`."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from berdseye.detectors.stance.augmentation import drawn, in_context, off_topic
from berdseye.detectors.stance.examples import STANCES, Example
from berdseye.detectors.stance.network import Packed, PairTokenizer, packed, padded_length
from berdseye.detectors.stance.unlabelled import FOUND, NEAR
from berdseye.detectors.stance.written import EXTRACTS, INFERENCES, JUDGED, POINTS, REMARKS, WRITTEN

MIXTURE: Mapping[str, float] = {
    "snli": 12,
    "counterfactual": 15,
    "fever": 9,
    "mnli": 10,
    "arguments": 13,
    "windows of arguments": 8,
    "debates": 19,
    "claims": 14,
}
"""How many of 100 labelled passages come from each source. Inference stays nearly half of them: a stage of arguments alone made
the network forget it."""
WRITTEN_MIXTURE: Mapping[str, float] = {
    WRITTEN: 10,
    JUDGED: 20,
    REMARKS: 15,
    EXTRACTS: 30,
    POINTS: 15,
    INFERENCES: 10,
}
"""How many of 100 passages of the sources that are new to a continued network come from each of them."""
UNLABELLED: Mapping[str, float] = {NEAR: 40}
UNLABELLED_WITH_TEXTS: Mapping[str, float] = {NEAR: 20, FOUND: 50}
"""How many passages that nobody labelled come with 100 labelled ones, if there are any: without passages of other texts, and with
them."""
BATCH_TOKENS = 1536
_POOL = 512
_NEW_SHARE = 2 / 3
_DENIED = 0.4
_OFF_TOPIC = 0.25
_IN_CONTEXT = 0.3
_SHORT = ("snli", "counterfactual", "mnli", "arguments", "claims")
_LONG = ("fever", "debates")


class Batch(NamedTuple):
    """Packed passages, and for each of their n perspectives the allowed stances, bool[n, 3], and the number of its passage,
    int64[n].

    If it is `labels_alone`, what a teacher says of it does not count.
    """

    packed: Packed
    allowed: Tensor
    owners: Tensor
    labels_alone: bool = False

    def on(self, device: str) -> "Batch":
        """Return the same on a device, as PyTorch names it."""
        return self._replace(
            packed=self.packed.on(device), allowed=self.allowed.to(device), owners=self.owners.to(device)
        )


Step = Sequence[Batch]
"""The batches of one step of a training, whose losses are added."""


def augmented(examples: Mapping[str, Sequence[Example]], chance: Random) -> Iterator[Example]:
    """Yield examples without end, drawn by `MIXTURE`, `WRITTEN_MIXTURE` and `UNLABELLED`, each source in a random order and again
    from its start when it is used up.

    Some passages get a perspective of another topic, and some of the short ones the company of other sentences.
    """
    mixture = {**MIXTURE, **WRITTEN_MIXTURE, **(UNLABELLED_WITH_TEXTS if examples.get(FOUND) else UNLABELLED)}
    names = [name for name in mixture if examples.get(name)]
    waiting: dict[str, list[int]] = {name: [] for name in names}
    while True:
        sources, chosen = [], []
        for name in chance.choices(names, [mixture[name] for name in names], k=_POOL):
            if not waiting[name]:
                waiting[name] = chance.sample(range(len(examples[name])), len(examples[name]))
            sources.append(name)
            chosen.append(drawn(examples[name][waiting[name].pop()], _DENIED, chance))
        yield from _mixed(sources, chosen, chance)


def mixed_batches(
    examples: Mapping[str, Sequence[Example]], tokenizer: PairTokenizer, chance: Random, tokens: int = BATCH_TOKENS
) -> Iterator[Batch]:
    """Yield batches of augmented examples without end, each of passages of similar length and at most `tokens` tokens."""
    drawn_examples = augmented(examples, chance)
    at_once = _POOL * max(1, tokens // BATCH_TOKENS)
    while True:
        chosen = list(islice(drawn_examples, at_once))
        rows = [tokenizer.row(example.passage, [s.text for s in example.statements]) for example in chosen]
        batches: list[list[int]] = [[]]
        for place in sorted(range(len(rows)), key=lambda place: len(rows[place][0])):
            if batches[-1] and (len(batches[-1]) + 1) * padded_length(len(rows[place][0])) > tokens:
                batches.append([])
            batches[-1].append(place)
        chance.shuffle(batches)
        for batch in batches:
            statements = [(number, s) for number, place in enumerate(batch) for s in chosen[place].statements]
            yield Batch(
                packed([rows[place] for place in batch]),
                torch.tensor([[stance in s.allowed for stance in range(len(STANCES))] for _, s in statements]),
                torch.tensor([number for number, _ in statements]),
            )


def paired_batches(
    examples: Mapping[str, Sequence[Example]],
    tokenizer: PairTokenizer,
    chance: Random,
    tokens: int,
    apart: Collection[str],
) -> Iterator[tuple[Batch, Batch]]:
    """Yield pairs of batches as those of `mixed_batches`: one with a third of the `tokens`, of other sources, and one with the
    rest of them, of the sources that stand `apart`.

    In the second, the labels count alone.
    """
    new = round(tokens * _NEW_SHARE)
    others, labelled = (
        mixed_batches(
            {name: rows for name, rows in examples.items() if (name in apart) == side}, tokenizer, chance, most
        )
        for side, most in ((False, tokens - new), (True, new))
    )
    for batch, other in zip(others, labelled, strict=False):
        yield batch, other._replace(labels_alone=True)


def in_workers(batches: Callable[[int], Iterator[Step]], seed: int, workers: int) -> Iterator[Step]:
    """Yield `batches(seed)`, made in as many processes as `workers` says, each with a seed of its own; 0: in this process."""
    if not workers:
        return batches(seed)
    return iter(DataLoader(_Stream(batches, seed), batch_size=None, num_workers=workers, prefetch_factor=8))


class _Stream(IterableDataset[Step]):
    def __init__(self, batches: Callable[[int], Iterator[Step]], seed: int) -> None:
        self.batches, self.seed = batches, seed

    def __iter__(self) -> Iterator[Step]:
        worker = get_worker_info()
        return self.batches(self.seed * 1_009 + (worker.id if worker is not None else 0))


def _mixed(sources: Sequence[str], chosen: Sequence[Example], chance: Random) -> Iterator[Example]:
    """Yield the examples of a draw, some of them mixed with others of the same draw and another source."""
    long = [example for source, example in zip(sources, chosen, strict=True) if source in _LONG]
    foreign = {
        name: [other for source, other in zip(sources, chosen, strict=True) if source != name] for name in set(sources)
    }
    for source, example in zip(sources, chosen, strict=True):
        if source in _SHORT and long and chance.random() < _IN_CONTEXT:
            example = in_context(example, long, chance)
        if foreign[source] and chance.random() < _OFF_TOPIC:
            example = off_topic(example, foreign[source], chance)
        yield example
