"""The training of `stance`: batches mixed from all sources, a loss over partial labels, and checkpoints from which it resumes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from pickle import UnpicklingError
from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.detectors.stance.examples import STANCES, SUPPORTS, Example, drawn, in_context, off_topic
from berdseye.detectors.stance.network import Packed, PairTokenizer, StanceNetwork, packed

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
"""How many of 100 passages come from each source. Inference stays nearly half of every batch: a stage of arguments alone made the
network forget it."""
CHECKPOINT = "checkpoint.pt"
_POOL = 512
_BATCH_TOKENS = 1536
_DENIED = 0.4
_OFF_TOPIC = 0.25
_IN_CONTEXT = 0.3
_SHORT = ("snli", "counterfactual", "mnli", "arguments", "claims")
_LONG = ("fever", "debates")
_MARGIN_WEIGHT = 0.3
_HEAD_FACTOR = 5.0
_WARMUP = 200
_LEAST_RATE = 0.02
_AVERAGED = 0.998
_KEPT_EVERY = 250


class StanceSettings(NamedTuple):
    """What a training is made with; `steps` are batches of about 1,500 tokens.

    With `half`, gradients are computed in bfloat16, which is quicker only on processors that multiply such numbers (AMX, or
    AVX-512 with BF16); the weights are kept and changed in full precision.
    """

    steps: int = 12_000
    learning_rate: float = 1.5e-4
    seed: int = 0
    half: bool = False


def train(
    base: str | Path,
    examples: Mapping[str, Sequence[Example]],
    settings: StanceSettings,
    folder: Path,
    *,
    as_it_is: bool = False,
    progress: Progress = silent,
) -> tuple[StanceNetwork, int]:
    """Train a network in `folder`; return the moving average of its weights, and the number of steps taken.

    An interrupted training resumes, or, with `as_it_is`, ends where its last checkpoint is; with more steps, a finished one goes
    on. A resumed training draws other batches than an uninterrupted one from there on, so that its weights differ slightly.
    """
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(settings.seed)
    network, tokenizer = StanceNetwork(base), PairTokenizer(base)
    network.words.requires_grad_(False)
    averaged = AveragedModel(network, multi_avg_fn=_average)
    head = [*network.hidden.parameters(), *network.out.parameters(), network.skip]
    known = {id(parameter) for parameter in head}
    groups: list[dict[str, Any]] = [
        {"params": [p for p in network.parameters() if p.requires_grad and id(p) not in known]},
        {"params": head, "lr": settings.learning_rate * _HEAD_FACTOR},
    ]
    optimizer = torch.optim.AdamW(
        groups,
        lr=settings.learning_rate,
        weight_decay=0.01,
        fused=True,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / _WARMUP) * max(_LEAST_RATE, 1 - step / settings.steps)
    )
    parts: dict[str, Any] = {"network": network, "averaged": averaged, "optimizer": optimizer, "schedule": schedule}
    first = _resume(folder / CHECKPOINT, parts, settings)
    reader = HalfPrecision(network) if settings.half else network
    batches = mixed_batches(examples, tokenizer, Random(settings.seed * 1_000_003 + first))
    last = first if as_it_is else max(first, settings.steps)
    for step in range(first + 1, last + 1):
        batch, allowed, owners = next(batches)
        logits = reader(batch)
        loss = partial_loss(logits, allowed) + _MARGIN_WEIGHT * margin_loss(logits, allowed, owners)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if isinstance(reader, HalfPrecision):
            reader.hand_over_gradients()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        if isinstance(reader, HalfPrecision):
            reader.follow()
        schedule.step()
        averaged.update_parameters(network)
        progress(step, "steps", settings.steps)
        if step % _KEPT_EVERY == 0 or step == settings.steps:
            _keep(folder / CHECKPOINT, parts, settings, step)
    network.load_state_dict(averaged.module.state_dict())
    return network.eval(), last


class HalfPrecision(nn.Module):
    """A copy of a network whose encoder computes in bfloat16, to find the gradients of the network's own weights."""

    def __init__(self, network: StanceNetwork) -> None:
        super().__init__()
        self.copied = deepcopy(network).bfloat16()
        for part in (self.copied.hidden, self.copied.out):
            part.float()
        self.copied.skip.data = self.copied.skip.data.float()
        own, copies = network.parameters(), self.copied.parameters()
        self._own, self._copies = zip(
            *((a, b) for a, b in zip(own, copies, strict=True) if a.requires_grad), strict=True
        )
        self.follow()

    def forward(self, packed: Packed) -> Tensor:
        """Return the logits, as the network does: float32[n_perspectives, 3]."""
        logits: Tensor = self.copied(packed)
        return logits

    def hand_over_gradients(self) -> None:
        """Give the network the gradients that were found with the copy, and forget them here."""
        for own, copy in zip(self._own, self._copies, strict=True):
            own.grad, copy.grad = copy.grad.to(own.dtype), None

    @torch.no_grad()
    def follow(self) -> None:
        """Copy the network's weights, rounded."""
        torch._foreach_copy_(self._copies, self._own)


