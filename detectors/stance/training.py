"""The training of `stance`: batches mixed from all sources, a loss over partial labels, and checkpoints from which it resumes."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from berdseye.data.progress import Progress, silent
from berdseye.detectors.stance.examples import STANCES, Example, with_denials
from berdseye.detectors.stance.network import PairTokenizer, StanceNetwork, padded

MIXTURE: Mapping[str, float] = {
    "snli": 12,
    "counterfactual": 14,
    "fever": 9,
    "mnli": 10,
    "points matched": 6,
    "points of the other side": 7,
    "points of the same side": 4,
    "windows of arguments": 9,
    "debates supported": 9,
    "debates claims": 9,
    "debates others": 11,
}
"""How many of 100 examples come from each source. Inference stays close to half of every batch: a stage of arguments alone made
the network forget it."""
CHECKPOINT = "checkpoint.pt"
_POOL = 1024
_BATCH_TOKENS = 3072
_DENIED = 0.15
_HEAD_FACTOR = 5.0
_WARMUP = 150
_LEAST_RATE = 0.02
_KEPT_EVERY = 250


class StanceSettings(NamedTuple):
    """What a training is made with; `steps` are batches of about 3,000 tokens."""

    steps: int = 12_000
    learning_rate: float = 8e-5
    seed: int = 0


def train(
    base: str | Path,
    examples: Mapping[str, Sequence[Example]],
    settings: StanceSettings,
    folder: Path,
    *,
    progress: Progress = silent,
) -> StanceNetwork:
    """Train a network in `folder` and return it; one that was interrupted resumes from its last checkpoint.

    A resumed training draws other batches than an uninterrupted one from there on, so that its weights differ slightly.
    """
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(settings.seed)
    network, tokenizer = StanceNetwork(base), PairTokenizer(base)
    head = [p for name, p in network.named_parameters() if not name.startswith("encoder.")]
    optimizer = torch.optim.AdamW(
        [
            {"params": network.encoder.parameters(), "lr": settings.learning_rate},
            {"params": head, "lr": settings.learning_rate * _HEAD_FACTOR},
        ],
        weight_decay=0.01,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / _WARMUP) * max(_LEAST_RATE, 1 - step / settings.steps)
    )
    parts: dict[str, Any] = {"network": network, "optimizer": optimizer, "schedule": schedule}
    first = _resume(folder / CHECKPOINT, parts, settings)
    batches = mixed_batches(examples, tokenizer, Random(settings.seed * 1_000_003 + first))
    torch.manual_seed(settings.seed * 1_000_003 + first)
    network.train()
    for step in range(first + 1, settings.steps + 1):
        (ids, mask, types), allowed = next(batches)
        loss = partial_loss(network(ids, mask, types), allowed)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        progress(step, "steps", settings.steps)
        if step % _KEPT_EVERY == 0 or step == settings.steps:
            _keep(folder / CHECKPOINT, parts, settings, step)
    network.eval()
    return network


def partial_loss(logits: Tensor, allowed: Tensor) -> Tensor:
    """Return the mean of -log P(one of the allowed stances), from logits float[n, 3] and bool[n, 3]."""
    log_p = torch.log_softmax(logits, dim=-1).masked_fill(~allowed, -torch.inf)
    return -torch.logsumexp(log_p, dim=-1).mean()


def mixed_batches(
    examples: Mapping[str, Sequence[Example]], tokenizer: PairTokenizer, chance: Random
) -> Iterator[tuple[tuple[Tensor, Tensor, Tensor], Tensor]]:
    """Yield batches without end: (ids, mask, types) and the allowed stances, bool[n, 3].

    1,024 examples at a time are drawn by `MIXTURE`, each source in a random order and again from its start when it is used up, and
    are cut into batches of similar length.
    """
    names = [name for name in MIXTURE if examples.get(name)]
    waiting: dict[str, list[int]] = {name: [] for name in names}
    while True:
        drawn = []
        for name in chance.choices(names, [MIXTURE[name] for name in names], k=_POOL):
            if not waiting[name]:
                waiting[name] = chance.sample(range(len(examples[name])), len(examples[name]))
            drawn.append(examples[name][waiting[name].pop()])
        drawn = with_denials(drawn, _DENIED, chance)
        rows = tokenizer.ids([(e.passage, e.perspective) for e in drawn])
        batches: list[list[int]] = [[]]
        for place in sorted(range(len(rows)), key=lambda place: len(rows[place][0])):
            if (len(batches[-1]) + 1) * len(rows[place][0]) > _BATCH_TOKENS:
                batches.append([])
            batches[-1].append(place)
        chance.shuffle(batches)
        for batch in batches:
            allowed = [[stance in drawn[place].allowed for stance in range(len(STANCES))] for place in batch]
            yield padded([rows[place] for place in batch]), torch.tensor(allowed)


def stance_probabilities(
    network: StanceNetwork, tokenizer: PairTokenizer, texts: Sequence[tuple[str, str]], batch: int = 64
) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return P of each stance, float32[n, 3], of (passage, perspective) texts, in full precision."""
    rows = tokenizer.ids(texts)
    out = np.zeros((len(rows), len(STANCES)), dtype=np.float32)
    order = sorted(range(len(rows)), key=lambda place: len(rows[place][0]))
    training = network.training
    network.eval()
    with torch.inference_mode():
        for start in range(0, len(order), batch):
            places = order[start : start + batch]
            out[places] = torch.softmax(network(*padded([rows[i] for i in places])), dim=-1).numpy()
    network.train(training)
    return out


def _keep(path: Path, parts: Mapping[str, Any], settings: StanceSettings, step: int) -> None:
    state = {name: part.state_dict() for name, part in parts.items()}
    draft = path.with_suffix(".part")
    torch.save({**state, "step": step, "settings": json.dumps(settings)}, draft)
    os.replace(draft, path)


def _resume(path: Path, parts: Mapping[str, Any], settings: StanceSettings) -> int:
    """Load a checkpoint of the same settings; returns its step, or 0 if there is none."""
    if not path.is_file():
        return 0
    state = torch.load(path, weights_only=True)
    if state["settings"] != json.dumps(settings):
        return 0
    for name, part in parts.items():
        part.load_state_dict(state[name])
    return int(state["step"])
