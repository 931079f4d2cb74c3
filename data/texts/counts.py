"""Counts with their nouns, such as '1 pair' and '1,200 pairs'."""


def plural(count: int, one: str, many: str = "") -> str:
    """Return the word in the number of the count; `many` is needed where it does not end in s."""
    return one if count == 1 else many or f"{one}s"


def counted(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun, such as '1 pair' or '1,200 pairs'."""
    return f"{count:,} {plural(count, one, many)}"
