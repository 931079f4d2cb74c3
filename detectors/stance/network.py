"""The network of `stance`: a transformer that reads passage and perspective together, and a head over both of their means.

The mean of the passage's token vectors and the mean of the perspective's, their difference and product lead to three logits. Their
cosine is added with a learned weight, so that training begins with a detector of topics instead of one that guesses.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer

from berdseye.detectors.stance.examples import STANCES

MAX_LENGTH = 192
"""The tokens that the network reads of both texts: a passage of 100 words and a perspective of 30 fit."""
_DROPPED = 0.1
_FIRST_SKIP = (4.0, 0.0, -4.0)


class StanceNetwork(nn.Module):
    """Token ids, attention mask and token types (1: perspective), each int64[n, length], to logits float32[n, 3]."""

    def __init__(self, base: str | Path) -> None:
        super().__init__()
        self.encoder = AutoModel.from_pretrained(str(base))
        width = int(self.encoder.config.hidden_size)
        self.drop = nn.Dropout(_DROPPED)
        self.hidden = nn.Linear(4 * width, width)
        self.out = nn.Linear(width, len(STANCES))
        self.skip = nn.Parameter(torch.tensor(_FIRST_SKIP))

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        vectors = self.encoder(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state
        passage = _mean(vectors, (1 - types) * mask)
        perspective = _mean(vectors, types * mask)
        both = torch.cat([passage, perspective, (passage - perspective).abs(), passage * perspective], dim=-1)
        logits: Tensor = self.out(self.drop(nn.functional.gelu(self.hidden(self.drop(both)))))
        return logits + torch.cosine_similarity(passage, perspective, dim=-1).unsqueeze(-1) * self.skip


class PairTokenizer:
    """Token ids of pairs; a passage that is too long is cut at its end, and `cut` counts how many were."""

    def __init__(self, base: str | Path) -> None:
        self.tokenizer: Any = AutoTokenizer.from_pretrained(str(base))
        self.cut = 0

    def ids(self, texts: Sequence[tuple[str, str]]) -> list[tuple[list[int], list[int]]]:
        """Return token ids and token types of (passage, perspective) texts."""
        rows = self.tokenizer([p for p, _ in texts], [q for _, q in texts], truncation="only_first", max_length=MAX_LENGTH)
        self.cut += sum(len(ids) == MAX_LENGTH for ids in rows["input_ids"])
        return list(zip(rows["input_ids"], rows["token_type_ids"], strict=True))


def padded(rows: Sequence[tuple[list[int], list[int]]]) -> tuple[Tensor, Tensor, Tensor]:
    """Return ids, mask and types of rows, padded to the longest of them."""
    shape = (len(rows), max(len(ids) for ids, _ in rows))
    ids, mask, types = (torch.zeros(shape, dtype=torch.long) for _ in range(3))
    for place, (row, kinds) in enumerate(rows):
        ids[place, : len(row)] = torch.tensor(row)
        types[place, : len(row)] = torch.tensor(kinds)
        mask[place, : len(row)] = 1
    return ids, mask, types


def _mean(vectors: Tensor, mask: Tensor) -> Tensor:
    weights = mask.unsqueeze(-1).to(vectors.dtype)
    return (vectors * weights).sum(1) / weights.sum(1)
