"""The words of the project as records; everything else is made of these."""

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Stance = Literal["supporting", "opposing"]
STANCES: tuple[Stance, ...] = ("supporting", "opposing")

Scores = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]


class Perspective(NamedTuple):
    """A statement that answers a question; `stance` says which side it takes, where there are sides.

    `explanation` argues for it, where the data set gives one: DebateQA's partial answers are a point of view with one.
    """

    text: str
    stance: Stance | None = None
    explanation: str = ""


@dataclass(frozen=True)
class Question:
    """A contentious question with the perspectives a ranking should cover."""

    id: str
    dataset: str
    text: str
    perspectives: tuple[Perspective, ...] = ()


class Passage(NamedTuple):
    """About 100 words of one document. `id` is unique in its corpus, `source_id` is the document's own id."""

    id: int
    source_id: str
    title: str
    text: str
    url: str = ""


class Pair(NamedTuple):
    """A passage and a perspective: what a detector labels and a person judges.

    `title` is that of the passage's document, for detectors that read one; it is no part of the key.
    """

    passage: str
    perspective: str
    title: str = ""

    @property
    def key(self) -> str:
        """Hash of both texts, so that labels and judgments outlive re-indexing and are shared by all corpora."""
        return pair_key(self.passage, self.perspective)


class Label(NamedTuple):
    """What a detector says of a pair: P(supports), and whether that passes the detector's threshold."""

    probability: float
    supports: bool


class Ranking(NamedTuple):
    """One ranked list. `ids` int64[k], `scores` float32[k], both best first; -1 pads short lists."""

    ids: Ids
    scores: Scores


def pair_key(passage: str, perspective: str) -> str:
    """128-bit hash (32 hex digits) of a passage text and a perspective text, after Unicode NFC normalisation."""
    return pair_keys(passage, (perspective,))[0]


def pair_keys(passage: str, perspectives: Sequence[str]) -> list[str]:
    """The same for one passage with each of the perspectives."""
    of_passage = hashlib.blake2b(_measured(passage), digest_size=16)
    found = []
    for perspective in perspectives:
        digest = of_passage.copy()
        digest.update(_measured(perspective))
        found.append(digest.hexdigest())
    return found


def _measured(text: str) -> bytes:
    """A text behind its length, so that no two lists of texts run together."""
    encoded = unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")
    return len(encoded).to_bytes(8, "little") + encoded
