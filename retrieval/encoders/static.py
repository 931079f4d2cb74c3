"""The static embedding that comes with Berdseye, as an encoder."""

from collections.abc import Sequence

from berdseye.data.models.static_embedding import StaticEmbedding
from berdseye.data.records import Passage
from berdseye.retrieval.encoders.checks import encodable, titled
from berdseye.retrieval.encoders.protocol import Similarity, Vectors

_MOST_WORDS = 10_000


class StaticEncoder:
    """The encoder `static`: the mean of a text's static token vectors, scaled to length 1."""

    name = "static"
    similarity: Similarity = "cosine"

    def __init__(self, embedding: StaticEmbedding) -> None:
        self.embedding = embedding
        self.version = embedding.version
        self.dimension = embedding.dimension

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32[n_texts, 256]; a text without tokens gets the zero vector."""
        return self.embedding.encode(encodable(texts, _MOST_WORDS))

    def encode_passages(self, passages: Sequence[Passage]) -> Vectors:
        """Unit vectors of titles and texts, float32[n_passages, 256]."""
        return self.encode_queries([titled(p) for p in passages])
