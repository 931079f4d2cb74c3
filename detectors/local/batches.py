"""Batches of texts of like length, so that little is padded."""

from collections.abc import Iterator, Sequence


def by_length(lengths: Sequence[int], most: int, most_tokens: int) -> Iterator[list[int]]:
    """Places of all `lengths`, the longest first: at most `most` at a time, and `most_tokens` when all are padded alike.

    A text that is longer than that stands alone.
    """
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    start = 0
    while start < len(order):
        size = max(1, min(most, most_tokens // max(1, lengths[order[start]])))
        yield order[start : start + size]
        start += size
