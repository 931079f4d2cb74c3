"""What every format of runs and labels is read into: columns, with the line that each row came from."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError

_NOT_IN_A_NAME = re.compile(r"[\s%]")
_DIGITS = 10
_LONGEST_NUMBER = 20
PLAIN = "0"
"""The subtopic of a label that is of no perspective: the passage is relevant to the question or is not."""


@dataclass(frozen=True)
class RunRows:
    """Ranked passages as they stand in a file: `scores` float32[n_rows], `lines` int64[n_rows]; `tag` names the run."""

    where: str | Path
    questions: list[str]
    passages: list[str]
    scores: npt.NDArray[np.float32]
    lines: npt.NDArray[np.int64]
    tag: str = ""


@dataclass(frozen=True)
class LabelRows:
    """Labels as they stand in a file: `labels` bool[n_rows], `lines` int64[n_rows]; `subtopics` are the perspectives'
    numbers from 1, or `PLAIN`."""

    where: str | Path
    questions: list[str]
    subtopics: list[str]
    passages: list[str]
    labels: npt.NDArray[np.bool_]
    lines: npt.NDArray[np.int64]

    @property
    def plain(self) -> bool:
        """Whether no row is of a perspective."""
        return set(self.subtopics) == {PLAIN}


def file_name(text: str) -> str:
    """An id or name as a field of a file whose fields are parted by white space: that, and %, as %20 and so on."""
    return _NOT_IN_A_NAME.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), text)


def is_whole(text: str) -> bool:
    """Whether a field is a whole number, and no longer than any that is meant."""
    return text.removeprefix("-").isdecimal() and len(text) <= _LONGEST_NUMBER


def passage_name(passage: int) -> str:
    """A passage's id in a file: ten digits, so that programs that break ties by text (trec_eval) break them as we do."""
    return f"{passage:0{_DIGITS}d}"


def refuse_repeated(
    rows: Iterable[tuple[str, ...]], where: str | Path, lines: npt.NDArray[np.int64], what: str
) -> None:
    """Raise `BadInputError` at the first row whose fields stood before; `what` takes the fields by number."""
    first: dict[tuple[str, ...], int] = {}
    for fields, line in zip(rows, lines.tolist(), strict=True):
        if fields in first:
            said = what.format(*fields)
            raise BadInputError(
                f"{said} twice, first in line {first[fields]}.", where=where, line=line, hint="Leave one of them out."
            )
        first[fields] = line
