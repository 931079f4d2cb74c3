"""Preparation of texts for encoders, and checks and normalisation of their vectors."""

import re
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError
from berdseye.data.records import Passage
from berdseye.retrieval.encoders.protocol import Vectors

_WORD = re.compile(r"\S+\s*")
_ORDINARY = 20
_LONGEST = 200
_SHOWN = 60


def encodable(texts: Iterable[str], most: int) -> list[str]:
    """The texts without lone surrogates, and cut after `most` words if they are far longer.

    A word is at least one token, so this makes no difference to a model that reads `most` tokens.
    """
    return [_cut(text.encode("utf-8", "replace").decode("utf-8"), most) for text in texts]


def titled(passage: Passage, separator: str = " ") -> str:
    """Title and text joined by the separator, or the text if there is no title."""
    return f"{passage.title}{separator}{passage.text}" if passage.title else passage.text


def _cut(text: str, most: int) -> str:
    if len(text) <= _ORDINARY * most:
        return text
    text = text[: _LONGEST * most]
    words = list(_WORD.finditer(text))
    return text[: words[most - 1].end()] if len(words) > most else text


def checked_rows(rows: npt.NDArray[np.integer], texts: Sequence[str], encoder: str) -> None:
    """Raise `BadInputError` if there are rows that are not finite; `rows` are their numbers."""
    if len(rows):
        text = texts[int(rows[0])].encode("utf-8", "replace").decode("utf-8")
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise BadInputError(
            f"{encoder} returned numbers that are not finite for {len(rows)} of {len(texts)} texts; the first is '{shown}'.",
            hint="Its weights may be damaged, or too large for half precision (then set BERDSEYE_DEVICE=cpu).",
        )


def checked(vectors: Vectors, texts: Sequence[str], encoder: str) -> Vectors:
    """Return vectors float32[n_texts, d] or scores float32[n_texts]; raises `BadInputError` if any is not finite."""
    finite = np.isfinite(vectors)
    checked_rows(np.flatnonzero(~(finite if vectors.ndim == 1 else finite.all(axis=1))), texts, encoder)
    return vectors


def unit(vectors: Vectors) -> Vectors:
    """Scale the rows to length 1; a zero vector stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / np.maximum(lengths, np.float32(1e-12))).astype(np.float32, copy=False)
    return scaled
