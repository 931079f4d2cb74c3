"""Naming the perspective inside a query by a language model (PIR, "Extraction")."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.protocol import LanguageModel
from berdseye.data.passages import clean
from berdseye.data.progress import Progress, silent
from berdseye.retrieval.expansion.parsing import json_values
from berdseye.retrieval.expansion.prompts import EXTRACTION, QUERY

MAX_TOKENS = 256
_WORD = re.compile(r"\w+")


class Extracted(NamedTuple):
    """A query taken apart. Where no perspective was found it is empty, and the root is the whole query."""

    root: str
    perspective: str


def extract(
    model: LanguageModel, cache: CompletionCache, queries: Sequence[str], *, progress: Progress = silent
) -> list[Extracted]:
    """Root and perspective of each query.

    How many were not found is for the caller to tell: the number of empty perspectives.
    """
    written = cache.complete(
        model, EXTRACTION, [{QUERY: query} for query in queries], max_tokens=MAX_TOKENS, progress=progress
    )
    return [_taken_apart(query, completion.text) for query, completion in zip(queries, written, strict=True)]


def qa_f1(predicted: str, gold: Sequence[str]) -> float:
    """Overlap of a predicted perspective with the nearest gold one, in [0, 1]; 0 without words.

    The intersection of their sets of lower-case words over the union, as the PIR paper prints it under the name QA-F1 (which
    elsewhere means the harmonic mean of precision and recall).
    """
    return max((_overlap(_words(predicted), _words(text)) for text in gold), default=0.0)


def _taken_apart(query: str, text: str) -> Extracted:
    for value in json_values(text):
        if isinstance(value, dict):
            root, perspective = (_text(value.get(key)) for key in ("root", "perspective"))
            if perspective:
                return Extracted(root or query, perspective)
    return Extracted(query, "")


def _text(value: Any) -> str:
    return " ".join(clean(value).split()) if isinstance(value, str) else ""


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _overlap(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0
