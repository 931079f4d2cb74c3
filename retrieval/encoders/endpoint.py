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
    """Vectors by HTTP. Prefixes and the similarity of a known model are used; others are compared by cosine.

    `tokens_used` counts what the server says it has read, over the life of this object.
    """

    def __init__(self, model: str, known: KnownModel | None = None) -> None:
        self.model = model
        self.name = str(Call("api", (model,)))
        self.known = known
        self.similarity: Similarity = known.similarity if known else "cosine"
        self.tokens_used = 0

    @cached_property
    def dimension(self) -> int:
        """How long the server's vectors are; asks for one where none was asked for yet."""
        return int(self._asked(["dimension"]).shape[1])

    @property
    def version(self) -> str:
        """The model's name, the server and the dimension, hashed; a server that changes its weights does not tell."""
        known = self.known
        wiring = (known.query_prefix, known.passage_prefix, known.title_separator) if known else ()
        text = f"{self.model} {server_place()} {self.dimension} {self.similarity} {wiring}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """float32[n_texts, dimension]; raises `UnavailableError` or `BadInputError` where the server does not give them."""
        return self._encode(texts, self.known.query_prefix if self.known else "")

    def encode_passages(self, passages: Sequence[Passage]) -> Vectors:
        """float32[n_passages, dimension] of titles and texts; raises as for queries."""
        separator = self.known.title_separator if self.known else " "
        return self._encode([titled(p, separator) for p in passages], self.known.passage_prefix if self.known else "")

    def _encode(self, texts: Sequence[str], prefix: str) -> Vectors:
        # An empty input is refused by OpenAI's server.
        prepared = [prefix + text if text.strip() else f"{prefix} " for text in encodable(texts, _MOST_WORDS)]
        out = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(prepared), _BATCH):
            found = self._asked(prepared[start : start + _BATCH])
            if found.shape[1] != self.dimension:
                raise self._unusable(f"vectors of {found.shape[1]} numbers after some of {self.dimension}")
            out[start : start + _BATCH] = found
        checked(out, texts, self.name)
        return unit(out) if self.similarity == "cosine" else out

    def _asked(self, texts: Sequence[str]) -> Vectors:
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
        ) as error:  # no JSON, fields left out, or lists of several lengths
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
            f"The server gives {what}.",
            where=server_place(),
            hint="OPENAI_BASE_URL must end where /embeddings begins, and the model must be one for embeddings.",
        )
