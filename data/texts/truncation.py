"""How a truncation is reported: the sentence about texts that a model cut because they are too long for it."""


def cut_note(reader: str, count: int | None, of: int | None = None, what: str = "pairs") -> str:
    """Return the sentence that `count` of `of` pairs have a text that `reader` cut; empty for none and for an unknown number.

    `reader` is the name of a detector or of another model that reads pairs of texts. `of` None leaves the total out, and `what`
    names the pairs in the plural.
    """
    if not count:
        return ""
    total = "" if of is None else f" of {of:,}"
    noun = what if of is not None or count > 1 else what.removesuffix("s")
    return (
        f"{count:,}{total} {noun} {'has' if count == 1 else 'have'} a text that is too long for {reader} and was cut."
    )
