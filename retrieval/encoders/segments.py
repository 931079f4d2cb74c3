"""A cross-encoder's head for models that embed texts: it starts from the cosine of the two texts and learns what it misses."""

import json
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import CrossEncoder
from sentence_transformers.base.modules import Module, Transformer
from torch import Tensor, nn
from torch.nn.functional import normalize

_SLOPE, _MIDDLE = 8.0, 0.6
"""Of the logit over the cosine before any training: on debates it is about 0 for a pair as likely supporting as not."""


class SegmentHead(Module):
    """A logit from the mean token vectors u and v of both segments: slope * (cos - middle) + linear(u, v, |u - v|, u * v).

    The linear layer starts at zero, so that an embedding model begins with the order its cosine gives; a fresh head on the
    first token has to find even the topic anew.
    """

    config_keys = ["width", "separator"]  # noqa: RUF012 - as the library declares it

    def __init__(self, width: int, separator: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.width, self.separator = width, separator
        self.slope = nn.Parameter(torch.tensor(_SLOPE))
        self.out = nn.Linear(4 * width, 1)
        nn.init.zeros_(self.out.weight)
        nn.init.constant_(self.out.bias, -_SLOPE * _MIDDLE)

    def forward(self, features: dict[str, Tensor | Any], **unused: Any) -> dict[str, Tensor | Any]:
        """Adds `scores` [n_pairs, 1] to the `token_embeddings` [n_pairs, length, width] of a pair's tokens."""
        del unused
        tokens = features["token_embeddings"].float()
        real = features["attention_mask"].bool() & (features["input_ids"] != self.separator)
        # The first separator ends the first text; a model's own opening token counts as part of it.
        second = (features["input_ids"] == self.separator).cumsum(dim=1) > 0
        u, v = (normalize(_mean(tokens, real & part), dim=1) for part in (~second, second))
        cosine = (u * v).sum(dim=1, keepdim=True)
        both = torch.cat([u, v, (u - v).abs(), u * v], dim=1) * self.width**0.5
        features["scores"] = self.slope * cosine + self.out(both.to(self.out.weight.dtype))
        return features

    def save(self, output_path: str, *args: Any, safe_serialization: bool = True, **kwargs: Any) -> None:
        """Write the configuration and the weights."""
        del args, kwargs
        self.save_config(output_path)
        self.save_torch_weights(output_path, safe_serialization=safe_serialization)

    @classmethod
    def load(
        cls,
        model_name_or_path: str,
        subfolder: str = "",
        token: bool | str | None = None,
        cache_folder: str | None = None,
        revision: str | None = None,
        local_files_only: bool = False,
        init_defaults: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> "SegmentHead":
        """The head that `save` wrote into a folder."""
        del token, cache_folder, revision, local_files_only, init_defaults, kwargs
        head = cls(**cls.load_config(model_name_or_path, subfolder=subfolder))
        cls.load_torch_weights(model_name_or_path, subfolder=subfolder, model=head)
        return head


def segment_encoder(folder: Path, max_length: int) -> CrossEncoder:
    """An untrained cross-encoder over the embedding model of a folder."""
    tower = Transformer(str(folder), transformer_task="feature-extraction", max_seq_length=max_length)
    tower.model.config.num_labels = 1
    head = SegmentHead(tower.get_embedding_dimension(), tower.tokenizer.sep_token_id)
    encoder: CrossEncoder = CrossEncoder(modules=[tower, head], device="cpu")
    return encoder


def open_saved(folder: Path, *, remote_code: bool = False) -> CrossEncoder:
    """A cross-encoder that was saved in a folder; `remote_code` lets it run code of its own.

    One with our head is put together here, since the library takes every class that is not its own for foreign code.
    """
    opened: CrossEncoder
    parts = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    if [part["type"].rpartition(".")[2] for part in parts] != [Transformer.__name__, SegmentHead.__name__]:
        opened = CrossEncoder(str(folder), device="cpu", trust_remote_code=remote_code, local_files_only=True)
        return opened
    tower = Transformer.load(str(folder), subfolder=parts[0]["path"], local_files_only=True)
    head = SegmentHead.load(str(folder), subfolder=parts[1]["path"])
    opened = CrossEncoder(modules=[tower, head], device="cpu")
    return opened


def _mean(tokens: Tensor, mask: Tensor) -> Tensor:
    weights = mask.unsqueeze(2).float()
    return (tokens * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1.0)
