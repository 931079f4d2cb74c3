"""Late interaction encoders: ColBERT (Khattab and Zaharia 2020), ColBERTv2 (Santhanam et al. 2022) and models like them.

sentence-transformers reads the three layouts in which they are published: its own, PyLate's, and that of Stanford's library.
Prefixes, lengths, the masks that fill queries up, and the tokens that passages skip are those of the model's files.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from sentence_transformers import MultiVectorEncoder
from sentence_transformers.base.modules import Dense, Transformer

from berdseye.data.errors import BadInputError
from berdseye.data.records import Passage
from berdseye.retrieval.encoders.checks import checked_rows, encodable, titled
from berdseye.retrieval.encoders.model_folders import ModelFolder
from berdseye.retrieval.encoders.protocol import Vectors
from berdseye.retrieval.encoders.running import batch_size, move_to_device, one_at_a_time
from berdseye.retrieval.encoders.towers import Tower, limit_length, refuse_missing, text_for_empty
from berdseye.retrieval.encoders.transformer import wiring_version

_KINDS = ("MultiVectorEncoder", "ColBERT")
"""The kinds of models that sentence-transformers and PyLate record."""
_PYLATE = ("query_prefix", "document_prefix")
"""Settings of models that PyLate saved before it recorded a kind."""
_STANFORD = "HF_ColBERT"


class LateInteractionEncoder:
    """A model that returns a vector for each token of a text; a query and a passage are compared by MaxSim.

    For a model whose own similarity is the mean of the largest similarities (MeanMaxSim) instead of their sum, the vectors of a
    query are divided by their number, so that the sum is that mean.
    """

    def __init__(self, name: str, folder: ModelFolder) -> None:
        self.name = name
        self._lock = Lock()
        self.model: Any = _open(folder)
        length = limit_length(self.model, None)
        transformer = self.model[0] if isinstance(self.model[0], Transformer) else None
        self.length = int((transformer and transformer.document_length) or length)
        self.query_length = int((transformer and transformer.query_length) or length)
        self.blank = text_for_empty(self.model)
        self.version = wiring_version(None, folder)
        self.dimension = int(self._encode([""], query=True)[0].shape[1])

    def encode_queries(self, texts: Sequence[str]) -> list[Vectors]:
        """Token vectors of each query, float32[n_tokens, dimension]; raises `BadInputError` if one is not finite."""
        vectors = self._checked(texts, query=True)
        if self.model.similarity_fn_name == "meanmaxsim":
            return [tokens / np.float32(max(len(tokens), 1)) for tokens in vectors]
        return vectors

    def encode_passages(self, passages: Sequence[Passage]) -> list[Vectors]:
        """Token vectors of titles and texts, float32[n_tokens, dimension] each; raises `BadInputError` if one is not finite."""
        return self._checked([titled(p) for p in passages], query=False)

    def _checked(self, texts: Sequence[str], *, query: bool) -> list[Vectors]:
        vectors = self._encode(texts, query=query) if texts else []
        bad = [n for n, tokens in enumerate(vectors) if not np.isfinite(tokens).all()]
        checked_rows(np.array(bad, dtype=np.int64), texts, self.name)
        return vectors

    def _encode(self, texts: Sequence[str], *, query: bool) -> list[Vectors]:
        encode = self.model.encode_query if query else self.model.encode_document
        prepared = [
            text if text.strip() else self.blank
            for text in encodable(texts, self.query_length if query else self.length)
        ]
        with one_at_a_time(self._lock):
            found = encode(prepared, batch_size=batch_size(self.model), show_progress_bar=False, convert_to_numpy=True)
        return [np.asarray(tokens, dtype=np.float32) for tokens in found]


class _Checked(MultiVectorEncoder):
    """The library's class, with transformers that report the weights that a checkpoint lacks."""

    def _load_module_class_from_ref(self, class_ref: str, *args: Any, **kwargs: Any) -> Any:
        found = super()._load_module_class_from_ref(class_ref, *args, **kwargs)
        return Tower if found is Transformer else found


def _open(folder: ModelFolder) -> MultiVectorEncoder:
    """Open a model; the library would give any other one a random projection, so that only trained ones are accepted."""
    _expect_late_interaction(folder)
    model = _Checked(str(folder.path), device="cpu", trust_remote_code=folder.remote_code, local_files_only=True)
    for module in model:
        if isinstance(module, Tower):
            refuse_missing(module.missing, folder.path)
        elif isinstance(module, Transformer):
            refuse_missing(_missing(module, folder.path), folder.path)
    return move_to_device(model)


def _expect_late_interaction(folder: ModelFolder) -> None:
    if folder.has_modules:
        settings = _read(folder.path / "config_sentence_transformers.json")
        kind = settings.get("model_type") or "SentenceTransformer"
        projected = "Dense" in (folder.path / "modules.json").read_text(encoding="utf-8")
        if kind in _KINDS or (projected and any(key in settings for key in _PYLATE)):
            return
    else:
        kind = " ".join(_read(folder.path / "config.json").get("architectures") or ["plain transformer"])
        if _STANFORD in kind:
            return
    raise BadInputError(
        f"The model is a {kind}, not a late interaction model.",
        where=folder.path,
        hint="Use one trained to give a vector for each token, such as colbert-ir/colbertv2.0.",
    )


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def _missing(transformer: Transformer, folder: Path) -> list[str]:
    """The weights of a transformer that a checkpoint of Stanford's library lacks, under whatever prefix it stores them."""
    parts = [key.split(".") for key in Dense.load_torch_weights(str(folder))]
    stored = {".".join(key[start:]) for key in parts for start in range(len(key))}
    return sorted(name for name, _ in transformer.model.named_parameters() if name not in stored)