def average_with(network: StanceNetwork, checkpoint: Path) -> int:
    """Give a network the mean of its weights and those of a checkpoint (the moving average in it); return the checkpoint's step.

    The mean of two states of one training is often better on new data than either (Izmailov et al. 2018). Raises
    `BadInputError` if the checkpoint cannot be read.
    """
    try:
        state = torch.load(checkpoint, weights_only=True)
    except (OSError, ValueError, RuntimeError, UnpicklingError) as error:
        raise BadInputError(f"The checkpoint cannot be read ({error}).", where=checkpoint) from error
    earlier = {name.removeprefix("module."): value for name, value in state["averaged"].items()}
    network.load_state_dict({name: (value + earlier[name]) / 2 for name, value in network.state_dict().items()})
    return int(state["step"])


def partial_loss(logits: Tensor, allowed: Tensor) -> Tensor:
    """Return the mean of -log P(one of the allowed stances), from logits float[n, 3] and bool[n, 3]."""
    log_p = torch.log_softmax(logits, dim=-1).masked_fill(~allowed, -torch.inf)
    return -torch.logsumexp(log_p, dim=-1).mean()


def margin_loss(logits: Tensor, allowed: Tensor, owners: Tensor) -> Tensor:
    """Return the mean of softplus(log-odds of support of B - of A) over perspectives A, supported, and B, not, of one passage.

    `owners`, int64[n], numbers the passages. As in STANCY (Popat et al., EMNLP 2019), a passage is compared with a perspective
    and its contrary; 0 if no passage has both.
    """
    odds = logits[:, SUPPORTS] - torch.logsumexp(logits[:, SUPPORTS + 1 :], dim=-1)
    supported, refused = allowed[:, SUPPORTS] & (allowed.sum(-1) == 1), ~allowed[:, SUPPORTS]
    compared = supported[:, None] & refused[None, :] & (owners[:, None] == owners[None, :])
    losses = nn.functional.softplus(odds[None, :] - odds[:, None])[compared]
    return losses.mean() if len(losses) else odds.sum() * 0


def mixed_batches(
    examples: Mapping[str, Sequence[Example]], tokenizer: PairTokenizer, chance: Random
) -> Iterator[tuple[Packed, Tensor, Tensor]]:
    """Yield batches without end: packed passages, the allowed stances, bool[n, 3], and the passage of each, int64[n].

    512 passages at a time are drawn by `MIXTURE`, each source in a random order and again from its start when it is used up, and
    are cut into batches of similar length. Some passages get a perspective of another topic, and some of the short ones the
    company of other sentences.
    """
    names = [name for name in MIXTURE if examples.get(name)]
    waiting: dict[str, list[int]] = {name: [] for name in names}
    while True:
        sources, chosen = [], []
        for name in chance.choices(names, [MIXTURE[name] for name in names], k=_POOL):
            if not waiting[name]:
                waiting[name] = chance.sample(range(len(examples[name])), len(examples[name]))
            sources.append(name)
            chosen.append(drawn(examples[name][waiting[name].pop()], _DENIED, chance))
        chosen = list(_mixed(sources, chosen, chance))
        rows = [tokenizer.row(example.passage, [s.text for s in example.statements]) for example in chosen]
        batches: list[list[int]] = [[]]
        for place in sorted(range(len(rows)), key=lambda place: len(rows[place][0])):
            if batches[-1] and (len(batches[-1]) + 1) * len(rows[place][0]) > _BATCH_TOKENS:
                batches.append([])
            batches[-1].append(place)
        chance.shuffle(batches)
        for batch in batches:
            statements = [(number, s) for number, place in enumerate(batch) for s in chosen[place].statements]
            allowed = [[stance in s.allowed for stance in range(len(STANCES))] for _, s in statements]
            yield packed([rows[p] for p in batch]), torch.tensor(allowed), torch.tensor([n for n, _ in statements])


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


def stance_probabilities(
    network: StanceNetwork, tokenizer: PairTokenizer, texts: Sequence[tuple[str, str]], batch: int = 64
) -> npt.NDArray[np.float32]:
    """Return P of each stance, float32[n, 3], of (passage, perspective) texts, in full precision."""
    rows = [tokenizer.row(passage, [perspective]) for passage, perspective in texts]
    out = np.zeros((len(rows), len(STANCES)), dtype=np.float32)
    order = sorted(range(len(rows)), key=lambda place: len(rows[place][0]))
    with torch.inference_mode():
        for start in range(0, len(order), batch):
            places = order[start : start + batch]
            out[places] = torch.softmax(network(packed([rows[i] for i in places])), dim=-1).numpy()
    return out


def _average(averaged: Any, current: Any, steps: Tensor | int) -> None:
    """Move the average towards the current weights, faster in the first steps, which should soon be forgotten."""
    with torch.no_grad():
        kept = min(_AVERAGED, (1 + float(steps)) / (10 + float(steps)))
        torch._foreach_lerp_(averaged, current, 1 - kept)


def _keep(path: Path, parts: Mapping[str, Any], settings: StanceSettings, step: int) -> None:
    state = {name: part.state_dict() for name, part in parts.items()}
    draft = path.with_suffix(".part")
    torch.save({**state, "step": step, "settings": json.dumps(settings)}, draft)
    draft.replace(path)


def _resume(path: Path, parts: Mapping[str, Any], settings: StanceSettings) -> int:
    """Load a checkpoint of the same learning rate and seed; returns its step, or 0 if there is none.

    Another number of steps continues it: the learning rate follows the new schedule from there on.
    """
    if not path.is_file():
        return 0
    state = torch.load(path, weights_only=True)
    if StanceSettings(*json.loads(state["settings"]))._replace(steps=settings.steps) != settings:
        return 0
    for name, part in parts.items():
        part.load_state_dict(state[name])
    return int(state["step"])
