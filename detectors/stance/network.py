"""The network of `stance`: a passage is read once, and each perspective is read with the passage before its eyes.

The tokens of the passage attend to the passage alone; those of a perspective attend to the passage and to themselves. So the keys
and values of a passage are computed once for all of its perspectives, whose few tokens cost little, and no perspective can change
what is found for another. The mean of the passage's token vectors and that of the perspective's, their difference and product
lead to three logits. Their cosine is added with a learned weight, so that training begins with a detector of topics instead of
one that guesses.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer, BertModel, MPNetModel, PreTrainedModel
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

from berdseye.data.errors import BadInputError
from berdseye.detectors.stance.detector import MOST_PASSAGE_TOKENS, MOST_PERSPECTIVE_TOKENS, ends
from berdseye.detectors.stance.examples import STANCES

PASSAGE, PADDING = 0, -1
_FIRST_SKIP = (4.0, 0.0, -4.0)
_UNSEEN = -1e4
_MOST_HIDDEN = 256


class Layer(nn.Module):
    """A layer of BERT or MPNet whose keys and values may continue those of texts that were read before.

    `chosen`, int64[heads], are the heads of the base's layer that it has, counted from 0; None: all of them.
    """

    joined: nn.Linear
    up: nn.Linear
    down: nn.Linear
    chosen: Tensor | None

    def __init__(self, layer: Any) -> None:
        super().__init__()
        attention = layer.attention
        if hasattr(attention, "attn"):
            inner = attention.attn
            self.query, self.key, self.value, self.joined = inner.q, inner.k, inner.v, inner.o
            self.joined_norm, self.heads = attention.LayerNorm, int(inner.num_attention_heads)
        else:
            self.query, self.key, self.value = attention.self.query, attention.self.key, attention.self.value
            self.joined, self.joined_norm = attention.output.dense, attention.output.LayerNorm
            self.heads = int(attention.self.num_attention_heads)
        self.up, self.down, self.norm = layer.intermediate.dense, layer.output.dense, layer.output.LayerNorm
        self.register_buffer("chosen", None)

    def forward(
        self, x: Tensor, mask: Tensor | None, past: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return the vectors after this layer, and the keys and values, [n, heads, length, width / heads].

        `mask` is added to the scores, [n, 1 or the base's heads, length, length]. Where no GPU computes, the products are written
        out, since PyTorch's fused attention is several times slower on processors in half precision when gradients are wanted.
        """
        query, key, value = (self._by_head(part(x)) for part in (self.query, self.key, self.value))
        if past is not None:
            key, value = torch.cat([past[0], key], dim=2), torch.cat([past[1], value], dim=2)
        if mask is not None and mask.shape[1] > 1 and self.chosen is not None:
            mask = mask[:, self.chosen]
        if x.is_cuda:
            seen = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        else:
            scores = (query * query.shape[-1] ** -0.5) @ key.transpose(2, 3)
            if mask is not None:
                scores = scores + mask
            seen = torch.softmax(scores, dim=-1, dtype=x.dtype) @ value
        x = self.joined_norm(x + self.joined(seen.transpose(1, 2).flatten(2)))
        return self.norm(x + self.down(nn.functional.gelu(self.up(x)))), (key, value)

    def keep(self, heads: Tensor, neurons: Tensor) -> None:
        """Leave these heads and neurons, which are counted from 0, int64[n]."""
        width = self.query.out_features // self.heads
        entries = (heads[:, None] * width + torch.arange(width)).flatten()
        self.query, self.key, self.value = (_outputs(part, entries) for part in (self.query, self.key, self.value))
        self.joined, self.up = _inputs(self.joined, entries), _outputs(self.up, neurons)
        self.down = _inputs(self.down, neurons)
        self.heads, self.chosen = len(heads), heads if self.chosen is None else self.chosen[heads]

    def _by_head(self, x: Tensor) -> Tensor:
        return x.reshape(*x.shape[:2], self.heads, -1).transpose(1, 2)


