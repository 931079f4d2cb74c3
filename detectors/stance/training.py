"""The training of `stance`: a loss over partial labels, alone or beside a teacher, and checkpoints from which it resumes."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
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
from berdseye.detectors.stance.batches import BATCH_TOKENS, Batch, Step, in_workers, mixed_batches, paired_batches
from berdseye.detectors.stance.examples import STANCES, SUPPORTS, Example
from berdseye.detectors.stance.four_bits import rounded_weights
from berdseye.detectors.stance.network import PairTokenizer, StanceNetwork, packed
from berdseye.detectors.stance.rounding import Copy
from berdseye.detectors.stance.teacher import StateLoss, Teacher, soft_cross_entropy, targets

CHECKPOINT = "checkpoint.pt"
_MARGIN_WEIGHT = 0.3
_QUICK_FACTOR = 5.0
_WARMUP, _LEAST_TIMES_WARMUP = 200, 10
_LEAST_RATE = 0.02
_AVERAGED = 0.998
_KEPT_SECONDS = 120.0
_EXACT = 0.5
"""The part of a `rounded` training before its numbers are rounded."""


class StanceSettings(NamedTuple):
    """What a training is made with; `steps` are batches of about `batch_tokens` tokens, made in `workers` processes.

    With `half`, gradients are computed in bfloat16, which is quicker only on GPUs and on processors that multiply such numbers
    (AMX, or AVX-512 with BF16); the weights are kept and changed in full precision. `device` is named as PyTorch does. If
    `rounded`, the second half of the training computes with weights of 4 bits and inputs of 8, as a file of 4 bits does.

    `continued` is the version of the stored network that the training continues, if it does, with the hash of its weights before
    rounding if it starts from them. A step may then have a pair of batches with so many tokens together. Biases and norms then
    learn five times as fast as matrices, those of the head among them. If numbers should be rounded, the weights are, from the
    first step on. The inputs are not: rounding them takes a quarter of the time, and adaptations of a stored network were no
    better for it.
    """

    steps: int = 3_400
    learning_rate: float = 1.5e-4
    seed: int = 0
    half: bool = False
    batch_tokens: int = BATCH_TOKENS
    device: str = "cpu"
    workers: int = 0
    rounded: bool = False
    continued: str = ""


def untrained(base: str | Path, seed: int) -> StanceNetwork:
    """Return a network that starts from a base, with a random head.

    The same seed gives the same head, so that the weights of two trainings from one base can be averaged. Raises `BadInputError`
    as `StanceNetwork` does.
    """
    torch.manual_seed(seed)
    return StanceNetwork(base)


def train(
    network: StanceNetwork,
    tokenizer: PairTokenizer,
    examples: Mapping[str, Sequence[Example]],
    settings: StanceSettings,
    folder: Path,
    *,
    teacher: Teacher | None = None,
    apart: Collection[str] = (),
    as_it_is: bool = False,
    progress: Progress = silent,
) -> int:
    """Train a network, with its checkpoints in `folder`; it then has the moving average of its weights. Returns the number of
    steps taken.

    The probabilities of a `teacher` of this network for every batch count as much as the labels. Sources that stand `apart` are
    new to the teacher: two thirds of each step are made of them, and there the labels count alone. An interrupted training
    resumes, or, with `as_it_is`, ends where its last checkpoint is; with more steps, a finished one goes on. A resumed training
    draws other batches than an uninterrupted one from there on, so that its weights differ slightly; so does one with worker
    processes, which finish their batches in another order.
    """
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(settings.seed)
    network.to(settings.device)
    for parameter in network.frozen():
        parameter.requires_grad_(False)
    if settings.rounded:
        network.words.weight.data = rounded_weights(network.words.weight.data)
    averaged = AveragedModel(network, multi_avg_fn=_average)
    state_loss = None
    if teacher is not None:
        teacher.to(settings.device)
        if teacher.layers:
            state_loss = teacher.state_loss(network.width).to(settings.device)
    vectors = [p for p in network.parameters() if p.requires_grad and p.ndim <= 1]
    quick = (vectors if settings.continued else network.head()) + (
        [] if state_loss is None else [*state_loss.parameters()]
    )
    known = {id(parameter) for parameter in quick}
    groups: list[dict[str, Any]] = [
        {"params": [p for p in network.parameters() if p.requires_grad and id(p) not in known]},
        {"params": quick, "lr": settings.learning_rate * _QUICK_FACTOR},
    ]
    optimizer = torch.optim.AdamW(
        groups,
        lr=settings.learning_rate,
        weight_decay=0.01,
        fused=True,
    )
    warmup = min(_WARMUP, settings.steps // _LEAST_TIMES_WARMUP + 1) if settings.continued else _WARMUP
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / warmup) * max(_LEAST_RATE, 1 - step / settings.steps)
    )
    parts: dict[str, Any] = {"network": network, "averaged": averaged, "optimizer": optimizer, "schedule": schedule}
    if state_loss is not None:
        parts["state_loss"] = state_loss
    first = _resume(folder / CHECKPOINT, parts, settings)
    reader = Copy(network, half=settings.half)

    def steps(seed: int) -> Iterator[Step]:
        if apart:
            return paired_batches(examples, tokenizer, Random(seed), settings.batch_tokens, apart)
        return ((batch,) for batch in mixed_batches(examples, tokenizer, Random(seed), settings.batch_tokens))

    drawn = in_workers(steps, settings.seed * 1_000_003 + first, settings.workers)
    last, kept = first if as_it_is else max(first, settings.steps), monotonic()
    for step in range(first + 1, last + 1):
        if settings.rounded and step > settings.steps * (0 if settings.continued else _EXACT):
            reader.round_numbers(inputs=not settings.continued)
        optimizer.zero_grad()
        for batch in next(drawn):
            _loss(reader, batch.on(settings.device), teacher, state_loss).backward()  # type: ignore[no-untyped-call]
        reader.hand_over_gradients()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        reader.follow()
        schedule.step()
        averaged.update_parameters(network)
        progress(step, "steps", settings.steps)
        if step == settings.steps or monotonic() - kept > _KEPT_SECONDS:
            _keep(folder / CHECKPOINT, parts, settings, step)
            kept = monotonic()
    network.load_state_dict(averaged.module.state_dict())
    network.cpu().eval()
    return last


def _loss(reader: Copy, batch: Batch, teacher: Teacher | None, state_loss: StateLoss | None) -> Tensor:
    logits, states = reader.read(batch.packed)
    loss = _MARGIN_WEIGHT * margin_loss(logits, batch.allowed, batch.owners)
    if teacher is None or batch.labels_alone:
        return loss + partial_loss(logits, batch.allowed)
    output = teacher(batch.packed)
    loss = loss + soft_cross_entropy(logits, targets(output.probabilities, batch.allowed))
    return loss if state_loss is None else loss + state_loss(states, output, batch.packed)


def average_with(network: StanceNetwork, other: StanceNetwork, share: float = 0.5) -> None:
    """Give a network the mean of its weights, which count for `share`, and those of another one that was trained from the same
    base.

    Such a mean is often better on new data than either (model soups, Wortsman et al., ICML 2022).
    """
    theirs = other.state_dict()
    with torch.no_grad():
        for name, value in network.named_parameters():
            value.mul_(share).add_(theirs[name], alpha=1 - share)


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
    """Load a checkpoint; returns its step, or 0 if there is none that fits.

    It fits if it has the same learning rate, seed and rounding, the same kind of teacher or none, a network with the same table
    of words and parts of the same sizes, and both or neither continue a stored network. Another number of steps continues it: the
    learning rate follows the new schedule from there on.
    """
    if not path.is_file():
        return 0
    state = torch.load(path, weights_only=True, map_location=settings.device)
    kept = StanceSettings(*json.loads(state["settings"]))
    same = all(
        getattr(kept, name) == getattr(settings, name) for name in ("learning_rate", "seed", "rounded", "continued")
    )
    for name in ("network", "state_loss"):
        same = same and _sizes(state.get(name)) == _sizes(parts[name].state_dict() if name in parts else None)
    if not same or not torch.equal(state["network"]["words.weight"], parts["network"].words.weight):
        return 0
    for name, part in parts.items():
        part.load_state_dict(state[name])
    return int(state["step"])


def _sizes(state: Mapping[str, Tensor] | None) -> dict[str, torch.Size] | None:
    return None if state is None else {name: value.shape for name, value in state.items()}
