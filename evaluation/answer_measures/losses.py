"""How surprised a causal language model is by the ends of token sequences, the part they all share read only once."""

import copy
import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from berdseye.data.errors import UnavailableError
from berdseye.evaluation.answer_measures.items import Doubles

Ids = list[int]

_LOGITS_AT_ONCE = 1 << 26  # numbers; a token has as many as the vocabulary
_ON_AN_ACCELERATOR = 1 << 29


def shared_losses(model: Any, sequences: Sequence[Ids], starts: Sequence[int]) -> Doubles:
    """Sum of -log P (nats) over the tokens of each sequence from its start on, float64[n_sequences].

    What all sequences begin with is encoded once, and its keys and values serve every one of them. For n ends of p tokens
    after a shared beginning of a tokens this reads a + np tokens instead of n(a + p). Starts are 1 or more, since the first
    token has none before it. Raises `UnavailableError` where the accelerator's memory is full.
    """
    if not sequences:
        return np.zeros(0)
    shared = shared_beginning(sequences, starts)
    with _reading():
        cache, last = _encoded(model, sequences[0][:shared])
        if cache is None:
            return whole_losses(model, sequences, starts)
        losses = np.zeros(len(sequences))
        batches = _batches(model, [len(ids) - shared for ids in sequences])
        for number, places in enumerate(batches):
            again = number < len(batches) - 1
            losses[places] = _ends(
                model,
                copy.deepcopy(cache) if again else cache,
                last,
                [sequences[at][shared:] for at in places],
                [starts[at] - shared for at in places],
            )
    return losses


def whole_losses(model: Any, sequences: Sequence[Ids], starts: Sequence[int]) -> Doubles:
    """As `shared_losses`, each sequence read alone from its beginning: the plain way, and the one to compare with."""
    import torch

    losses = np.zeros(len(sequences))
    for place, (ids, start) in enumerate(zip(sequences, starts, strict=True)):
        with _reading():
            logits = model(torch.tensor([ids], device=model.device), use_cache=False).logits
            losses[place] = _sums(logits[:, start - 1 : -1], [ids[start:]], [0])[0]
    return losses


def shared_beginning(sequences: Sequence[Ids], starts: Sequence[int]) -> int:
    """How many tokens all sequences begin with, leaving out those that are scored, and at least one."""
    most = min(min(starts), *(len(ids) for ids in sequences))
    first = sequences[0]
    for place in range(most):
        if any(ids[place] != first[place] for ids in sequences):
            return max(1, place)
    return max(1, most)


def _encoded(model: Any, ids: Ids) -> tuple[Any, Any]:
    """Keys and values of the tokens, None where the model keeps none that can be shared; logits[n_tokens] after the last."""
    import torch
    from transformers import DynamicCache

    only_last = {"logits_to_keep": 1} if "logits_to_keep" in inspect.signature(model.forward).parameters else {}
    cache = DynamicCache(config=model.config)
    output = model(torch.tensor([ids], device=model.device), past_key_values=cache, use_cache=True, **only_last)
    kept = getattr(output, "past_key_values", None)
    usable = isinstance(kept, DynamicCache) and kept.get_seq_length() == len(ids)
    return (kept if usable else None), output.logits[0, -1]


def _ends(model: Any, cache: Any, last: Any, ends: list[Ids], starts: list[int]) -> Doubles:
    """The losses of ends of sequences after the tokens in the cache, which is used up."""
    import torch

    longest = max(len(ids) for ids in ends)
    if longest == 0:
        return np.zeros(len(ends))
    # Padding stands after every token that counts, where causal attention does not see it.
    padded = torch.tensor([ids + [0] * (longest - len(ids)) for ids in ends], device=model.device)
    if len(ends) > 1:
        cache.batch_repeat_interleave(len(ends))
    logits = model(padded, past_key_values=cache, use_cache=True).logits
    before = torch.cat([last.expand(len(ends), 1, -1), logits[:, :-1]], dim=1)
    return _sums(before, ends, starts)


def _sums(logits: Any, targets: list[Ids], starts: list[int]) -> Doubles:
    """Loss of each row's tokens from its start on; logits[n_rows, n_tokens, n_vocabulary] tell of the token they stand before."""
    import torch

    found = np.zeros(len(targets))
    for row, (ids, start) in enumerate(zip(targets, starts, strict=True)):
        if start < len(ids):
            told = logits[row, start : len(ids)].float()
            wanted = torch.tensor(ids[start:], device=told.device)
            found[row] = float(torch.nn.functional.cross_entropy(told, wanted, reduction="none").double().sum())
    return found


def _batches(model: Any, lengths: Sequence[int]) -> list[list[int]]:
    """Places of the ends, the longest first, as many at a time as there is room for their logits."""
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
    """Without gradients; raises `UnavailableError` where the accelerator's memory is full."""
    import torch

    try:
        with torch.inference_mode():
            yield
    except torch.OutOfMemoryError as error:
        raise UnavailableError(
            "The accelerator has too little memory for this model.",
            hint="Name a smaller one, or set BERDSEYE_DEVICE=cpu.",
        ) from error