class StanceNetwork(nn.Module):
    """An encoder (BERT or MPNet) with a head for three stances; `base` is a folder or a name that transformers loads, or the
    encoder.

    Raises `BadInputError` for a model of another kind.
    """

    def __init__(self, base: str | Path | PreTrainedModel) -> None:
        super().__init__()
        encoder = base if isinstance(base, PreTrainedModel) else _opened(base)
        if not isinstance(encoder, BertModel | MPNetModel):
            raise BadInputError(f"The base must be a BERT or MPNet model, not {type(encoder).__name__}.")
        found = encoder.embeddings
        self.words, self.places, self.norm = found.word_embeddings, found.position_embeddings, found.LayerNorm
        self.kinds = getattr(found, "token_type_embeddings", None)
        self.first_place = 2 if isinstance(encoder, MPNetModel) else 0
        self.nearness = getattr(encoder.encoder, "relative_attention_bias", None)
        self.layers = nn.ModuleList(Layer(layer) for layer in encoder.encoder.layer)
        self.width, self.heads = int(encoder.config.hidden_size), int(encoder.config.num_attention_heads)
        self.hidden = nn.Linear(4 * self.width, min(self.width, _MOST_HIDDEN))
        self.out = nn.Linear(self.hidden.out_features, len(STANCES))
        self.skip = nn.Parameter(torch.tensor(_FIRST_SKIP))

    def forward(self, packed: "Packed") -> Tensor:
        """Return the logits of packed perspectives, float32[n_perspectives, 3], passage by passage."""
        return self.read(packed)[0]

    def read(self, packed: "Packed") -> tuple[Tensor, list[Tensor]]:
        """Return the same, and the vectors of all tokens after each layer, [n_passages, length, width]."""
        segments = packed.segments
        x = self.embedded(packed.ids, packed.places, (segments > PASSAGE).long())
        mine, theirs = segments.unsqueeze(2), segments.unsqueeze(1)
        hidden = ~((theirs == PASSAGE) | (theirs == mine)).unsqueeze(1)
        mask = torch.zeros(hidden.shape, dtype=x.dtype, device=x.device).masked_fill(hidden, _UNSEEN)
        near = self.near(packed.places, packed.places)
        mask = mask if near is None else (mask + near).contiguous()
        states = []
        for layer in self.layers:
            x, _ = layer(x, mask)
            states.append(x)
        x = x.float()
        numbers = torch.arange(int(segments.max()) + 1, device=x.device).view(1, -1, 1)
        weights = (segments.unsqueeze(1) == numbers).to(x.dtype)
        counts = weights.sum(-1, keepdim=True)
        means = (weights @ x) / counts.clamp(min=1)
        there = (counts.squeeze(-1) > 0)[:, 1:]
        passages = means[:, :1].expand(-1, means.shape[1] - 1, -1)
        return self.logits(passages[there], means[:, 1:][there]), states

    def layer_list(self) -> list[Layer]:
        """Return the layers, from the first to the last."""
        return [layer for layer in self.layers if isinstance(layer, Layer)]

    def frozen(self) -> list[nn.Parameter]:
        """Return the parameters that a training leaves as they are: the table of words, and what MPNet adds for distances."""
        return [*self.words.parameters(), *([] if self.nearness is None else self.nearness.parameters())]

    def head(self) -> list[nn.Parameter]:
        """Return the parameters that do not come from the base."""
        return [*self.hidden.parameters(), *self.out.parameters(), self.skip]

    def embedded(self, ids: Tensor, places: Tensor, kinds: Tensor) -> Tensor:
        """Return the vectors before the first layer, from ids, positions and kinds (1: perspective), int64[n, length]."""
        vectors: Tensor = self.words(ids) + self.places(places + self.first_place)
        normed: Tensor = self.norm(vectors if self.kinds is None else vectors + self.kinds(kinds))
        return normed

    def near(self, places: Tensor, earlier: Tensor) -> Tensor | None:
        """Return what MPNet adds to the scores for the distance of positions, int64[n, length] and int64[n, other length], as
        [n, heads, length, other length]; None for BERT."""
        if self.nearness is None:
            return None
        distances = earlier.unsqueeze(1) - places.unsqueeze(2)
        buckets = MPNetEncoder.relative_position_bucket(distances)  # type: ignore[no-untyped-call]
        found: Tensor = self.nearness(buckets)
        return found.permute(0, 3, 1, 2)

    def logits(self, passage: Tensor, perspective: Tensor) -> Tensor:
        """Return the logits of mean vectors, float32[n, 3]."""
        both = torch.cat([passage, perspective, (passage - perspective).abs(), passage * perspective], dim=-1)
        logits: Tensor = self.out(nn.functional.gelu(self.hidden(both)))
        return logits + torch.cosine_similarity(passage, perspective, dim=-1).unsqueeze(-1) * self.skip


