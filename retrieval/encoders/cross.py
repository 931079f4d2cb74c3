"""Cross-encoders: any of sentence-transformers, and TART-full (Asai et al. 2023)."""

from collections.abc import Sequence
from threading import Lock
from typing import Any, ClassVar

import numpy as np
from sentence_transformers import CrossEncoder
from tokenizers.processors import TemplateProcessing
from torch import Tensor, nn
from transformers.modeling_outputs import SequenceClassifierOutput
from transformers.models.t5.modeling_t5 import T5EncoderModel

from berdseye.data.errors import BadInputError
from berdseye.data.records import Passage, Scores
from berdseye.retrieval.encoders.known_models import KnownModel
from berdseye.retrieval.encoders.model_folders import ModelFolder
from berdseye.retrieval.encoders.running import alone, batch_size, placed
from berdseye.retrieval.encoders.segments import open_saved
from berdseye.retrieval.encoders.texts import encodable, titled
from berdseye.retrieval.encoders.towers import Tower, limited, open_tower
from berdseye.retrieval.encoders.transformer import wiring_version
from berdseye.retrieval.encoders.vectors import checked


class PairEncoder:
    """One score for a query and a passage that are read together."""

    def __init__(self, name: str, known: KnownModel | None, folder: ModelFolder) -> None:
        self.name = name
        self._lock = Lock()
        self.tart = bool(known and known.pooling == "tart")
        self.prefix = known.query_prefix if known else ""
        self.model = _open(folder, known)
        self.length = limited(self.model, known)
        self.version = wiring_version(known, folder)
        if self.model.num_labels != (2 if self.tart else 1):
            raise BadInputError(
                f"The model gives {self.model.num_labels} scores for a pair, so there is nothing to rank by.",
                where=folder.path,
                hint="Use one that was trained to rank.",
            )

    def score(self, query: str, passages: Sequence[Passage]) -> Scores:
        """float32[n_passages] as sentence-transformers' `predict` gives them; TART's are P(relevant).

        Raises `BadInputError` for a score that is not finite.
        """
        if not passages:
            return np.empty(0, dtype=np.float32)
        (asked,) = encodable([query], self.length)
        texts = encodable((titled(p) for p in passages), self.length)
        with alone(self._lock):
            found = self.model.predict(
                [(self.prefix + asked, text) for text in texts],
                batch_size=batch_size(self.model),
                apply_softmax=self.tart,
                show_progress_bar=False,
            )
        scores = np.asarray(found, dtype=np.float32)
        return checked(scores[:, 1] if self.tart else scores, texts, self.name)


class TartClassifier(T5EncoderModel):  # type: ignore[no-untyped-call]
    """T5's encoder with a linear layer on its first token, in the layout of the published checkpoints."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.classifier = nn.Linear(config.d_model, config.num_labels)
        self.post_init()  # type: ignore[no-untyped-call]

    def forward(self, input_ids: Tensor, attention_mask: Tensor, **unused: Any) -> SequenceClassifierOutput:
        """Logits [n_pairs, 2] of irrelevant and relevant."""
        del unused
        states = super().forward(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return SequenceClassifierOutput(logits=self.classifier(states[:, 0]))


class TartTower(Tower):
    """Reads `<s> query </s> passage </s>`, where T5's own tokenizer has no `<s>`."""

    own_class = TartClassifier
    # The files name a tokenizer class that only the authors' code has.
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
    return placed(model)
