"""Checks and norms of what encoders give.

Texts as an encoder's tokenizer can take them.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError
from berdseye.data.records import Passage
from berdseye.retrieval.encoders.protocol import Vectors
from berdseye.retrieval.indexes import index_text

_WORD = re.compile(r"\S+\s*")
_ORDINARY = 20
_LONGEST = 200


def encodable(texts: Iterable[str], most: int) -> list[str]:
    """The texts without lone surrogates, and cut after `most` words where they are far longer.

    A word is a token or more, so a model that reads `most` tokens sees the same.
    """
    return [_cut(text.encode("utf-8", "replace").decode("utf-8"), most) for text in texts]


def titled(passage: Passage, separator: str = " ") -> str:
    """Title and text as one text, or the text alone where there is no title."""
    return f"{passage.title}{separator}{passage.text}" if passage.title and separator != " " else index_text(passage)


def _cut(text: str, most: int) -> str:
    if len(text) <= _ORDINARY * most:
        return text
    text = text[: _LONGEST * most]
    words = list(_WORD.finditer(text))
    return text[: words[most - 1].end()] if len(words) > most else text


_SHOWN = 60


def checked_rows(rows: npt.NDArray[np.integer], texts: Sequence[str], encoder: str) -> None:
    """Raise `BadInputError` for the first of the rows that are not finite; `rows` are their numbers."""
    if len(rows):
        text = texts[int(rows[0])].encode("utf-8", "replace").decode("utf-8")
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise BadInputError(
            f"{encoder} gives {len(rows)} of {len(texts)} texts numbers that are not finite; the first is '{shown}'.",
            hint="Its weights may be damaged, or too large for half precision (set BERDSEYE_DEVICE=cpu).",
        )


def checked(vectors: Vectors, texts: Sequence[str], encoder: str) -> Vectors:
    """`vectors` float32[n_texts, d] or scores float32[n_texts]; raises `BadInputError` where one is not finite."""
    finite = np.isfinite(vectors)
    checked_rows(np.flatnonzero(~(finite if vectors.ndim == 1 else finite.all(axis=1))), texts, encoder)
    return vectors


def unit(vectors: Vectors) -> Vectors:
    """Rows of length 1; a zero vector stays one."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / np.maximum(lengths, np.float32(1e-12))).astype(np.float32, copy=False)
    return scaled
