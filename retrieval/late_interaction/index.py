"""An index of token vectors: every passage is scored by MaxSim, or, of many, those whose tokens are nearest to the query's.

The vectors are stored in half precision and read from disk where they are needed. Above `EXACT_TOKENS` tokens, a FAISS index
of compressed tokens (an eighth of the size for vectors of 128 numbers) finds the candidates, as in Khattab and Zaharia 2020,
section 3.6; their scores are then exact. The candidates that are nearest to many tokens of the query are kept; a token that
did not find a passage counts as the farthest one that it found (Lee et al. 2023, XTR, section 3.2).
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError
from berdseye.data.files.atomic import write_json
from berdseye.data.records import Ids, Ranking, Scores
from berdseye.retrieval.dense.building import train_and_add
from berdseye.retrieval.dense.index import DenseIndex, load, save
from berdseye.retrieval.dense.layouts import METRICS, Layout
from berdseye.retrieval.encoders.protocol import Vectors
from berdseye.retrieval.indexes import index_files
from berdseye.retrieval.late_interaction.scoring import joined, maxsim
from berdseye.retrieval.ranking import top_k

FORMAT = 1
EXACT_TOKENS = 262_144
"""Up to this number of tokens, about 2,000 passages, every passage is scored."""
DEFAULT_CANDIDATES = 1000
DEFAULT_PROBES = 32
_TOKENS, _ENDS, _SHAPE = "tokens.f16", "passages.ends", "shape.json"
_LAYOUT = Layout("tokens", "IVF{lists},PQ{pieces}np")
_TOKENS_A_CANDIDATE = 4
"""The nearest tokens of each token of a query, for each candidate: many of them are tokens of the same passages."""
_BLOCK = 65_536
_SEED = 0


class TokenIndex:
    """Token vectors of passages: `tokens` float16[n_tokens, dimension], and `ends` int64[n_passages] as in `maxsim`."""

    def __init__(self, tokens: npt.NDArray[np.float16], ends: Ids, nearest: DenseIndex | None) -> None:
        self.tokens, self.ends, self._nearest = tokens, ends, nearest
        self._starts = np.concatenate([np.zeros(1, np.int64), ends])[: len(ends)]

    @property
    def count(self) -> int:
        return len(self.ends)

    def search(self, queries: Sequence[Vectors], k: int, candidates: int = DEFAULT_CANDIDATES) -> list[Ranking]:
        """A ranking of at most k for the token vectors of each query; passages without tokens are not retrieved.

        `candidates` is the number of passages that are scored exactly, of which at least k are; if there are no more passages,
        or no more than `EXACT_TOKENS` tokens, all of them are.
        """
        filled = np.flatnonzero(self.ends > self._starts)
        most = max(candidates, k)
        if self._nearest is None or most >= len(filled):
            return [top_k(filled, scores, k) for scores in self._scores(queries, filled)]
        rankings = []
        for query in queries:
            chosen = self._candidates(query, self._nearest, most)
            rankings.append(top_k(chosen, self._scores([query], chosen)[0], k))
        return rankings

    def _candidates(self, query: Vectors, nearest: DenseIndex, most: int) -> Ids:
        """At most `most` passages, ascending, with the largest sums of approximate similarities."""
        found = nearest.search(query, _TOKENS_A_CANDIDATE * most)
        passages = [np.searchsorted(self.ends, ranking.ids, side="right") for ranking in found]
        distinct = np.unique(np.concatenate([np.empty(0, np.int64), *passages]))
        total = np.zeros(len(distinct), dtype=np.float32)
        for ranking, places in zip(found, passages, strict=True):
            if len(places) == 0:
                continue
            best = np.full(len(distinct), ranking.scores[-1], dtype=np.float32)
            np.maximum.at(best, np.searchsorted(distinct, places), ranking.scores)
            total += best
        chosen: Ids = np.sort(top_k(distinct.astype(np.int64), total, most).ids)
        return chosen

    def _scores(self, queries: Sequence[Vectors], passages: Ids) -> Scores:
        """The scores float32[n_queries, n_passages] of passages, ascending, read in blocks of tokens."""
        scores = np.empty((len(queries), len(passages)), dtype=np.float32)
        for first, last in self._blocks(passages):
            own = passages[first:last]
            parts = [self.tokens[self._starts[p] : self.ends[p]].astype(np.float32) for p in own.tolist()]
            tokens, ends = joined(parts, self.tokens.shape[1])
            for row, query in enumerate(queries):
                scores[row, first:last] = maxsim(query, tokens, ends)
        return scores

    def _blocks(self, passages: Ids) -> Iterator[tuple[int, int]]:
        """Ranges of `passages` with about as many tokens each."""
        sizes = np.cumsum(self.ends[passages] - self._starts[passages])
        first = 0
        while first < len(passages):
            before = int(sizes[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(sizes, before + _BLOCK, side="right")))
            yield first, last
            first = last


def build_tokens(passages: Iterable[list[Vectors]], dimension: int, folder: Path) -> None:
    """Write the index of passages into a folder; `passages` yields lists of token vectors float32[n_tokens, dimension].

    Needs the memory of one list and of the FAISS index. Raises `BadInputError` for a vector that is not finite, also if it is
    too large for half precision.
    """
    count = total = 0
    with (folder / _TOKENS).open("wb") as tokens, (folder / _ENDS).open("wb") as ends:
        for vectors in passages:
            block, own = joined(vectors, dimension)
            with np.errstate(over="ignore"):
                half = block.astype(np.float16)
            if not np.isfinite(half).all():
                raise BadInputError(
                    "A token vector is not finite, or too large for half precision.",
                    hint="The weights of the model may be damaged.",
                )
            half.tofile(tokens)
            (total + own).astype(np.int64).tofile(ends)
            count, total = count + len(own), total + len(block)
    write_json(folder / _SHAPE, {"format": FORMAT, "passages": count, "tokens": total, "dimension": dimension})
    if total > EXACT_TOKENS:
        stored = np.memmap(folder / _TOKENS, np.float16, "r", shape=(total, dimension))
        # A permutation of all tokens, from which dense indexes choose, would need 8 bytes for each of them.
        sample = np.random.default_rng(_SEED).choice(total, _LAYOUT.training(total), replace=False, shuffle=False)
        save(train_and_add(stored, np.sort(sample), dimension, METRICS["dot"], _LAYOUT), folder)


def load_tokens(folder: Path, probes: int = DEFAULT_PROBES) -> TokenIndex:
    """Open an index, with its token vectors left on disk; raises `DamagedError` for files that do not fit together."""
    shape = json.loads((folder / _SHAPE).read_text(encoding="utf-8"))
    count, total, dimension = (int(shape[key]) for key in ("passages", "tokens", "dimension"))
    ends: Ids = np.fromfile(folder / _ENDS, dtype=np.int64)
    if len(ends) != count or (count and ends[-1] != total) or (np.diff(ends, prepend=0) < 0).any():
        raise index_files(folder).unreadable(folder / _ENDS, "its numbers do not ascend to the number of tokens")
    size = (folder / _TOKENS).stat().st_size
    if size != total * dimension * 2:
        raise index_files(folder).unreadable(folder / _TOKENS, f"it has {size:,} bytes for {total:,} tokens")
    tokens: Any = np.empty((0, dimension), np.float16)
    if total:
        tokens = np.memmap(folder / _TOKENS, np.float16, "r", shape=(total, dimension))
    nearest = None
    if total > EXACT_TOKENS:
        nearest = load(folder, "dot", exact=False, probes=probes)
        if nearest.count != total or nearest.vectors.d != dimension:
            raise index_files(folder).unreadable(folder, f"FAISS has {nearest.count:,} of {total:,} tokens")
    return TokenIndex(tokens, ends, nearest)
