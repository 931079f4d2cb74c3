"""Features of a passage and a perspective: similarity, shared tokens, and cues of stance.

Similarity comes from static token embeddings (of whole texts, of sentences, and the best match of each token). Stance is
captured only by cues: negation, valence (good or bad) and change (keep or end), each also as a product of passage and
perspective, which distinguishes agreement from disagreement.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from berdseye.data.models.static_embedding import StaticEmbedding, static_embedding
from berdseye.data.records import Pair
from berdseye.data.texts.passages import clean

FEATURES_VERSION = "2"
"""Increment with every change below that changes a value."""

FEATURE_NAMES = (
    "cosine",
    "sentence_max",
    "sentence_top3",
    "token_match",
    "token_match_plain",
    "token_match_least",
    "token_match_heaviest",
    "token_match_back",
    "overlap",
    "overlap_weighted",
    "negation_passage",
    "negation_near",
    "negation_perspective",
    "contrast_near",
    "obligation_perspective",
    "valence_passage",
    "valence_perspective",
    "change_passage",
    "change_perspective",
    "length_passage",
    "length_perspective",
    "negation_near*negation_perspective",
    "negation_passage*negation_perspective",
    "negation_perspective*cosine",
    "negation_perspective*valence_passage",
    "valence_passage*valence_perspective",
    "negation_perspective*valence_passage*valence_perspective",
    "change_passage*change_perspective",
    "cosine*cosine",
    "cosine*sentence_max",
    "cosine*token_match",
    "token_match*token_match",
    "length_perspective*cosine",
    "length_perspective*token_match",
    "length_passage*cosine",
)

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

_READ_CHARACTERS = 8_000
"""Far beyond a passage of 100 words; the rest is not read."""
_SENTENCES = 64
_PASSAGE_TOKENS = 256
_PERSPECTIVE_TOKENS = 64
_PASSAGES_AT_ONCE = 512
_PAIRS_AT_ONCE = 256
_SHARPNESS = 10.0
_SAME_TOKEN = 0.999
_MOST_CUES = 2.0
_SENTENCE_END = re.compile(r"(?<=[.!?;:])[\"')\]]*\s+")

# "don't" ends in the piece "t", which is a token by itself nowhere else.
_NEGATION = (
    "▁not ▁no ▁never ▁cannot ▁without ▁nor ▁neither ▁none ▁nothing ▁hardly ▁lack ▁unless ▁against ▁fail ▁failed t"
)
_CONTRAST = "▁but ▁however ▁although ▁though ▁despite ▁yet ▁while ▁instead ▁rather"
_OBLIGATION = "▁should ▁must ▁ought ▁need ▁needs"
_GOOD = (
    "good benefit beneficial improve helps protects safe fair effective success useful valuable necessary"
    " healthy right freedom support encourages justified saves"
)
_BAD = (
    "bad harm harmful worsen hurts endangers dangerous unfair ineffective failure useless worthless"
    " unnecessary unhealthy wrong oppression oppose discourages unjustified wastes"
)
_KEEP = "allow permit keep continue legal legalise free adopt introduce accept maintain"
_END = "ban prohibit abolish stop end illegal restrict remove forbid reject scrap"


class _Cues(NamedTuple):
    """Token indicators, float32[n_tokens], and directions in the embedding, float32[dimension]."""

    negation: Floats
    contrast: Floats
    obligation: Floats
    valence: Floats
    change: Floats


class _TokenSets(NamedTuple):
    """The distinct tokens of each text, padded: `ids` int64[n_texts, width], `filled` bool[n_texts, width]."""

    ids: Ints
    filled: npt.NDArray[np.bool_]


class _Texts(NamedTuple):
    """Texts as sentences, at least one per text. Values are sums and counts, not means, so that they can be added."""

    first: Ints
    sentences: Ints
    sentence_vectors: Floats
    vectors: Floats
    lengths: Floats
    tokens: _TokenSets
    sentence_negation: Floats
    sentence_contrast: Floats
    negation: Floats
    obligation: Floats


def features(pairs: Sequence[Pair]) -> Floats:
    """Return the features of each pair, float32[n_pairs, len(FEATURE_NAMES)], finite for any text, also an empty one.

    Each distinct text is encoded once per call. Memory beyond the result is bounded by blocks of passages.
    """
    embedding = static_embedding()
    cues = _cues()
    out = np.zeros((len(pairs), len(FEATURE_NAMES)), dtype=np.float32)
    passages, passage_of = _distinct([p.passage for p in pairs])
    statements, statement_of = _distinct([p.perspective for p in pairs])
    if not pairs:
        return out
    perspectives = _encode(statements, embedding, cues, _PERSPECTIVE_TOKENS, split=False)
    order = np.argsort(passage_of, kind="stable")
    edges = np.searchsorted(passage_of[order], np.arange(0, len(passages) + _PASSAGES_AT_ONCE, _PASSAGES_AT_ONCE))
    for block, (low, high) in enumerate(pairwise(edges)):
        start = block * _PASSAGES_AT_ONCE
        chunk = passages[start : start + _PASSAGES_AT_ONCE]
        encoded = _encode(chunk, embedding, cues, _PASSAGE_TOKENS, split=True)
        for rows in _slices(order[low:high], _PAIRS_AT_ONCE):
            columns = _columns(encoded, passage_of[rows] - start, perspectives, statement_of[rows], cues)
            for j, name in enumerate(FEATURE_NAMES):
                out[rows, j] = np.prod([columns[part] for part in name.split("*")], axis=0)
    return out


def sentences(text: str) -> list[str]:
    """Return the first 64 sentences of a text, cut after punctuation; an empty text is one empty sentence."""
    return _SENTENCE_END.split(text)[:_SENTENCES]


def _columns(passages: _Texts, p: Ints, perspectives: _Texts, q: Ints, cues: _Cues) -> dict[str, Floats]:
    """Return the single features of the pairs (p[i], q[i]), each float32[n_pairs]."""
    near = _sentence_cosines(passages, p, perspectives.vectors[q])
    top = -np.sort(-near, axis=1)[:, :3]
    is_sentence = np.isfinite(top)
    closeness = np.exp(_SHARPNESS * (near - near.max(axis=1, keepdims=True)))
    closeness /= closeness.sum(axis=1, keepdims=True)
    sentence = np.minimum(passages.first[p][:, None] + np.arange(near.shape[1]), len(passages.sentence_vectors) - 1)
    return {
        "cosine": np.einsum("ij,ij->i", passages.vectors[p], perspectives.vectors[q]),
        "sentence_max": top[:, 0],
        "sentence_top3": np.where(is_sentence, top, 0).sum(axis=1) / is_sentence.sum(axis=1),
        **_token_matches(passages.tokens, p, perspectives.tokens, q),
        "negation_passage": np.log1p(passages.negation[p]),
        "negation_near": (closeness * passages.sentence_negation[sentence]).sum(axis=1),
        "negation_perspective": np.minimum(perspectives.negation[q], _MOST_CUES),
        "contrast_near": (closeness * passages.sentence_contrast[sentence]).sum(axis=1),
        "obligation_perspective": np.minimum(perspectives.obligation[q], _MOST_CUES),
        "valence_passage": (passages.vectors @ cues.valence)[p],
        "valence_perspective": (perspectives.vectors @ cues.valence)[q],
        "change_passage": (passages.vectors @ cues.change)[p],
        "change_perspective": (perspectives.vectors @ cues.change)[q],
        "length_passage": np.log1p(passages.lengths[p]),
        "length_perspective": np.log1p(perspectives.lengths[q]),
    }


def _sentence_cosines(passages: _Texts, p: Ints, vectors: Floats) -> Floats:
    """Return the cosine of each sentence of passage p[i] with `vectors[i]`, float32[n_pairs, sentences], padded with -inf."""
    counts = passages.sentences[p]
    rows = np.repeat(np.arange(len(p)), counts)
    places = _positions(counts)
    out = np.full((len(p), int(counts.max())), -np.inf, dtype=np.float32)
    sentence_vectors = passages.sentence_vectors[np.repeat(passages.first[p], counts) + places]
    out[rows, places] = np.einsum("ij,ij->i", sentence_vectors, vectors[rows])
    return out


def _token_matches(passages: _TokenSets, p: Ints, perspectives: _TokenSets, q: Ints) -> dict[str, Floats]:
    """Return how well each token of a perspective matches its most similar passage token, and the reverse.

    The weight of a token is the length of its vector: the table was trained to give informative tokens long vectors.
    """
    unit, weight = _unit_table()
    passage_mask, perspective_mask = passages.filled[p], perspectives.filled[q]
    passage_mask = passage_mask[:, : max(1, int(passage_mask.sum(axis=1).max()))]
    perspective_mask = perspective_mask[:, : max(1, int(perspective_mask.sum(axis=1).max()))]
    passage_ids = passages.ids[p][:, : passage_mask.shape[1]]
    perspective_ids = perspectives.ids[q][:, : perspective_mask.shape[1]]
    # Not matmul: its threads wait for each other at every small product, which takes most of the time on a busy machine.
    similarity = np.einsum("ijk,ilk->ijl", unit[perspective_ids], unit[passage_ids])
    similarity *= passage_mask[:, None, :] & perspective_mask[:, :, None]
    best = np.maximum(similarity.max(axis=2), 0)
    back = np.maximum(similarity.max(axis=1), 0)
    same = best > _SAME_TOKEN
    weights, back_weights = weight[perspective_ids] * perspective_mask, weight[passage_ids] * passage_mask
    total = np.maximum(weights.sum(axis=1), 1e-9)
    number = np.maximum(perspective_mask.sum(axis=1), 1).astype(np.float32)
    least = np.where(perspective_mask, best, np.inf).min(axis=1)
    return {
        "token_match": (best * weights).sum(axis=1) / total,
        "token_match_plain": best.sum(axis=1) / number,
        "token_match_least": np.where(np.isfinite(least), least, 0),
        "token_match_heaviest": best[np.arange(len(p)), weights.argmax(axis=1)],
        "token_match_back": (back * back_weights).sum(axis=1) / np.maximum(back_weights.sum(axis=1), 1e-9),
        "overlap": same.sum(axis=1) / number,
        "overlap_weighted": (same * weights).sum(axis=1) / total,
    }


def _encode(texts: Sequence[str], embedding: StaticEmbedding, cues: _Cues, width: int, *, split: bool) -> _Texts:
    plain = [clean(t[:_READ_CHARACTERS]).lower() for t in texts]
    parts = [sentences(t) if split else [t] for t in plain]
    counts = np.array([len(p) for p in parts], dtype=np.int64)
    ids = embedding.token_ids([s for p in parts for s in p])
    lengths = np.array([len(i) for i in ids], dtype=np.int64)
    flat = np.concatenate([np.asarray(i, dtype=np.int64) for i in ids])
    sums = _row_sums(embedding.table, flat, lengths)
    negation = _segment_sums(cues.negation[flat], lengths)
    return _Texts(
        first=np.cumsum(counts) - counts,
        sentences=counts,
        sentence_vectors=_unit(sums),
        vectors=_unit(_row_sums(sums, np.arange(len(sums)), counts)),
        lengths=_segment_sums(lengths.astype(np.float32), counts),
        tokens=_token_sets(flat, np.repeat(np.repeat(np.arange(len(texts)), counts), lengths), len(texts), width),
        sentence_negation=np.minimum(negation, _MOST_CUES),
        sentence_contrast=np.minimum(_segment_sums(cues.contrast[flat], lengths), _MOST_CUES),
        negation=_segment_sums(negation, counts),
        obligation=_segment_sums(_segment_sums(cues.obligation[flat], lengths), counts),
    )


def _token_sets(flat: Ints, owner: Ints, texts: int, width: int) -> _TokenSets:
    """Return the distinct tokens of each text; of too many, those with the highest ids are kept, which are the rarest."""
    keys = np.unique(owner << 32 | flat)
    owners, tokens = keys >> 32, keys & 0xFFFFFFFF
    counts = np.bincount(owners, minlength=texts)
    place = _positions(counts) - np.maximum(counts - width, 0)[owners]
    is_kept = place >= 0
    most = max(1, int(np.minimum(counts, width).max(initial=0)))
    ids = np.zeros((texts, most), dtype=np.int64)
    filled = np.zeros((texts, most), dtype=np.bool_)
    ids[owners[is_kept], place[is_kept]] = tokens[is_kept]
    filled[owners[is_kept], place[is_kept]] = True
    return _TokenSets(ids, filled)


def _segment_sums(values: Floats, lengths: Ints) -> Floats:
    """Sum consecutive runs of `values`; an empty run gives zero."""
    return np.bincount(np.repeat(np.arange(len(lengths)), lengths), values, len(lengths)).astype(np.float32)


def _row_sums(table: Floats, rows: Ints, lengths: Ints) -> Floats:
    """Sum the table's rows over consecutive runs of `rows`, float32[n_runs, dimension]; an empty run gives zero."""
    from scipy.sparse import csr_array  # takes long to load

    # A product with a matrix of ones adds rows without copying them.
    ones = np.ones(len(rows), dtype=np.float32)
    ends = np.append(0, np.cumsum(lengths))
    return np.asarray(csr_array((ones, rows, ends), shape=(len(lengths), len(table))) @ table, dtype=np.float32)


