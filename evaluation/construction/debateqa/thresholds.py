"""The cosines from which on DebateQA takes two texts for the same (section 3, appendix A)."""

from berdseye.data.errors import BadInputError

THRESHOLD = 0.78
"""Two questions with this cosine are duplicates (gte-large-en-v1.5)."""
DISTINCT = 0.75
"""Two points of view of a question with this cosine are reviewed by people."""


def checked_threshold(threshold: float) -> float:
    """Return `threshold` if it can be a least cosine of duplicates; raises `BadInputError` otherwise."""
    if not 0 < threshold <= 1:
        raise BadInputError(
            f"The threshold must be above 0 and at most 1, got {threshold:g}.", hint=f"DebateQA uses {THRESHOLD:g}."
        )
    return threshold
