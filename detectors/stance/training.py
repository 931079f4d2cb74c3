"""The training of `stance`: a loss over partial labels, alone or beside a teacher, and checkpoints from which it resumes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from berdseye.data.progress import Progress, silent
from berdseye.detectors.stance.batches import BATCH_TOKENS, Batch, in_workers, mixed_batches
from berdseye.detectors.stance.examples import STANCES, SUPPORTS, Example
from berdseye.detectors.stance.network import Packed, PairTokenizer, StanceNetwork, packed
from berdseye.detectors.stance.teacher import StateLoss, Teacher, rounded, soft_cross_entropy, targets

CHECKPOINT = "checkpoint.pt"
_MARGIN_WEIGHT = 0.3
_HEAD_FACTOR = 5.0
_WARMUP = 200
_LEAST_RATE = 0.02
_AVERAGED = 0.998
_KEPT_SECONDS = 120.0


class StanceSettings(NamedTuple):
    """What a training is made with; `steps` are batches of about `batch_tokens` tokens, made in `workers` processes.

    With `half`, gradients are computed in bfloat16, which is quicker only on GPUs and on processors that multiply such numbers
    (AMX, or AVX-512 with BF16); the weights are kept and changed in full precision. `device` is named as PyTorch does.
    """

    steps: int = 3_400
    learning_rate: float = 1.5e-4
    seed: int = 0
    half: bool = False
    batch_tokens: int = BATCH_TOKENS
    device: str = "cpu"
    workers: int = 0


def train(
    base: str | Path,
    examples: Mapping[str, Sequence[Example]],
    settings: StanceSettings,
    folder: Path,
    *,
    teacher: tuple[StanceNetwork, PairTokenizer] | None = None,
    as_it_is: bool = False,
    progress: Progress = silent,
) -> tuple[StanceNetwork, int]:
    """Train a network in `folder`; return the moving average of its weights, and the number of steps taken.

    A `teacher` is a trained network with its tokenizer; its probabilities for every batch count as much as the labels. An
    interrupted training resumes, or, with `as_it_is`, ends where its last checkpoint is; with more steps, a finished one goes
    on. A resumed training draws other batches than an uninterrupted one from there on, so that its weights differ slightly; so
    does one with worker processes, which finish their batches in another order.
    """
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(settings.seed)
    network, tokenizer = StanceNetwork(base).to(settings.device), PairTokenizer(base)
    network.words.requires_grad_(False)
    averaged = AveragedModel(network, multi_avg_fn=_average)
    judge = None if teacher is None else Teacher(*teacher, tokenizer, half=settings.half).to(settings.device)
    state_loss = None if judge is None else StateLoss(network.width, judge.width).to(settings.device)
    head = network.head() + ([] if state_loss is None else [*state_loss.parameters()])
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
    if state_loss is not None:
        parts["state_loss"] = state_loss
    first = _resume(folder / CHECKPOINT, parts, settings)
    reader = HalfPrecision(network) if settings.half else network

    def batches(seed: int) -> Iterator[Batch]:
        return mixed_batches(examples, tokenizer, Random(seed), settings.batch_tokens)

    drawn = in_workers(batches, settings.seed * 1_000_003 + first, settings.workers)
    last, kept = first if as_it_is else max(first, settings.steps), monotonic()
    for step in range(first + 1, last + 1):
        batch = next(drawn).on(settings.device)
        logits, states = reader.read(batch.packed)
        loss = _MARGIN_WEIGHT * margin_loss(logits, batch.allowed, batch.owners)
        if judge is None or state_loss is None:
            loss = loss + partial_loss(logits, batch.allowed)
        else:
            output = judge(batch.packed)
            loss = loss + soft_cross_entropy(logits, targets(output.probabilities, batch.allowed))
            loss = loss + state_loss(states, output, batch.packed)
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
        if step == settings.steps or monotonic() - kept > _KEPT_SECONDS:
            _keep(folder / CHECKPOINT, parts, settings, step)
            kept = monotonic()
    network.load_state_dict(averaged.module.state_dict())
    return network.cpu().eval(), last


class HalfPrecision(nn.Module):
    """A copy of a network whose encoder computes in bfloat16, to find the gradients of the network's own weights."""

    def __init__(self, network: StanceNetwork) -> None:
        super().__init__()
        self.copied = rounded(deepcopy(network))
        own, copies = network.parameters(), self.copied.parameters()
        self._own, self._copies = zip(
            *((a, b) for a, b in zip(own, copies, strict=True) if a.requires_grad), strict=True
        )
        self.follow()

    def read(self, packed: Packed) -> tuple[Tensor, list[Tensor]]:
        """Return the logits, float32[n_perspectives, 3], and the vectors after each layer, as the network does."""
        return self.copied.read(packed)

    def hand_over_gradients(self) -> None:
        """Give the network the gradients that were found with the copy, and forget them here."""
        for own, copy in zip(self._own, self._copies, strict=True):
            own.grad, copy.grad = copy.grad.to(own.dtype), None

    @torch.no_grad()
    def follow(self) -> None:
        """Copy the network's weights, rounded."""
        torch._foreach_copy_(self._copies, self._own)


def average_with(network: StanceNetwork, other: StanceNetwork) -> None:
    """Give a network the mean of its weights and those of another one that was trained from the same base.

    Such a mean is often better on new data than either (model soups, Wortsman et al., ICML 2022).
    """
    theirs = other.state_dict()
    network.load_state_dict({name: (value + theirs[name]) / 2 for name, value in network.state_dict().items()})


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
    """Load a checkpoint of the same learning rate and seed, with a teacher or without; returns its step, or 0 if there is none.

    Another number of steps continues it: the learning rate follows the new schedule from there on.
    """
    if not path.is_file():
        return 0
    state = torch.load(path, weights_only=True, map_location=settings.device)
    kept = StanceSettings(*json.loads(state["settings"]))
    if kept[1:3] != settings[1:3] or ("state_loss" in state) != ("state_loss" in parts):
        return 0
    for name, part in parts.items():
        part.load_state_dict(state[name])
    return int(state["step"])
