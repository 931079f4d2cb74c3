"""Evidence: the spans of a passage that a person points at, beside their word on it."""

import json
from collections.abc import Iterable, Sequence

from berdseye.data.errors import BadInputError

Span = tuple[int, int]
"""[start, end) in characters (code points) of the passage."""
_MOST = 100


def merged(spans: Iterable[Sequence[int]]) -> tuple[Span, ...]:
    """The spans in order, those that touch or overlap as one."""
    found: list[Span] = []
    for start, end in sorted((int(start), int(end)) for start, end in spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)


def evidence_json(spans: Iterable[Sequence[int]], passage: str) -> str | None:
    """Spans as the log keeps them: a JSON list of [start, end); None where there are none.

    Raises `BadInputError` for one that is empty or not within the passage.
    """
    held = list(spans)
    for start, end in held:
        if not 0 <= start < end <= len(passage):
            raise BadInputError(
                f"The evidence [{start}, {end}) is not within the passage of {len(passage)} characters.",
                hint="Choose it again.",
            )
    found = merged(held)
    if len(found) > _MOST:
        raise BadInputError(f"{len(found)} spans of evidence.", hint=f"Choose at most {_MOST}.")
    return json.dumps([list(span) for span in found]) if found else None


def evidence_spans(stored: str | None) -> tuple[Span, ...]:
    """The spans of what the log keeps, in order and apart."""
    return merged(json.loads(stored)) if stored else ()


def quotes(passage: str, stored: str | None) -> tuple[str, ...]:
    """The words of the passage that are the evidence."""
    return tuple(passage[start:end] for start, end in evidence_spans(stored))
