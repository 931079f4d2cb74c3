"""Token ids of many texts, from those of their distinct words.

A tokenizer without a pre-tokenizer, as Llama's, merges pieces over a whole text. None of its tokens has a space after another
character, so that no merge reaches from one word into the next: a text's tokens are those of its words, each with the space
before it. Texts repeat their words, and looking them up takes a fraction of the time of merging their pieces.
"""

from collections.abc import Sequence
from itertools import chain
from threading import Lock

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from tokenizers import Tokenizer

Numbers = npt.NDArray[np.int32]
_FEW = 16
_MOST_WORDS = 1_000_000
SPACE = "▁"


class WordTokens:
    """Tokenizes texts by their words, of which it remembers about `most` with their token ids.

    Texts with spaces in a row or at an end, or with a token that the tokenizer finds before it looks at words, are tokenized
    whole. Several threads may use one object.
    """

    def __init__(self, tokenizer: Tokenizer, *, most: int = _MOST_WORDS) -> None:
        self._tokenizer, self._most, self._lock = tokenizer, most, Lock()
        self._special = [SPACE, *(token.content for token in tokenizer.get_added_tokens_decoder().values())]
        self._forget()

    def encode(self, texts: Sequence[str]) -> tuple[Numbers, npt.NDArray[np.int64]]:
        """Return the token ids of all texts, int32[n_tokens], and where each text ends, int64[n_texts + 1] from 0.

        They are those of the tokenizer itself, without special tokens at the ends.
        """
        if len(texts) < _FEW:
            return _joined(self._whole(texts))
        split = pa.array(texts, pa.large_string())
        plain = self._plain(split)
        if not plain.any():
            return _joined(self._whole(texts))
        if plain.all():
            return self._by_words(split)
        flat, ends = self._by_words(split.filter(pa.array(plain)))
        other, other_ends = _joined(self._whole([texts[n] for n in np.flatnonzero(~plain)]))
        by_words, whole = iter(np.split(flat, ends[1:-1])), iter(np.split(other, other_ends[1:-1]))
        in_order = [next(by_words if one else whole) for one in plain.tolist()]
        return np.concatenate(in_order), np.concatenate([[0], np.cumsum([*map(len, in_order)])]).astype(np.int64)

    def _whole(self, texts: Sequence[str]) -> list[list[int]]:
        return [e.ids for e in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]

    def _plain(self, texts: pa.LargeStringArray) -> npt.NDArray[np.bool_]:
        """Whether single spaces alone stand between the words of a text, and nothing in it has a meaning of its own."""
        unlike = [pc.match_substring(texts, mark) for mark in ("  ", *self._special)]
        unlike += [pc.equal(texts, ""), pc.starts_with(texts, " "), pc.ends_with(texts, " ")]
        plain: npt.NDArray[np.bool_] = ~np.logical_or.reduce([one.to_numpy(zero_copy_only=False) for one in unlike])
        return plain

    def _by_words(self, texts: pa.LargeStringArray) -> tuple[Numbers, npt.NDArray[np.int64]]:
        words = pc.split_pattern(texts, " ")
        distinct = words.flatten().dictionary_encode()
        ids, starts = self._looked_up(distinct.dictionary.to_pylist())
        of = distinct.indices.to_numpy()
        sizes = np.diff(starts)[of]
        ends = np.concatenate([[0], np.cumsum(sizes)])
        # The tokens of word n lie from starts[of[n]] on.
        places = np.repeat(starts[:-1][of] - ends[:-1], sizes) + np.arange(ends[-1])
        return ids[places], ends[words.offsets.to_numpy() - words.offsets[0].as_py()]

    def _looked_up(self, words: list[str]) -> tuple[Numbers, npt.NDArray[np.int64]]:
        """The token ids of all words, one word after the other, and where each ends."""
        with self._lock:
            if len(self._known) > self._most:
                self._forget()
            known = self._known
            new = [word for word in words if word not in known]
            for word, ids in zip(new, self._whole(new), strict=True):
                known[word] = ids
            return _joined([known[word] for word in words])

    def _forget(self) -> None:
        self._known: dict[str, list[int]] = {}


def _joined(lists: Sequence[Sequence[int]]) -> tuple[Numbers, npt.NDArray[np.int64]]:
    ends = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return np.fromiter(chain.from_iterable(lists), dtype=np.int32, count=int(ends[-1])), ends