def _opened(base: str | Path) -> PreTrainedModel:
    encoder: PreTrainedModel = AutoModel.from_pretrained(str(base), dtype=torch.float32)
    return encoder


def _outputs(part: nn.Linear, entries: Tensor) -> nn.Linear:
    """Return a part that computes some of the outputs of another one."""
    return _linear(part.weight[entries], part.bias[entries])


def _inputs(part: nn.Linear, entries: Tensor) -> nn.Linear:
    """Return a part that reads some of the inputs of another one."""
    return _linear(part.weight[:, entries], part.bias)


def _linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    made = nn.Linear(weight.shape[1], weight.shape[0])
    made.weight.data, made.bias.data = weight.detach().clone(), bias.detach().clone()
    return made


class Packed(NamedTuple):
    """Passages with their perspectives behind them, int64[n_passages, length].

    `segments` is 0 for the passage, 1, 2, ... for its perspectives and -1 for padding; every perspective's positions continue
    those of the passage.
    """

    ids: Tensor
    places: Tensor
    segments: Tensor

    def on(self, device: str) -> "Packed":
        """Return the same on a device, as PyTorch names it."""
        return Packed(*(part.to(device, non_blocking=True) for part in self))


Row = tuple[list[int], list[int], list[int]]


class PairTokenizer:
    """Token ids of passages with perspectives; a text that is too long is cut at its end, and `cut` counts how many were.

    `base` is a folder or a name that transformers loads, or a tokenizer of the library `tokenizers`.
    """

    def __init__(self, base: str | Path | Tokenizer) -> None:
        self.use(base if isinstance(base, Tokenizer) else AutoTokenizer.from_pretrained(str(base)).backend_tokenizer)
        self.cut = 0

    def use(self, tokenizer: Any) -> None:
        """Read with this tokenizer of the library `tokenizers` from now on; texts are neither cut nor padded by it."""
        self.tokenizer = tokenizer
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.first, self.last = ends(self.tokenizer.get_vocab())

    def row(self, passage: str, perspectives: Sequence[str]) -> Row:
        """Return ids, positions and segments of a passage and its perspectives."""
        ids = [self.first, *self._ids(passage, MOST_PASSAGE_TOKENS), self.last]
        read = len(ids)
        places, segments = list(range(read)), [PASSAGE] * read
        for number, perspective in enumerate(perspectives, 1):
            tokens = [*self._ids(perspective, MOST_PERSPECTIVE_TOKENS), self.last]
            ids += tokens
            places += range(read, read + len(tokens))
            segments += [number] * len(tokens)
        return ids, places, segments

    def is_cut(self, passage: str, perspectives: Sequence[str]) -> bool:
        """Return whether `row` cuts one of the texts; this does not count in `cut`."""
        texts = [(passage, MOST_PASSAGE_TOKENS), *((one, MOST_PERSPECTIVE_TOKENS) for one in perspectives)]
        return any(len(self._all_ids(text)) > most for text, most in texts)

    def _all_ids(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def _ids(self, text: str, most: int) -> list[int]:
        ids = self._all_ids(text)
        self.cut += len(ids) > most
        return ids[:most]


def padded_length(length: int) -> int:
    """Return the length in tokens to which a text is padded: the next multiple of 8, which is quicker on GPUs."""
    return -(-length // 8) * 8


def packed(rows: Sequence[Row]) -> Packed:
    """Pad rows to the `padded_length` of the longest of them."""
    shape = (len(rows), padded_length(max(len(ids) for ids, _, _ in rows)))
    out = Packed(torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long), torch.full(shape, PADDING))
    for number, row in enumerate(rows):
        for tensor, values in zip(out, row, strict=True):
            tensor[number, : len(values)] = torch.tensor(values)
    return out
