"""The basic records of the project: questions, perspectives, passages, pairs, labels and rankings."""

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, overload

Stance = Literal["supporting", "opposing"]
STANCES: tuple[Stance, ...] = ("supporting", "opposing")
Grade = Literal["topic", "stance"]
"""What a detector's labels can mean: `stance` if it was measured to tell sides, otherwise `topic`."""
LabelWords = Literal["supports", "does not support", "on topic", "off topic"]

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Scores = npt.NDArray[np.float32]
    Ids = npt.NDArray[np.int64]
else:

    def __getattr__(name: str) -> object:
        """Return the types of arrays of scores and ids. NumPy is imported when a module asks for them: without it, the help of
        constructions takes a third less time."""
        if name not in ("Scores", "Ids"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import numpy as np
        import numpy.typing as npt

        return npt.NDArray[np.float32 if name == "Scores" else np.int64]


class Perspective(NamedTuple):
    """A statement that answers a question; `stance` is the side it takes, or None where it takes no side.

    `explanation` argues for the statement, if the data set provides one: in DebateQA, each partial answer is a point of view
    with an explanation.
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

    `title` is the title of the passage's document, for detectors that read titles; it is not part of the key.
    """

    passage: str
    perspective: str
    title: str = ""

    @property
    def key(self) -> str:
        """Hash of both texts, so that labels and judgments stay valid after re-indexing and are shared by all corpora."""
        return pair_key(self.passage, self.perspective)


class Label(NamedTuple):
    """A detector's output for a pair: P(supports), and whether it reaches the detector's threshold."""

    probability: float
    supports: bool


class DetectorVersion(NamedTuple):
    """The detector that gave labels: its name and version, the threshold that decides, its grade, and how near to the threshold
    a probability is called unsure (0: never)."""

    name: str
    version: str = ""
    threshold: float = 0.5
    grade: Grade = "topic"
    unsure: float = 0.0

    def __str__(self) -> str:
        return f"{self.name} {self.version}".strip()

    def says(self, probability: float | None, supports: bool) -> LabelWords | Literal["unsure"]:
        """Return what pages and tasks say of a label, P(supports) (None: unknown) and the decision: "unsure" near the threshold,
        otherwise the words of its grade."""
        if probability is not None and is_near(self.threshold, self.unsure, probability):
            return "unsure"
        return label_words(self.grade, supports)


class Ranking(NamedTuple):
    """One ranked list: `ids` int64[k] and `scores` float32[k], both best first; id -1 pads lists shorter than k."""

    ids: "Ids"
    scores: "Scores"


@overload
def is_near(threshold: float, unsure: float, probability: float) -> bool: ...
@overload
def is_near(threshold: float, unsure: float, probability: "npt.NDArray[np.float64]") -> "npt.NDArray[np.bool_]": ...
def is_near(
    threshold: float, unsure: float, probability: "float | npt.NDArray[np.float64]"
) -> "bool | npt.NDArray[np.bool_]":
    """Return whether a detector is unsure about a probability, or about each of float64[n]: it lies within `unsure` of the
    threshold. NaN does not."""
    distance = probability - threshold
    return (distance > -unsure) & (distance < unsure)


def label_words(grade: Grade, supports: bool) -> LabelWords:
    """Return the words for a label of a detector of this grade; only the grade `stance` says which side a passage takes."""
    if grade == "topic":
        return "on topic" if supports else "off topic"
    return "supports" if supports else "does not support"


def pair_key(passage: str, perspective: str) -> str:
    """128-bit hash (32 hex digits) of a passage text and a perspective text, after Unicode NFC normalisation."""
    return pair_keys(passage, (perspective,))[0]


def pair_keys(passage: str, perspectives: Sequence[str]) -> list[str]:
    """128-bit hashes (32 hex digits each) of one passage text with each of the perspective texts, in their order."""
    passage_digest = hashlib.blake2b(_length_prefixed(passage), digest_size=16)
    keys = []
    for perspective in perspectives:
        digest = passage_digest.copy()
        digest.update(_length_prefixed(perspective))
        keys.append(digest.hexdigest())
    return keys


def _length_prefixed(text: str) -> bytes:
    """The text with its length in front, so that different lists of texts never concatenate to equal bytes."""
    encoded = unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")
    return len(encoded).to_bytes(8, "little") + encoded
