"""The baselines: chance at a known base rate, and similarity of meaning, which captures the topic but not the stance."""

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from berdseye.data.grammar import Call
from berdseye.data.models.static_embedding import static_embedding
from berdseye.data.records import Pair, Passage
from berdseye.data.texts.passages import clean
from berdseye.detectors.embedded import THRESHOLD_SOURCE, Logistic, measured_on_debates, shipped_weights
from berdseye.detectors.protocol import UNTUNED, Detector, Floats
from berdseye.retrieval.encoders.encoder_registry import open_encoder
from berdseye.retrieval.encoders.protocol import Encoder, Vectors

BASE_RATE = 0.168
"""The expected share of supporting pairs among retrieved passages."""

_LEVELS = 1 << 24
"""The number of probabilities below 1 that a float32 distinguishes."""
STATIC = "static"
_PAIRS_AT_ONCE = 65_536


class RandomDetector:
    """Draws a uniform probability from the pair's key; about `rate` of all pairs reach the threshold."""

    measured = "chance"
    pairs_at_once = 65_536

    def __init__(self, rate: float = BASE_RATE, seed: int = 0) -> None:
        other = ({"rate": rate} if rate != BASE_RATE else {}) | ({"seed": seed} if seed else {})
        self.name = str(Call("random", (), other))
        self.seed = seed
        self.threshold_source = f"labels {rate:.1%} of pairs as supporting"
        self.threshold = 1.0 - rate
        self.version = f"1-{rate:g}-{seed}"

    def predict(self, pairs: Sequence[Pair]) -> npt.NDArray[np.float32]:
        """Return P(supports), float32[n_pairs]; it depends only on the pair and the seed, not on the other pairs."""
        drawn = [self._draw(pair.key) for pair in pairs]
        return (np.array(drawn, dtype=np.float64) / _LEVELS).astype(np.float32)

    def _draw(self, key: str) -> int:
        digest = hashlib.blake2b(f"{self.seed}:{key}".encode(), digest_size=3).digest()
        return int.from_bytes(digest, "big")


def similarity_detector(model: str = STATIC) -> Detector:
    """Open `similarity(MODEL)` with any encoder of retrieval; that of the static embeddings is calibrated."""
    return StaticSimilarity() if model == STATIC else EncoderSimilarity(open_encoder(model))


class StaticSimilarity:
    """P rises with the cosine of passage and perspective; cosines below 0 count as 0."""

    name = f"similarity({STATIC})"
    pairs_at_once = _PAIRS_AT_ONCE
    quick = True

    def __init__(self, model: Logistic | None = None) -> None:
        self.model = shipped_weights().similarity if model is None else model
        self.threshold = self.model.threshold
        self.threshold_source = THRESHOLD_SOURCE
        self.measured = measured_on_debates(shipped_weights(), self.name)
        self.version = self.model.version

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """Return P(supports), float32[n_pairs], a logistic function of the clipped cosine."""
        return self.model.probabilities(clipped_cosines(pairs)[:, None])


class EncoderSimilarity:
    """The cosine itself, or 0 if it is negative; it is not a calibrated probability, so tune a threshold for it."""

    threshold = 0.5
    threshold_source = UNTUNED
    measured = ""
    pairs_at_once = 4_096

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.name = str(Call("similarity", (encoder.name,)))
        self.version = f"1-{encoder.version}"

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """Return max(0, cosine) of the perspective, encoded as a query, and the passage with its title, float32[n_pairs]."""
        passages = list(dict.fromkeys((p.title, p.passage) for p in pairs))
        statements = list(dict.fromkeys(p.perspective for p in pairs))
        passage_vectors = self.encoder.encode_passages(
            [Passage(i, "", t, text) for i, (t, text) in enumerate(passages)]
        )
        statement_vectors = self.encoder.encode_queries(statements)
        of_passage = {passage: i for i, passage in enumerate(passages)}
        of_statement = {statement: i for i, statement in enumerate(statements)}
        return _cosines(
            _unit(passage_vectors),
            _unit(statement_vectors),
            [of_passage[p.title, p.passage] for p in pairs],
            [of_statement[p.perspective] for p in pairs],
        )


def clipped_cosines(pairs: Sequence[Pair]) -> Floats:
    """Return max(0, cosine) of the static vectors of each pair, float32[n_pairs]; 0 if a text is empty."""
    texts = {text: i for i, text in enumerate(dict.fromkeys(t for p in pairs for t in (p.passage, p.perspective)))}
    vectors = static_embedding().encode([clean(t) for t in texts])
    return _cosines(vectors, vectors, [texts[p.passage] for p in pairs], [texts[p.perspective] for p in pairs])


def _cosines(left: Vectors, right: Vectors, rows: Sequence[int], columns: Sequence[int]) -> Floats:
    """Return the inner products of the chosen rows of unit vectors, float32[n], clipped to 0 to 1."""
    a, b = np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64)
    out = np.zeros(len(a), dtype=np.float32)
    for start in range(0, len(a), _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        out[part] = np.einsum("ij,ij->i", left[a[part]], right[b[part]])
    return np.clip(out, 0.0, 1.0)


def _unit(vectors: Vectors) -> Vectors:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12), dtype=np.float32)