def _positions(counts: Ints) -> Ints:
    """Return 0 .. counts[0]-1, 0 .. counts[1]-1, and so on, in one row."""
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


def _unit(vectors: Floats) -> Floats:
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, 1e-9), dtype=np.float32)


def _distinct(texts: Sequence[str]) -> tuple[list[str], Ints]:
    place: dict[str, int] = {}
    positions = np.array([place.setdefault(t, len(place)) for t in texts], dtype=np.int64)
    return list(place), positions


def _slices(rows: Ints, size: int) -> Iterator[Ints]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


@lru_cache(maxsize=1)
def _unit_table() -> tuple[Floats, Floats]:
    table = static_embedding().table
    return _unit(table), np.linalg.norm(table, axis=1).astype(np.float32)


@lru_cache(maxsize=1)
def _cues() -> _Cues:
    return _Cues(
        negation=_indicator(_NEGATION),
        contrast=_indicator(_CONTRAST),
        obligation=_indicator(_OBLIGATION),
        valence=_direction(_GOOD, _BAD),
        change=_direction(_KEEP, _END),
    )


def _indicator(pieces: str) -> Floats:
    embedding = static_embedding()
    out = np.zeros(len(embedding.table), dtype=np.float32)
    token_ids = [embedding.tokenizer.token_to_id(piece) for piece in pieces.split()]
    out[[i for i in token_ids if i is not None]] = 1
    return out


def _direction(toward: str, away: str) -> Floats:
    embedding = static_embedding()
    return _unit(embedding.encode(toward.split()).mean(axis=0) - embedding.encode(away.split()).mean(axis=0))
