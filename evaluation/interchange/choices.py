"""The choices of those who bring a run in a file: its format, and how questions that it lacks count."""

from enum import StrEnum


class RunFormat(StrEnum):
    """The formats of runs."""

    TREC = "trec"
    BERDS = "berds"
    JSONL = "jsonl"


class Missing(StrEnum):
    """How a question without a ranking in the run counts."""

    LEFT_OUT = "left-out"
    ZERO = "zero"
