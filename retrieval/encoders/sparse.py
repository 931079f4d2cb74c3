"""Learned sparse encoders: SPLADE (Formal et al. 2021, 2022) and uniCOIL (Lin and Ma 2021).

A text is represented by weights of the vocabulary's terms; SPLADE also weights terms that do not occur in the text.
"""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

import numpy as np
import torch
from scipy.sparse import csr_array
from sentence_transformers import SparseEncoder
from sentence_transformers.sparse_encoder.modules import SpladePooling
from torch import Tensor, nn
from transformers.modeling_outputs import BaseModelOutput
from transformers.models.bert.modeling_bert import BertModel, BertPreTrainedModel

from berdseye.data.records import Passage
from berdseye.retrieval.encoders.checks import checked_rows, encodable, titled
from berdseye.retrieval.encoders.known_models import KnownModel
from berdseye.retrieval.encoders.model_folders import ModelFolder
from berdseye.retrieval.encoders.running import batch_size, move_to_device, one_at_a_time
from berdseye.retrieval.encoders.towers import Tower, limit_length, open_tower
from berdseye.retrieval.encoders.transformer import wiring_version


class LearnedSparseEncoder:
    """SPLADE, uniCOIL or any sparse encoder saved by sentence-transformers; a masked language model is used as SPLADE."""

    def __init__(self, name: str, known: KnownModel | None, folder: ModelFolder) -> None:
        self.name = name
        self._lock = Lock()
        self.query_model, self.passage_model = _open(folder, known)
        self.length = limit_length(self.passage_model, known)
        self.query_length = min(self.length, (known.query_length if known else None) or self.length)
        self.version = wiring_version(known, folder)
        self.terms = int(self._encode(self.query_model, [""], self.query_length, query=True).shape[1])

    def encode_queries(self, texts: Sequence[str]) -> "csr_array[np.float32]":
        """Term weights of queries, float32[n_texts, terms]; raises `BadInputError` for a weight that is not finite."""
        return self._checked(self.query_model, texts, self.query_length, query=True)

    def encode_passages(self, passages: Sequence[Passage]) -> "csr_array[np.float32]":
        """Term weights of titles and texts, float32[n_passages, terms]; raises `BadInputError` if one is not finite."""
        return self._checked(self.passage_model, [titled(p) for p in passages], self.length, query=False)

    def _checked(self, model: Any, texts: Sequence[str], most: int, *, query: bool) -> "csr_array[np.float32]":
        if not texts:
            return csr_array(np.empty((0, self.terms), dtype=np.float32))
        weights = self._encode(model, texts, most, query=query)
        rows = np.repeat(np.arange(len(texts)), np.diff(weights.indptr))
        checked_rows(np.unique(rows[~np.isfinite(weights.data)]), texts, self.name)
        return weights

    def _encode(self, model: Any, texts: Sequence[str], most: int, *, query: bool) -> "csr_array[np.float32]":
        encode = model.encode_query if query else model.encode_document
        with one_at_a_time(self._lock):
            encoded = encode(
                encodable(texts, most),
                batch_size=batch_size(model, wide=True),
                show_progress_bar=False,
                save_to_cpu=True,
                processing_kwargs={"text": {"max_length": most}},
            ).coalesce()
        values, places = encoded.values().float().numpy(), encoded.indices().numpy()
        return csr_array((values, (places[0], places[1])), shape=tuple(encoded.shape), dtype=np.float32)


class UniCoil(BertPreTrainedModel):  # type: ignore[no-untyped-call]
    """BERT with a linear layer that assigns a weight to each token, in the layout of the published checkpoints."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.bert = BertModel(config, add_pooling_layer=False)
        self.tok_proj = nn.Linear(config.hidden_size, 1)
        self.post_init()  # type: ignore[no-untyped-call]

    def forward(self, input_ids: Tensor, attention_mask: Tensor, **unused: Any) -> BaseModelOutput:
        """Weights of at least 0, [n_texts, n_tokens, 1], in the place of a model's token states."""
        del unused
        states = self.bert(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return BaseModelOutput(last_hidden_state=torch.relu(self.tok_proj(states)))


class UniCoilTower(Tower):
    """A tower for checkpoints whose keys begin with `coil_encoder`."""

    own_class = UniCoil
    key_mapping: ClassVar[dict[str, str]] = {r"^coil_encoder\.": ""}


class TermWeights(nn.Module):
    """Converts token weights to term weights: repeated terms are summed in queries; in passages, the largest weight counts.

    [CLS] has no weight, as in Pyserini, whose quantisation of the weights is omitted.
    """

    def __init__(self, terms: int, first_token: int, *, added: bool) -> None:
        super().__init__()
        self.terms, self.first_token, self.added = terms, first_token, added

    def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        ids, weights = features["input_ids"], features["token_embeddings"].squeeze(-1)
        weights = weights * features["attention_mask"] * (ids != self.first_token)
        empty = torch.zeros(len(ids), self.terms, dtype=weights.dtype, device=weights.device)
        features["sentence_embedding"] = empty.scatter_reduce(1, ids, weights, "sum" if self.added else "amax")
        return features


def _open(folder: ModelFolder, known: KnownModel | None) -> tuple[SparseEncoder, SparseEncoder]:
    if known and known.pooling == "unicoil":
        return _unicoil(folder.path)
    if folder.has_modules:
        folder.expect("SparseEncoder")
        model = SparseEncoder(
            str(folder.path), device="cpu", trust_remote_code=folder.remote_code, local_files_only=True
        )
    else:
        tower = open_tower(folder.path, "splade", remote_code=folder.remote_code)
        model = SparseEncoder(modules=[tower, SpladePooling("max")], device="cpu")
    move_to_device(model)
    return model, model


def _unicoil(folder: Path) -> tuple[SparseEncoder, SparseEncoder]:
    tower = open_tower(folder, "unicoil", kind=UniCoilTower)
    tokenizer: Any = tower.tokenizer
    terms, first = int(tower.config.vocab_size), int(tokenizer.cls_token_id)
    queries, passages = (
        move_to_device(SparseEncoder(modules=[tower, TermWeights(terms, first, added=added)], device="cpu"))
        for added in (True, False)
    )
    return queries, passages
