"""The interfaces of encoders.

To add an encoder, implement one of them and register it in `berdseye.retrieval.encoders.encoder_registry`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from berdseye.data.records import Passage, Scores

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Similarity = Literal["cosine", "dot", "euclidean"]

Vectors = npt.NDArray[np.float32]


class Encoder(Protocol):
    """A bi-encoder; `name` is canonical, and `version` changes whenever its vectors may change.

    If `similarity` is "cosine", all vectors have length 1, so that their inner product is the cosine.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def similarity(self) -> Similarity: ...

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Query vectors, float32[n_texts, dimension]; raises `BadInputError` for a vector that is not finite."""
        ...

    def encode_passages(self, passages: Sequence[Passage]) -> Vectors:
        """Passage vectors, float32[n_passages, dimension]; raises `BadInputError` for a vector that is not finite."""
        ...


@runtime_checkable
class InstructedEncoder(Protocol):
    """A bi-encoder that reads an instruction before a query."""

    def encode_instructed(self, texts: Sequence[str], instructions: Sequence[str]) -> Vectors:
        """Query vectors, float32[n_texts, dimension], each after its own instruction; empty ones stand for the usual one."""
        ...


@runtime_checkable
class ScalingEncoder(Encoder, Protocol):
    """An encoder that scales vectors to length 1 itself, and can also give them at the lengths that its model computes."""

    def unscaled(self) -> Encoder:
        """This encoder without the scaling."""
        ...


class SparseEncoder(Protocol):
    """A learned sparse encoder: a weight for each of `terms` terms, most of them 0; scores are inner products."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def terms(self) -> int: ...

    def encode_queries(self, texts: Sequence[str]) -> "csr_array[np.float32]":
        """Query weights, float32[n_texts, terms]; raises `BadInputError` for a weight that is not finite."""
        ...

    def encode_passages(self, passages: Sequence[Passage]) -> "csr_array[np.float32]":
        """Passage weights, float32[n_passages, terms]; raises `BadInputError` for a weight that is not finite."""
        ...


class TokenEncoder(Protocol):
    """A late interaction encoder: a vector for each token of a text, compared by inner products (MaxSim)."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def encode_queries(self, texts: Sequence[str]) -> list[Vectors]:
        """Token vectors of each query, float32[n_tokens, dimension]; raises `BadInputError` if one is not finite."""
        ...

    def encode_passages(self, passages: Sequence[Passage]) -> list[Vectors]:
        """Token vectors of each passage, float32[n_tokens, dimension]; raises `BadInputError` if one is not finite."""
        ...


class CrossEncoder(Protocol):
    """A cross-encoder, which scores a query and a passage together."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def score(self, query: str, passages: Sequence[Passage]) -> Scores:
        """Scores float32[n_passages], higher is more relevant; raises `BadInputError` for a score that is not finite."""
        ...

    def cut(self, query: str, passages: Sequence[Passage]) -> npt.NDArray[np.bool_]:
        """Whether each passage is too long for the model together with the query and is cut, bool[n_passages]."""
        ...
