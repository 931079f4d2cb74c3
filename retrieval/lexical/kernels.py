"""The loops over postings: compiled by Numba where it is installed, otherwise as NumPy can express them.

Both give the same results. On a corpus of millions of passages the compiled loops are several times faster. Only they can leave
out postings (`pieces`): NumPy's loops take as long to choose as to score.
"""

from typing import TYPE_CHECKING, Any

pieces: Any = None
"""The loops that search postings piece by piece; None without Numba."""

if TYPE_CHECKING:
    from berdseye.retrieval.lexical.vectorised import accumulate, best, find, gather, invert, ranked, scatter, within
else:
    try:
        from berdseye.retrieval.lexical import compiled_pieces as pieces
        from berdseye.retrieval.lexical.compiled import accumulate, best, find, gather, invert, ranked, scatter, within
    except ModuleNotFoundError as error:
        if error.name != "numba":
            raise
        from berdseye.retrieval.lexical.vectorised import (
            accumulate,
            best,
            find,
            gather,
            invert,
            ranked,
            scatter,
            within,
        )

__all__ = ["accumulate", "best", "find", "gather", "invert", "pieces", "ranked", "scatter", "within"]
