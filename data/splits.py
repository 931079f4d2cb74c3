"""Which split a question belongs to, so that no question is trained on and tested on."""

import hashlib
import unicodedata

SPLITS = ("train", "dev", "test")
_LIMITS = (0.8, 0.9, 1.0)


def split_of(question: str) -> str:
    """'train', 'dev' or 'test' (80/10/10) by a hash of the question's text, whatever its case, spacing and Unicode form."""
    draw = int.from_bytes(hashlib.blake2b(same_question(question).encode(), digest_size=8).digest()) / 2**64
    return next(name for name, limit in zip(SPLITS, _LIMITS, strict=True) if draw < limit)


def same_question(question: str) -> str:
    """A text that is equal for all writings of a question: case, spacing and Unicode form do not count."""
    return " ".join(unicodedata.normalize("NFC", question).casefold().split())
