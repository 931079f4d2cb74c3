"""Fine-tune a cross-encoder, starting from a model that ranks or classifies pairs or from one that embeds texts."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import CrossEncoder
from torch import Tensor, nn

from berdseye.data.errors import BadInputError
from berdseye.data.models.weights import loading
from berdseye.data.records import Pair
from berdseye.data.texts.passages import clean
from berdseye.detectors.local.windows import passage_text, title_place
from berdseye.detectors.training.settings import Settings
from berdseye.retrieval.encoders.cross import open_saved, segment_encoder
from berdseye.retrieval.encoders.known_models import CROSS, DENSE
from berdseye.retrieval.encoders.model_folders import ModelFolder, find_folder
from berdseye.retrieval.encoders.running import without_output
from berdseye.retrieval.encoders.towers import limit_length


class CrossEncoderLearner:
    """A cross-encoder in training, which reads the passage first and the perspective second.

    During training, the supporting pairs have the same total weight as all others; `save` removes this from the last layer's
    bias, so that probabilities fit the share of supporting pairs (King and Zeng 2001).
    """

    by_passage, best_on_dev = False, True

    def __init__(self, base: str, settings: Settings, positives: float) -> None:
        folder = find_folder(base, "cross-encoder", [row.name for row in (*CROSS, *DENSE)])
        with loading(base), without_output():
            self.model = _opened(folder, settings.max_length)
        self.max_length = min(limit_length(self.model, None), settings.max_length)
        self.model.max_seq_length = self.max_length
        self.title = title_place(settings.title)
        self.positive_weight = (1 - positives) / positives

    def batch(self, pairs: Sequence[Pair]) -> dict[str, Any]:
        """Return the token ids of both texts, truncated if they are too long together."""
        features: dict[str, Any] = self.model.preprocess(
            [(passage_text(p, self.title), clean(p.perspective)) for p in pairs]
        )
        return features

    def truncated(self, pairs: Sequence[Pair]) -> int:
        """Return how many pairs are too long together."""
        texts = [(passage_text(p, self.title), clean(p.perspective)) for p in pairs]
        rows = self.model.tokenizer([p for p, _ in texts], [q for _, q in texts], truncation=False, verbose=False)
        return sum(len(ids) > self.max_length for ids in rows["input_ids"])

    def logits(self, batch: dict[str, Any]) -> Tensor:
        """Return one logit per pair, float[n_pairs]."""
        scores: Tensor = self.model(batch)["scores"]
        return scores.reshape(-1)

    def save(self, folder: Path) -> None:
        """Save the model in the format of sentence-transformers, without the offset of the weights."""
        layer, offset = last_layer(self.model), float(np.log(self.positive_weight))
        with torch.no_grad():
            layer.bias.sub_(offset)
        try:
            self.model.save_pretrained(str(folder), create_model_card=False)
        finally:
            with torch.no_grad():
                layer.bias.add_(offset)


def last_layer(model: CrossEncoder) -> nn.Linear:
    """Return the layer whose only output is the logit; raises `BadInputError` if the model has none."""
    layers = [m for m in model.modules() if isinstance(m, nn.Linear) and m.out_features == 1 and m.bias is not None]
    if not layers:
        raise BadInputError("The model has no single output to train.", hint="Use an embedding model or a reranker.")
    return layers[-1]


def _opened(folder: ModelFolder, max_length: int) -> CrossEncoder:
    opened: CrossEncoder
    if folder.has_modules and _saved_as(folder) == "CrossEncoder":
        opened = open_saved(folder.path)
    elif not folder.has_modules and _classifies(folder.path):
        opened = CrossEncoder(
            str(folder.path),
            num_labels=1,
            model_kwargs={"ignore_mismatched_sizes": True},  # a head of several labels is replaced by a new one
            device="cpu",
            local_files_only=True,
        )
    else:
        opened = segment_encoder(folder.path, max_length)
    return opened


def _saved_as(folder: ModelFolder) -> str:
    path = folder.path / "config_sentence_transformers.json"
    config = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return str(config.get("model_type") or "SentenceTransformer")


def _classifies(folder: Path) -> bool:
    path = folder / "config.json"
    names = json.loads(path.read_text(encoding="utf-8")).get("architectures") if path.is_file() else None
    return any(str(name).endswith("ForSequenceClassification") for name in names or ())
