"""Passages that are longer than a model reads, as overlapping windows.

Batches of texts of like length, so that little is padded.

What of a pair a model is shown.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Pair
from berdseye.data.texts.passages import clean
from berdseye.detectors.protocol import Floats
from berdseye.retrieval.encoders.checks import encodable


def by_length(lengths: Sequence[int], most: int, most_tokens: int) -> Iterator[list[int]]:
    """Places of all `lengths`, the longest first: at most `most` at a time, and `most_tokens` when all are padded alike.

    A text that is longer than that stands alone.
    """
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    start = 0
    while start < len(order):
        size = max(1, min(most, most_tokens // max(1, lengths[order[start]])))
        yield order[start : start + size]
        start += size


Title = Literal["none", "before", "after"]
TITLES = ("none", "before", "after")


def passage_text(pair: Pair, title: Title = "none") -> str:
    """The passage, with the title of its document on a line before it, or after it and a blank, as BERDS has it."""
    text, of_document = clean(pair.passage), clean(pair.title)
    if title == "none" or not (text and of_document):
        return text
    return f"{of_document}\n{text}" if title == "before" else f"{text} {of_document}"


def title_place(name: str) -> Title:
    """The place of a title by its name; raises `UnknownNameError`."""
    if name not in TITLES:
        raise UnknownNameError("place of the title", name, TITLES)
    return cast(Title, name)


def readable(pairs: Sequence[Pair]) -> npt.NDArray[np.int64]:
    """Places of the pairs with both texts; the others support nothing and are shown to no model."""
    return np.array(
        [at for at, pair in enumerate(pairs) if clean(pair.passage) and clean(pair.perspective)], dtype=np.int64
    )


MOST_TOKENS = 1_000_000
_OVERLAP = 4  # a window shares a quarter of its tokens with the next
_PERSPECTIVE_SHARE = 2  # a perspective may take half of what the model reads

AGGREGATES: Mapping[str, Callable[[npt.NDArray[np.float32]], np.floating]] = {
    "max": np.max,
    "first": lambda values: values[0],
    "mean": np.mean,
}
"""What becomes of the probabilities of a passage's windows."""


class Window(NamedTuple):
    """A part of a passage that fits beside the perspective; `tokens` is about how many both have together."""

    text: str
    perspective: str
    tokens: int


class Tokens(NamedTuple):
    """Where each token of a text begins and ends in it."""

    text: str
    offsets: Sequence[tuple[int, int]]

    def first(self, count: int) -> "Tokens":
        """The beginning of the text."""
        if len(self.offsets) <= count:
            return self
        return Tokens(self.text[: self.offsets[count - 1][1]], self.offsets[:count])

    def windows(self, size: int) -> list[str]:
        """Parts of `size` tokens that overlap by a quarter and cover the text."""
        if len(self.offsets) <= size:
            return [self.text]
        stride = size - size // _OVERLAP
        starts = range(0, len(self.offsets) - size + stride, stride)
        return [self.text[self.offsets[s][0] : self.offsets[min(s + size, len(self.offsets)) - 1][1]] for s in starts]


def tokens_of(tokenizer: Any, texts: Sequence[str]) -> list[Tokens]:
    """The texts with the places of their tokens; raises `BadInputError` where the tokenizer cannot tell them."""
    if not tokenizer.is_fast:
        raise BadInputError(
            "The model's tokenizer does not say where its tokens stand in a text.", hint="Save it as tokenizer.json."
        )
    prepared = [_taken_apart(text, tokenizer.all_special_tokens) for text in encodable(texts, MOST_TOKENS)]
    if not prepared:
        return []
    found = tokenizer(
        prepared, add_special_tokens=False, return_offsets_mapping=True, return_attention_mask=False, verbose=False
    )
    return [Tokens(text, offsets) for text, offsets in zip(prepared, found["offset_mapping"], strict=True)]


def _taken_apart(text: str, controls: Sequence[str]) -> str:
    """The text with a space inside each control token, such as [SEP], which would end the passage where it stands."""
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
    """P of each pair, float32[n_pairs], from P of each window of its passage, which `scored` gives as float32[n_windows].

    Passage and perspective together have `room` tokens. `how` is a key of `AGGREGATES`; a pair with an empty text gets 0.
    """
    out = np.zeros(len(pairs), dtype=np.float32)
    asked = readable(pairs)
    texts = [passage_text(pairs[at], title) for at in asked]
    statements = [clean(pairs[at].perspective) for at in asked]
    distinct = list(dict.fromkeys([*texts, *statements]))
    known = dict(zip(distinct, tokens_of(tokenizer, distinct), strict=True))
    found: list[Window] = []
    ends: list[int] = []
    for text, statement in zip(texts, statements, strict=True):
        perspective = known[statement].first(room // _PERSPECTIVE_SHARE)
        size = room - len(perspective.offsets)
        parts = known[text].windows(size)
        length = len(perspective.offsets) + min(size, len(known[text].offsets))
        found += [Window(part, perspective.text, length) for part in (parts[:1] if how == "first" else parts)]
        ends.append(len(found))
    if found:
        values = np.split(scored(found), ends[:-1])
        out[asked] = [AGGREGATES[how](value) for value in values]
    return np.clip(out, 0.0, 1.0)
