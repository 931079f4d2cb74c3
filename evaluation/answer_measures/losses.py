"""Losses of a causal language model on the ends of token sequences, with their shared beginning read only once."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from berdseye.data.errors import UnavailableError
from berdseye.data.language_models.prefixes import common_length, read_prefix
from berdseye.evaluation.answer_measures.items import Doubles

Ids = list[int]

_LOGITS_AT_ONCE = 1 << 26  # numbers; one per token and entry of the vocabulary
_ON_AN_ACCELERATOR = 1 << 29


def shared_losses(model: Any, sequences: Sequence[Ids], starts: Sequence[int]) -> Doubles:
    """Compute the sum of -log P (nats) over the tokens of each sequence from its start on, float64[n_sequences].

    The shared beginning of all sequences is encoded once, and its keys and values are reused for each sequence. For n ends of p
    tokens after a shared beginning of a tokens, this reads a + np tokens instead of n(a + p). Starts are at least 1, because the
    first token has no token before it. Raises `UnavailableError` if the accelerator's memory is full.
    """
    if not sequences:
        return np.zeros(0)
    shared = shared_beginning(sequences, starts)
    with _reading():
        prefix = read_prefix(model, sequences[0][:shared])
        if prefix is None:
            return whole_losses(model, sequences, starts)
        losses = np.zeros(len(sequences))
        batches = _batches(model, [len(ids) - shared for ids in sequences])
        for number, places in enumerate(batches):
            again = number < len(batches) - 1
            losses[places] = _ends(
                model,
                copy.deepcopy(prefix.cache) if again else prefix.cache,
                prefix.last,
                [sequences[at][shared:] for at in places],
                [starts[at] - shared for at in places],
            )
    return losses


def whole_losses(model: Any, sequences: Sequence[Ids], starts: Sequence[int]) -> Doubles:
    """Compute the sums of `shared_losses` with each sequence read separately from its beginning, the reference implementation."""
    import torch

    losses = np.zeros(len(sequences))
    for place, (ids, start) in enumerate(zip(sequences, starts, strict=True)):
        with _reading():
            logits = model(torch.tensor([ids], device=model.device), use_cache=False).logits
            losses[place] = _sums(logits[:, start - 1 : -1], [ids[start:]], [0])[0]
    return losses


def shared_beginning(sequences: Sequence[Ids], starts: Sequence[int]) -> int:
    """Return the number of tokens that all sequences share at their beginning, without scored tokens; at least one."""
    return max(1, common_length(sequences, min(starts)))


def _ends(model: Any, cache: Any, last: Any, ends: list[Ids], starts: list[int]) -> Doubles:
    """Return the losses of ends of sequences after the tokens in the cache, which is consumed."""
    import torch

    longest = max(len(ids) for ids in ends)
    if longest == 0:
        return np.zeros(len(ends))
    # Padding follows all tokens that count, where causal attention ignores it.
    padded = torch.tensor([ids + [0] * (longest - len(ids)) for ids in ends], device=model.device)
    if len(ends) > 1:
        cache.batch_repeat_interleave(len(ends))
    logits = model(padded, past_key_values=cache, use_cache=True).logits
    before = torch.cat([last.expand(len(ends), 1, -1), logits[:, :-1]], dim=1)
    return _sums(before, ends, starts)


def _sums(logits: Any, targets: list[Ids], starts: list[int]) -> Doubles:
    """Return the loss of each row's tokens from its start on; logits[n_rows, n_tokens, n_vocabulary] predict the token after
    them."""
    import torch

    sums = np.zeros(len(targets))
    for row, (ids, start) in enumerate(zip(targets, starts, strict=True)):
        if start < len(ids):
            predicted = logits[row, start : len(ids)].float()
            wanted = torch.tensor(ids[start:], device=predicted.device)
            sums[row] = float(torch.nn.functional.cross_entropy(predicted, wanted, reduction="none").double().sum())
    return sums


def _batches(model: Any, lengths: Sequence[int]) -> list[list[int]]:
    """Return batches of places of the ends, the longest first, each as large as the memory for logits allows."""
    most = _LOGITS_AT_ONCE if model.device.type == "cpu" else _ON_AN_ACCELERATOR
    room = most // int(model.config.get_text_config().vocab_size)
    order = sorted(range(len(lengths)), key=lambda at: -lengths[at])
    batches = []
    while order:
        size = max(1, room // max(1, lengths[order[0]]))
        batches.append(order[:size])
        order = order[size:]
    return batches


@contextmanager
def _reading() -> Iterator[None]:
    """Run without gradients; raises `UnavailableError` if the accelerator's memory is full."""
    import torch

    try:
        with torch.inference_mode():
            yield
    except torch.OutOfMemoryError as error:
        raise UnavailableError(
            "The accelerator has too little memory for this model.",
            hint="Use a smaller model, or set BERDSEYE_DEVICE=cpu.",
        ) from error
