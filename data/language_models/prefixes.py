"""The beginnings that prompts of a causal language model share, and their keys and values, which are computed once."""

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

Ids = Sequence[int]

_LEAST_SHARED = 8


class Prefix(NamedTuple):
    """The keys and values of a token sequence, and the logits after its last token, float[n_vocabulary]."""

    cache: Any
    last: Any


class Family(NamedTuple):
    """The positions of token sequences that begin with the same `shared` tokens."""

    members: list[int]
    shared: int


def read_prefix(model: Any, ids: Ids) -> Prefix | None:
    """Read a token sequence once; return None for a model whose memory is of another kind than keys and values of tokens."""
    import torch
    from transformers import DynamicCache

    only_last = {"logits_to_keep": 1} if "logits_to_keep" in inspect.signature(model.forward).parameters else {}
    cache = DynamicCache(config=model.config)
    row = torch.tensor([list(ids)], device=model.device)
    output = model(row, past_key_values=cache, use_cache=True, **only_last)
    kept = getattr(output, "past_key_values", None)
    usable = isinstance(kept, DynamicCache) and kept.get_seq_length() == len(ids)
    return Prefix(kept, output.logits[0, -1]) if usable else None


def common_length(sequences: Sequence[Ids], most: int) -> int:
    """Return the number of tokens with which all sequences begin, at most `most`."""
    first, last = min(sequences, key=tuple), max(sequences, key=tuple)  # what these share lies in all others too
    shared = min(most, len(first), len(last))
    return next((at for at in range(shared) if first[at] != last[at]), shared)


def families(sequences: Sequence[Ids], most: Sequence[int]) -> tuple[int, list[Family]]:
    """Return how many tokens all sequences share, and the families of those that share more, such as the same passage.

    At most `most[i]` tokens of sequence i are shared. Sequences are in one family if they have at least half of what follows the
    common beginning in common; a sequence without such company is a family of its own. A shared part of fewer than 8 tokens
    counts as none.
    """
    everywhere = common_length(sequences, min(most)) if len(sequences) > 1 else 0
    everywhere = everywhere if everywhere >= _LEAST_SHARED else 0
    found: list[Family] = []
    for place in sorted(range(len(sequences)), key=lambda place: tuple(sequences[place])):
        if found:
            members, known = found[-1]
            shared = common_length([sequences[members[0]], sequences[place]], min(most[place], most[members[0]]))
            shared = min(shared, known) if len(members) > 1 else shared
            if shared - everywhere >= max(_LEAST_SHARED, (len(sequences[place]) - everywhere) / 2):
                found[-1] = Family([*members, place], shared)
                continue
        found.append(Family([place], everywhere))
    return everywhere, found
