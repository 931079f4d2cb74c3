"""Cross-encoders: those of sentence-transformers, and TART-full (Asai et al. 2023).

`SegmentHead` turns an embedding model into a cross-encoder: it starts from the cosine of the two texts and is then trained.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from sentence_transformers import CrossEncoder
from sentence_transformers.base.modules import Module, Transformer
from tokenizers.processors import TemplateProcessing
from torch import Tensor, nn
from torch.nn.functional import normalize
from transformers.modeling_outputs import SequenceClassifierOutput
from transformers.models.t5.modeling_t5 import T5EncoderModel

from berdseye.data.errors import BadInputError
from berdseye.data.records import Passage, Scores
from berdseye.retrieval.encoders.checks import checked, encodable, titled
from berdseye.retrieval.encoders.known_models import KnownModel
from berdseye.retrieval.encoders.model_folders import ModelFolder
from berdseye.retrieval.encoders.running import batch_size, move_to_device, one_at_a_time
from berdseye.retrieval.encoders.towers import Tower, limit_length, open_tower
from berdseye.retrieval.encoders.transformer import wiring_version

_SLOPE, _MIDDLE = 8.0, 0.6
"""The initial logit is slope * (cosine - middle): on debates, it is about 0 for a pair with P(supports) = 0.5."""


class SegmentHead(Module):
    """A logit from the mean token vectors u and v of both segments: slope * (cos - middle) + linear(u, v, |u - v|, u * v).

    The linear layer starts at zero, so that an embedding model initially orders pairs by their cosine; a new head on the first
    token would have to learn even the topic.
    """

    config_keys = ["width", "separator"]  # noqa: RUF012 - declared like this in the library

    def __init__(self, width: int, separator: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.width, self.separator = width, separator
        self.slope = nn.Parameter(torch.tensor(_SLOPE))
        self.out = nn.Linear(4 * width, 1)
        nn.init.zeros_(self.out.weight)
        nn.init.constant_(self.out.bias, -_SLOPE * _MIDDLE)

    def forward(self, features: dict[str, Tensor | Any], **unused: Any) -> dict[str, Tensor | Any]:
        """Add `scores` [n_pairs, 1], computed from the `token_embeddings` [n_pairs, length, width]."""
        del unused
        tokens = features["token_embeddings"].float()
        real = features["attention_mask"].bool() & (features["input_ids"] != self.separator)
        # The first separator ends the first text; the model's first special token counts as part of that text.
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
        """Load the head that `save` wrote into a folder."""
        del token, cache_folder, revision, local_files_only, init_defaults, kwargs
        head = cls(**cls.load_config(model_name_or_path, subfolder=subfolder))
        cls.load_torch_weights(model_name_or_path, subfolder=subfolder, model=head)
        return head


def segment_encoder(folder: Path, max_length: int) -> CrossEncoder:
    """An untrained cross-encoder with the embedding model in a folder."""
    tower = Transformer(str(folder), transformer_task="feature-extraction", max_seq_length=max_length)
    tower.model.config.num_labels = 1
    head = SegmentHead(tower.get_embedding_dimension(), tower.tokenizer.sep_token_id)
    encoder: CrossEncoder = CrossEncoder(modules=[tower, head], device="cpu")
    return encoder


def open_saved(folder: Path, *, remote_code: bool = False) -> CrossEncoder:
    """Open a cross-encoder saved in a folder; `remote_code` allows it to run code from its repository.

    A cross-encoder with a `SegmentHead` is assembled here, since the library treats classes that are not its own as remote
    code.
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


class PairEncoder:
    """A cross-encoder, which returns one score for a query and a passage."""

    def __init__(self, name: str, known: KnownModel | None, folder: ModelFolder) -> None:
        self.name = name
        self._lock = Lock()
        self.tart = bool(known and known.pooling == "tart")
        self.prefix = known.query_prefix if known else ""
        self.model = _open(folder, known)
        self.length = limit_length(self.model, known)
        self.version = wiring_version(known, folder)
        if self.model.num_labels != (2 if self.tart else 1):
            raise BadInputError(
                f"The model returns {self.model.num_labels} scores for a pair, so it cannot rank passages.",
                where=folder.path,
                hint="Use a model trained for ranking.",
            )

    def score(self, query: str, passages: Sequence[Passage]) -> Scores:
        """Scores float32[n_passages] of sentence-transformers' `predict`; those of TART are P(relevant).

        Raises `BadInputError` for a score that is not finite.
        """
        if not passages:
            return np.empty(0, dtype=np.float32)
        prepared_query, texts = self._prepared(query, passages)
        with one_at_a_time(self._lock):
            predicted = self.model.predict(
                [(prepared_query, text) for text in texts],
                batch_size=batch_size(self.model),
                apply_softmax=self.tart,
                show_progress_bar=False,
            )
        scores = np.asarray(predicted, dtype=np.float32)
        return checked(scores[:, 1] if self.tart else scores, texts, self.name)

    def cut(self, query: str, passages: Sequence[Passage]) -> npt.NDArray[np.bool_]:
        """Whether each passage is too long for the model together with the query and is cut, bool[n_passages]."""
        if not passages:
            return np.empty(0, dtype=np.bool_)
        prepared_query, texts = self._prepared(query, passages)
        with one_at_a_time(self._lock):  # the call changes the truncation of the tokenizer
            rows = self.model.tokenizer([prepared_query] * len(texts), texts, truncation=False, verbose=False)
        return np.array([len(ids) > self.length for ids in rows["input_ids"]], dtype=np.bool_)

    def _prepared(self, query: str, passages: Sequence[Passage]) -> tuple[str, list[str]]:
        """Return the query and the passages as the model reads them."""
        (prepared_query,) = encodable([query], self.length)
        return self.prefix + prepared_query, encodable((titled(p) for p in passages), self.length)


class TartClassifier(T5EncoderModel):  # type: ignore[no-untyped-call]
    """T5's encoder with a linear layer on the first token, in the layout of the published checkpoints."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.classifier = nn.Linear(config.d_model, config.num_labels)
        self.post_init()  # type: ignore[no-untyped-call]

    def forward(self, input_ids: Tensor, attention_mask: Tensor, **unused: Any) -> SequenceClassifierOutput:
        """The logits [n_pairs, 2] of irrelevant and relevant."""
        del unused
        states = super().forward(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return SequenceClassifierOutput(logits=self.classifier(states[:, 0]))


class TartTower(Tower):
    """A tower that reads `<s> query </s> passage </s>`, although T5's tokenizer has no `<s>`."""

    own_class = TartClassifier
    # The files specify a tokenizer class that exists only in the authors' code.
    tokenizer_options: ClassVar[dict[str, str]] = {"tokenizer_type": "t5"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        tokenizer: Any = self.tokenizer
        tokenizer.add_special_tokens({"bos_token": "<s>"})
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
            single="<s> $A </s>",
            pair="<s> $A </s> $B </s>",
            special_tokens=[(token, tokenizer.convert_tokens_to_ids(token)) for token in ("<s>", "</s>")],
        )


def _open(folder: ModelFolder, known: KnownModel | None) -> CrossEncoder:
    model: CrossEncoder
    if folder.has_modules:
        folder.expect("CrossEncoder")
        model = open_saved(folder.path, remote_code=folder.remote_code)
    elif known and known.pooling == "tart":
        model = CrossEncoder(modules=[open_tower(folder.path, "tart", kind=TartTower)], device="cpu")
    else:
        tower = open_tower(folder.path, "classifier", remote_code=folder.remote_code)
        model = CrossEncoder(modules=[tower], device="cpu")
    return move_to_device(model)
