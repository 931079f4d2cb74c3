"""A prompt that a construction sends for each of its rows, and the reading of its completions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.evaluation.construction.rows import Row

Values = Callable[[Row], Mapping[str, str]]
Read = Callable[[Row, str], Mapping[str, Any]]


class UnreadableError(ValueError):
    """Raised by a reader of completions, with the reason why one cannot be used."""


@dataclass(frozen=True)
class Asking:
    """A prompt that is sent once for each row, and how its completion is read.

    `name` is that of `--prompt NAME=FILE`, and `slots` are those that such a file must have. `values` fills the slots from a row;
    `read` returns the fields that a completion gives, or raises `UnreadableError`. `words` is the assumed length of each slot in
    a dry run, before the texts exist.
    """

    name: str
    prompt: PromptTemplate
    slots: tuple[str, ...]
    values: Values
    read: Read
    max_tokens: int = 256
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    words: int = 30
