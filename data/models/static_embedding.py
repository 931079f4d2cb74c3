"""Static token embeddings from the `wordllama` package, which give an encoder without a download.

The weights are WordLlama's l2_supercat table (32,000 tokens x 256, fp16, MIT licence). The vector of a text is the mean of
its token vectors, L2-normalised. Only the files of the package are used, since its own loader may access the network.
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from berdseye.data.errors import UnavailableError
from berdseye.data.models.word_tokens import WordTokens

DIMENSION = 256
WEIGHTS_SHA256 = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
_BATCH = 8192


class StaticEmbedding:
    """An encoder that represents a text by the mean of static token vectors."""

    def __init__(self, table: npt.NDArray[np.float32], tokenizer: Tokenizer) -> None:
        self.table = table
        self.tokenizer = tokenizer
        self._words = WordTokens(tokenizer)
        self.dimension = int(table.shape[1])
        self.version = WEIGHTS_SHA256[:12]

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, without special tokens."""
        return [e.ids for e in self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Unit vectors, float32[n_texts, dimension]; a text without tokens gets the zero vector."""
        sums = self.sums(texts)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        unit: npt.NDArray[np.float32] = sums / np.maximum(norms, 1e-12)
        return unit

    def sums(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Sums of token vectors, float32[n_texts, dimension]."""
        from scipy.sparse import csr_array  # takes long to load

        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            flat, ends = self._words.encode(texts[start : start + _BATCH])
            # Multiplying by the matrix of token counts sums the rows without copying them.
            counts = csr_array((np.ones(len(flat), np.float32), flat, ends), shape=(len(ends) - 1, len(self.table)))
            out[start : start + _BATCH] = counts @ self.table
        return out


@lru_cache(maxsize=1)
def static_embedding() -> StaticEmbedding:
    """The embedding, loaded once per process; raises `UnavailableError` if its files are missing or modified."""
    # Only the package's folder is located: importing it would configure logging for the whole process.
    spec = find_spec("wordllama")
    folder = Path(spec.submodule_search_locations[0] if spec and spec.submodule_search_locations else "wordllama")
    weights = folder / "weights" / "l2_supercat_256.safetensors"
    tokenizer = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    for path in (weights, tokenizer):
        if not path.exists():
            raise UnavailableError(
                "The static embedding is missing.", where=path, hint="Reinstall wordllama (`make install`)."
            )
    if hashlib.sha256(weights.read_bytes()).hexdigest() != WEIGHTS_SHA256:
        raise UnavailableError(
            "The static embedding weights differ from those that this version requires.",
            where=weights,
            hint="Reinstall wordllama at the pinned version (`make install`).",
        )
    table = load_file(weights)["embedding.weight"].astype(np.float32)
    encoder = Tokenizer.from_file(str(tokenizer))
    encoder.no_truncation()
    encoder.no_padding()
    return StaticEmbedding(table, encoder)
