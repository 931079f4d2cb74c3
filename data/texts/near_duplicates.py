"""Texts that nearly repeat one another: sets of word 5-grams compared by Jaccard similarity (Broder 1997).

MinHash signatures (datasketch) propose candidates, each of which is then confirmed by its true similarity, so that no
group is false. A few are missed: of pairs that lie just at the threshold at most one in twenty, of more similar ones fewer.
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
    """Groups of texts by their places: each group's first is its earliest, and every other resembles that one by at
    least `threshold`. Texts that resemble no other are in no group."""
    return NearDuplicates(threshold).groups(lambda: [(range(len(texts)), texts)])


def resemblance(first: str, second: str) -> float:
    """The Jaccard similarity of two texts' word 5-grams, 0 to 1."""
    measured = NearDuplicates()
    return jaccard(measured._shingles(first), measured._shingles(second))


def links_across(
    texts: Sequence[str], sides: Sequence[str], threshold: float = DEFAULT_THRESHOLD
) -> Iterator[tuple[int, int]]:
    """Every two texts, by their places, that stand on different sides and resemble one another by at least `threshold`."""
    return NearDuplicates(threshold).links_across(texts, sides)


class NearDuplicates:
    """Finds groups in texts that come in batches, in order of id, and that can be asked for again.

    About 350 bytes a text are held (0.5 GB in all for a million), and some 2 kilobytes for each that resembles another.
    """

    def __init__(self, threshold: float = DEFAULT_THRESHOLD) -> None:
        if not 0 < threshold <= 1:
            raise BadInputError(f"The threshold is {threshold:g}.", hint="Choose one above 0 and up to 1.")
        self.threshold = threshold
        self._words: dict[str, int] = {}

    def groups(self, batches: Callable[[], Iterable[Batch]]) -> list[list[int]]:
        """Groups of ids, in order of their first; raises `BadInputError` for more than three million texts."""
        buckets = self._shared_buckets(batches())
        shingles = {i: self._shingles(t) for held in batches() for i, t in zip(*held, strict=True) if i in buckets}
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
        """As the function of this name; unlike groups, these are all such pairs that the signatures propose."""
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
        """For each text that may resemble another, the buckets it shares with others."""
        ids: list[npt.NDArray[np.int64]] = []
        keys: list[Hashes] = []
        count = 0
        for held, texts in batches:
            count += len(texts)
            if count > MOST_TEXTS:
                raise BadInputError(
                    f"Near-duplicates can be found among {MOST_TEXTS:,} texts at most.",
                    hint="Keep them, or make the corpus in parts.",
                )
            ids.append(np.asarray(held, np.int64))
            keys.append(self._band_keys(texts))
        if not count:
            return {}
        every = np.concatenate(ids)
        found: dict[int, list[int]] = {}
        begun = 0
        for band in range(keys[0].shape[1]):
            column = np.concatenate([k[:, band] for k in keys])
            order = np.argsort(column, kind="stable")
            starts = np.flatnonzero(np.append(True, column[order][1:] != column[order][:-1]))
            sizes = np.diff(np.append(starts, count))
            for start, size in zip(starts[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
                for i in every[order[start : start + size]].tolist():
                    found.setdefault(i, []).append(begun)
                begun += 1
        return found

    def _band_keys(self, texts: Iterable[str]) -> Hashes:
        """One key a band of each text's signature, uint64[n_texts, n_bands]; texts that share one may be alike."""
        from datasketch import MinHash

        bands, rows = self._bands
        shingles = ((self._shingles(t) >> np.uint64(32)).tolist() for t in texts)
        hashed = MinHash.generator(shingles, num_perm=_PERMUTATIONS, hashfunc=_as_it_is, scheme="affine32")
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
        """How many bands a signature has, and how many values a band: the most values, and so the fewest false candidates,
        with which a pair just at the threshold shares a band as often as `_FOUND` (Leskovec et al., Mining of Massive
        Datasets, section 3.4)."""
        return next(
            (_PERMUTATIONS // rows, rows)
            for rows in range(_PERMUTATIONS, 0, -1)
            if rows == 1 or 1 - (1 - self.threshold**rows) ** (_PERMUTATIONS // rows) >= _FOUND
        )

    def _shingles(self, text: str) -> Hashes:
        """The text's word 5-grams, lower-cased and without punctuation, as sorted hashes; a shorter text is one."""
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
    """Share of two sorted sets that is in both."""
    common = len(np.intersect1d(a, b, assume_unique=True))
    return common / (len(a) + len(b) - common)


def without_first(groups: Iterable[list[int]]) -> Iterator[int]:
    """All ids of the groups but the first of each, which is the one to keep."""
    return chain.from_iterable(group[1:] for group in groups)


def _as_it_is(value: int) -> int:
    return value
