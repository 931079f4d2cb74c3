"""Near-duplicate texts: sets of word 5-grams compared by Jaccard similarity (Broder 1997).

MinHash signatures (datasketch) propose candidates, each of which is confirmed by its exact similarity, so that no group is
false. A few pairs are missed: at most one in twenty just at the threshold, and fewer of more similar ones.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import chain

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError

DEFAULT_THRESHOLD = 0.8
MOST_TEXTS = 3_000_000

Batch = tuple[Sequence[int], Sequence[str]]
Hashes = npt.NDArray[np.uint64]
_SHINGLE = 5
_PERMUTATIONS = 128
_FOUND = 0.95
_WORD = re.compile(r"\w+")
_REMEMBERED = 1_000_000
_BASE = np.uint64(0x9E3779B97F4A7C15)


def near_duplicates(texts: Sequence[str], threshold: float = DEFAULT_THRESHOLD) -> list[list[int]]:
    """Groups of near-duplicates among `texts`, as indices.

    The first text of a group is its earliest, and every other has at least the similarity `threshold` to it. A text without
    a near-duplicate is in no group.
    """
    return NearDuplicates(threshold).groups(lambda: [(range(len(texts)), texts)])


def resemblance(first: str, second: str) -> float:
    """The Jaccard similarity of the word 5-grams of two texts, 0 to 1."""
    hasher = NearDuplicates()
    return jaccard(hasher._shingles(first), hasher._shingles(second))


def links_across(
    texts: Sequence[str], sides: Sequence[str], threshold: float = DEFAULT_THRESHOLD
) -> Iterator[tuple[int, int]]:
    """Yield all pairs of texts, as indices, on different sides whose similarity is at least `threshold`."""
    return NearDuplicates(threshold).links_across(texts, sides)


class NearDuplicates:
    """Finds groups of near-duplicates in batches of texts, which come in order of id and are read twice.

    It takes about 350 bytes of memory per text (0.5 GB in total for a million), and about 2 kilobytes for each candidate.
    """

    def __init__(self, threshold: float = DEFAULT_THRESHOLD) -> None:
        if not 0 < threshold <= 1:
            raise BadInputError(
                f"The threshold must be above 0 and at most 1, got {threshold:g}.", hint="The default is 0.8."
            )
        self.threshold = threshold
        self._words: dict[str, int] = {}

    def groups(self, batches: Callable[[], Iterable[Batch]]) -> list[list[int]]:
        """The groups as ids, in order of their first id; raises `BadInputError` for more than three million texts."""
        buckets = self._shared_buckets(batches())
        shingles = {i: self._shingles(t) for batch in batches() for i, t in zip(*batch, strict=True) if i in buckets}
        firsts: dict[int, list[int]] = {}
        groups: dict[int, list[int]] = {}
        for i in sorted(buckets):
            near = sorted({f for bucket in buckets[i] for f in firsts.get(bucket, ())})
            first = next((f for f in near if jaccard(shingles[f], shingles[i]) >= self.threshold), None)
            if first is not None:
                groups.setdefault(first, [first]).append(i)
                continue
            for bucket in buckets[i]:
                firsts.setdefault(bucket, []).append(i)
        return [groups[first] for first in sorted(groups)]

    def links_across(self, texts: Sequence[str], sides: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield all pairs of indices on different sides with at least the threshold's similarity.

        Unlike `groups`, this yields every such pair that the signatures propose.
        """
        buckets = self._shared_buckets([(range(len(texts)), texts)])
        met: dict[int, list[int]] = {}
        shingles: dict[int, Hashes] = {}
        for i in sorted(buckets):
            others = {f for bucket in buckets[i] for f in met.get(bucket, ()) if sides[f] != sides[i]}
            shingles[i] = self._shingles(texts[i])
            yield from ((f, i) for f in sorted(others) if jaccard(shingles[f], shingles[i]) >= self.threshold)
            for bucket in buckets[i]:
                met.setdefault(bucket, []).append(i)

    def _shared_buckets(self, batches: Iterable[Batch]) -> dict[int, list[int]]:
        """For each text that may be a near-duplicate, the buckets it shares with other texts."""
        ids: list[npt.NDArray[np.int64]] = []
        keys: list[Hashes] = []
        count = 0
        for batch_ids, texts in batches:
            count += len(texts)
            if count > MOST_TEXTS:
                raise BadInputError(
                    f"Near-duplicates can be found among at most {MOST_TEXTS:,} texts.",
                    hint="Keep near-duplicates, or add the corpus in parts.",
                )
            ids.append(np.asarray(batch_ids, np.int64))
            keys.append(self._band_keys(texts))
        if not count:
            return {}
        all_ids = np.concatenate(ids)
        buckets: dict[int, list[int]] = {}
        bucket = 0
        for band in range(keys[0].shape[1]):
            column = np.concatenate([k[:, band] for k in keys])
            order = np.argsort(column, kind="stable")
            starts = np.flatnonzero(np.append(True, column[order][1:] != column[order][:-1]))
            sizes = np.diff(np.append(starts, count))
            for start, size in zip(starts[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
                for i in all_ids[order[start : start + size]].tolist():
                    buckets.setdefault(i, []).append(bucket)
                bucket += 1
        return buckets

    def _band_keys(self, texts: Iterable[str]) -> Hashes:
        """One key per band of each text's signature, uint64[n_texts, n_bands]; texts that share a key are candidates."""
        from datasketch import MinHash

        bands, rows = self._bands
        shingles = ((self._shingles(t) >> np.uint64(32)).tolist() for t in texts)
        hashed = MinHash.generator(shingles, num_perm=_PERMUTATIONS, hashfunc=_identity, scheme="affine32")
        signatures = [m.hashvalues[: bands * rows] for m in hashed]
        if not signatures:
            return np.empty((0, bands), np.uint64)
        values = np.stack(signatures).astype(np.uint64).reshape(-1, bands, rows)
        keys = np.zeros(values.shape[:2], np.uint64)
        for row in range(rows):
            keys = (keys ^ values[:, :, row]) * _BASE
        return keys

    @cached_property
    def _bands(self) -> tuple[int, int]:
        """The number of bands of a signature, and the number of values per band.

        It has the most values per band, and so the fewest false candidates, with which a pair just at the threshold shares a
        band with a probability of at least `_FOUND` (Leskovec et al., Mining of Massive Datasets, section 3.4).
        """
        return next(
            (_PERMUTATIONS // rows, rows)
            for rows in range(_PERMUTATIONS, 0, -1)
            if rows == 1 or 1 - (1 - self.threshold**rows) ** (_PERMUTATIONS // rows) >= _FOUND
        )

    def _shingles(self, text: str) -> Hashes:
        """Sorted hashes of the text's word 5-grams, in lower case and without punctuation; a shorter text is one n-gram."""
        words = _WORD.findall(text.lower()) or [text]
        if len(self._words) > _REMEMBERED:
            self._words.clear()
        known = self._words
        hashes = np.fromiter((known.get(w) or self._remember(w) for w in words), np.uint64, len(words))
        width = min(_SHINGLE, len(words))
        grams: Hashes = np.zeros(len(words) - width + 1, np.uint64)
        for place in range(width):
            grams = (grams ^ hashes[place : place + len(grams)]) * _BASE
            grams ^= grams >> np.uint64(29)
        return np.unique(grams)

    def _remember(self, word: str) -> int:
        key = int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "little") | 1
        self._words[word] = key
        return key


def jaccard(a: Hashes, b: Hashes) -> float:
    """The Jaccard similarity of two sorted sets of hashes."""
    common = len(np.intersect1d(a, b, assume_unique=True))
    return common / (len(a) + len(b) - common)


def without_first(groups: Iterable[list[int]]) -> Iterator[int]:
    """All ids of the groups except the first of each group, which is the one to keep."""
    return chain.from_iterable(group[1:] for group in groups)


def _identity(value: int) -> int:
    return value
