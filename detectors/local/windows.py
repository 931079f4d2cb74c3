"""The texts of pairs as models read them: passages with or without titles, in overlapping windows if they are too long, and in
batches of similar length, which need little padding."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Pair
from berdseye.data.texts.passages import clean
from berdseye.detectors.protocol import Bools, Floats
from berdseye.retrieval.encoders.checks import encodable

Title = Literal["none", "before", "after"]
TITLES = ("none", "before", "after")
MOST_TOKENS = 1_000_000
_OVERLAP = 4  # a window shares a quarter of its tokens with the next
_PERSPECTIVE_SHARE = 2  # a perspective may take half of what the model reads
AGGREGATES: Mapping[str, Callable[[npt.NDArray[np.float32]], np.floating]] = {
    "max": np.max,
    "first": lambda values: values[0],
    "mean": np.mean,
}
"""How the probabilities of a passage's windows are combined."""


def by_length(lengths: Sequence[int], most: int, most_tokens: int) -> Iterator[list[int]]:
    """Yield the places of all `lengths` in batches, the longest first.

    A batch has at most `most` texts, and at most `most_tokens` tokens when padded; a longer text is a batch by itself.
    """
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    start = 0
    while start < len(order):
        size = max(1, min(most, most_tokens // max(1, lengths[order[start]])))
        yield order[start : start + size]
        start += size


def passage_text(pair: Pair, title: Title = "none") -> str:
    """Return the passage, with its document's title on a line before it, or after it and a blank, as in BERDS."""
    text, document_title = clean(pair.passage), clean(pair.title)
    if title == "none" or not (text and document_title):
        return text
    return f"{document_title}\n{text}" if title == "before" else f"{text} {document_title}"


def title_place(name: str) -> Title:
    """Return the place of a title by its name; raises `UnknownNameError`."""
    if name not in TITLES:
        raise UnknownNameError("place of the title", name, TITLES)
    return cast(Title, name)


def readable(pairs: Sequence[Pair]) -> npt.NDArray[np.int64]:
    """Return the places of the pairs with both texts, int64[n]; all others support nothing and no model reads them."""
    return np.array(
        [at for at, pair in enumerate(pairs) if clean(pair.passage) and clean(pair.perspective)], dtype=np.int64
    )


class Window(NamedTuple):
    """A part of a passage that fits together with the perspective; `tokens` is the approximate number of both."""

    text: str
    perspective: str
    tokens: int


class Tokens(NamedTuple):
    """A text with the offsets at which each of its tokens begins and ends."""

    text: str
    offsets: Sequence[tuple[int, int]]

    def first(self, count: int) -> "Tokens":
        """Return the first `count` tokens of the text."""
        if len(self.offsets) <= count:
            return self
        return Tokens(self.text[: self.offsets[count - 1][1]], self.offsets[:count])

    def windows(self, size: int) -> list[str]:
        """Return parts of `size` tokens that overlap by a quarter and cover the text."""
        if len(self.offsets) <= size:
            return [self.text]
        stride = size - size // _OVERLAP
        starts = range(0, len(self.offsets) - size + stride, stride)
        return [self.text[self.offsets[s][0] : self.offsets[min(s + size, len(self.offsets)) - 1][1]] for s in starts]


def tokens_of(tokenizer: Any, texts: Sequence[str]) -> list[Tokens]:
    """Return the texts with the offsets of their tokens; raises `BadInputError` if the tokenizer does not provide them."""
    if not tokenizer.is_fast:
        raise BadInputError(
            "The model's tokenizer does not provide the offsets of its tokens.", hint="Save it as tokenizer.json."
        )
    prepared = [_without_controls(text, tokenizer.all_special_tokens) for text in encodable(texts, MOST_TOKENS)]
    if not prepared:
        return []
    encoding = tokenizer(
        prepared, add_special_tokens=False, return_offsets_mapping=True, return_attention_mask=False, verbose=False
    )
    return [Tokens(text, offsets) for text, offsets in zip(prepared, encoding["offset_mapping"], strict=True)]


def _without_controls(text: str, controls: Sequence[str]) -> str:
    """Insert a space into each control token, such as [SEP], which would end the passage at its place."""
    for control in controls:
        text = text.replace(control, f"{control[:1]} {control[1:]}")
    return text


def windowed(
    pairs: Sequence[Pair],
    tokenizer: Any,
    room: int,
    title: Title,
    how: str,
    scored: Callable[[Sequence[Window]], Floats],
) -> Floats:
    """Return P of each pair, float32[n_pairs], from P of each window of its passage, float32[n_windows] by `scored`.

    Passage and perspective may have `room` tokens in total. `how` is a key of `AGGREGATES`; a pair with an empty text gets 0.
    """
    out = np.zeros(len(pairs), dtype=np.float32)
    places = readable(pairs)
    all_windows: list[Window] = []
    ends: list[int] = []
    for passage, whole in _tokens_of_pairs([pairs[at] for at in places], tokenizer, title):
        perspective = whole.first(room // _PERSPECTIVE_SHARE)
        size = room - len(perspective.offsets)
        parts = passage.windows(size)
        length = len(perspective.offsets) + min(size, len(passage.offsets))
        all_windows += [Window(part, perspective.text, length) for part in (parts[:1] if how == "first" else parts)]
        ends.append(len(all_windows))
    if all_windows:
        values = np.split(scored(all_windows), ends[:-1])
        out[places] = [AGGREGATES[how](value) for value in values]
    return np.clip(out, 0.0, 1.0)


def cut_in_windows(pairs: Sequence[Pair], tokenizer: Any, room: int, title: Title, how: str) -> Bools:
    """Return for which pairs `windowed` reads only a part of a text, bool[n_pairs].

    That is a perspective longer than half of `room` tokens and, if only the first window counts, a passage of several windows.
    """
    out = np.zeros(len(pairs), dtype=np.bool_)
    places = readable(pairs)
    share = room // _PERSPECTIVE_SHARE
    out[places] = [
        len(perspective.offsets) > share or (how == "first" and len(passage.offsets) > room - len(perspective.offsets))
        for passage, perspective in _tokens_of_pairs([pairs[at] for at in places], tokenizer, title)
    ]
    return out


def _tokens_of_pairs(pairs: Sequence[Pair], tokenizer: Any, title: Title) -> list[tuple[Tokens, Tokens]]:
    """Return the tokens of each passage and of its perspective; each distinct text is tokenized once."""
    texts = [(passage_text(pair, title), clean(pair.perspective)) for pair in pairs]
    distinct = list(dict.fromkeys(text for both in texts for text in both))
    tokens = dict(zip(distinct, tokens_of(tokenizer, distinct), strict=True))
    return [(tokens[passage], tokens[perspective]) for passage, perspective in texts]
