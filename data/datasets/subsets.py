"""Parts of a data set: its first questions, or a seeded sample of them."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from berdseye.data.errors import BadInputError
from berdseye.data.given_options import not_with, only_with

if TYPE_CHECKING:
    from berdseye.data.records import Question


class Subset(NamedTuple):
    """The first `limit` questions, or a random `sample` of that many questions drawn with the seed `sample_seed`; otherwise all
    questions.

    Raises `BadInputError` for both, for numbers below 1, and for a seed without a sample.
    """

    limit: int | None = None
    sample: int | None = None
    sample_seed: int = 0

    def of(self, questions: "Sequence[Question]") -> "list[Question]":
        """The questions of this part, in the order of the data set; all of them if there are fewer than asked for.

        The draw depends on the seed and the ids of the questions alone: equal seeds draw equal questions, whatever their order,
        and a larger sample contains the smaller ones.
        """
        self.check()
        if self.sample is None:
            return list(questions[: self.limit])
        drawn = sorted(range(len(questions)), key=lambda n: _rank(questions[n].id, self.sample_seed))[: self.sample]
        return [questions[n] for n in sorted(drawn)]

    def check(self) -> None:
        """Raise `BadInputError` unless the options fit one another."""
        not_with("--sample", self.sample is not None, "limit")
        only_with("--sample", self.sample is not None, "sample_seed")
        if self.limit is not None and self.sample is not None:
            raise BadInputError("A limit and a sample exclude each other.", hint="Give one of them.")
        if min(n for n in (self.limit, self.sample, 1) if n is not None) < 1:
            raise BadInputError("The number of questions must be at least 1.", hint="Give a larger number.")

    @property
    def settings(self) -> dict[str, int]:
        """What a stored result records about this part; empty for all questions."""
        if self.sample is not None:
            return {"sample": self.sample, "sample_seed": self.sample_seed}
        return {} if self.limit is None else {"limit": self.limit}


def _rank(question: str, seed: int) -> bytes:
    return hashlib.blake2b(f"{seed} {question}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
