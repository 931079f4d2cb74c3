"""Small inverted indexes of given texts."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp
from unittest.mock import patch

from berdseye.data.records import Ranking
from berdseye.retrieval.lexical.index import LexicalIndex
from berdseye.retrieval.lexical.tokenizers import TOKENIZERS
from berdseye.retrieval.lexical.writing import build_postings


def index_of(folder: Path, texts: Sequence[str], tokenizer: str = "spaces", batch: int = 1000) -> LexicalIndex:
    """An index of texts, in a new folder below `folder`, that came in batches of a size."""
    made = Path(mkdtemp(dir=folder))
    batches = [texts[start : start + batch] for start in range(0, len(texts), batch)]
    with patch("os.fsync"):  # which takes most of the time, and matters only where the power fails
        build_postings(batches, TOKENIZERS[tokenizer], made)
    return LexicalIndex(made, TOKENIZERS[tokenizer])


def as_dict(ranking: Ranking) -> dict[int, float]:
    return dict(zip(ranking.ids.tolist(), ranking.scores.tolist(), strict=True))
