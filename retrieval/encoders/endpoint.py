"""Encoders behind an OpenAI-compatible address: `api(MODEL)`."""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from berdseye.data.errors import BerdseyeError, UnavailableError
from berdseye.data.grammar import Call
from berdseye.data.language_models.server import open_server, server_place, translate_error
from berdseye.data.records import Passage
from berdseye.retrieval.encoders.checks import checked, encodable, titled, unit
from berdseye.retrieval.encoders.known_models import KnownModel
from berdseye.retrieval.encoders.protocol import Similarity, Vectors

if TYPE_CHECKING:
    import openai

_BATCH = 64
_MOST_WORDS = 5_000
_RETRIES = 5
_SECONDS = 120.0


class EndpointEncoder:
    """Vectors from a server by HTTP, with the prefixes and the similarity of a known model, otherwise with cosine.

    `tokens_used` counts the tokens that the server reports, over the lifetime of this object.
    """

    def __init__(self, model: str, known: KnownModel | None = None) -> None:
        self.model = model
        self.name = str(Call("api", (model,)))
        self.known = known
        self.similarity: Similarity = known.similarity if known else "cosine"
        self.tokens_used = 0

    @cached_property
    def dimension(self) -> int:
        """The dimension of the server's vectors, determined by one request."""
        return int(self._request(["dimension"]).shape[1])

    @property
    def version(self) -> str:
        """A hash of the model's name, the server and the dimension; a change of the server's weights is not detected."""
        known = self.known
        wiring = (known.query_prefix, known.passage_prefix, known.title_separator) if known else ()
        text = f"{self.model} {server_place()} {self.dimension} {self.similarity} {wiring}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Query vectors, float32[n_texts, dimension]; raises `UnavailableError` or `BadInputError` if the server fails."""
        return self._encode(texts, self.known.query_prefix if self.known else "")

    def encode_passages(self, passages: Sequence[Passage]) -> Vectors:
        """Vectors of titles and texts, float32[n_passages, dimension]; raises `UnavailableError` or `BadInputError`."""
        separator = self.known.title_separator if self.known else " "
        return self._encode([titled(p, separator) for p in passages], self.known.passage_prefix if self.known else "")

    def _encode(self, texts: Sequence[str], prefix: str) -> Vectors:
        # OpenAI's server rejects an empty input.
        prepared = [prefix + text if text.strip() else f"{prefix} " for text in encodable(texts, _MOST_WORDS)]
        out = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(prepared), _BATCH):
            vectors = self._request(prepared[start : start + _BATCH])
            if vectors.shape[1] != self.dimension:
                raise self._unusable(f"vectors of dimension {vectors.shape[1]} after vectors of {self.dimension}")
            out[start : start + _BATCH] = vectors
        checked(out, texts, self.name)
        return unit(out) if self.similarity == "cosine" else out

    def _request(self, texts: Sequence[str]) -> Vectors:
        import openai

        try:
            answer = self._client.embeddings.create(model=self.model, input=list(texts), encoding_format="float")
            rows = sorted(answer.data, key=lambda row: row.index)
            vectors = np.array([row.embedding for row in rows], dtype=np.float32)
        except openai.OpenAIError as error:
            raise translate_error(error, self.model, self._unusable("no embeddings")) from error
        except (
            AttributeError,
            TypeError,
            ValueError,
        ) as error:  # not JSON, missing fields, or lists of different lengths
            raise self._unusable("no embeddings") from error
        if [row.index for row in rows] != list(range(len(texts))) or vectors.ndim != 2:
            raise self._unusable(f"{len(rows)} vectors for {len(texts)} texts")
        self.tokens_used += answer.usage.total_tokens if answer.usage else 0
        return vectors

    @cached_property
    def _client(self) -> "openai.OpenAI":
        return open_server(retries=_RETRIES, timeout=_SECONDS)

    def _unusable(self, what: str) -> BerdseyeError:
        return UnavailableError(
            f"The server returned {what}.",
            where=server_place(),
            hint="OPENAI_BASE_URL must be the part of the address before /embeddings, and the model an embedding model.",
        )
