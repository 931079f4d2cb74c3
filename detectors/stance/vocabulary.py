"""A smaller table of words for a network: entries that its training texts rarely contain leave it.

The table of words is a third to a half of a small network, and most of it is names and other languages. A word whose entry left
is read as its pieces, like every word that never had an entry.
"""

import json
from collections import Counter
from collections.abc import Sequence
from string import ascii_letters, digits, punctuation

from tokenizers import Tokenizer
from torch import nn

from berdseye.data.errors import BadInputError
from berdseye.detectors.stance.network import PairTokenizer, StanceNetwork

_PIECE = "##"
_ALWAYS = frozenset(ascii_letters + digits + punctuation)
_AT_ONCE = 2000


def keep_words(network: StanceNetwork, tokenizer: PairTokenizer, texts: Sequence[str], most: int) -> None:
    """Leave the `most` entries in the tables of a network and its tokenizer that are most frequent in texts.

    Special tokens and the characters of ASCII always stay; of equally frequent entries, the first in the table stay. Raises
    `BadInputError` if the tokenizer is not of the kind WordPiece, or if those that always stay are more than `most`.
    """
    described = json.loads(tokenizer.tokenizer.to_str())
    if described["model"]["type"] != "WordPiece":
        raise BadInputError(
            f"Words can leave a WordPiece table only, not one of the kind {described['model']['type']}."
        )
    entries: dict[str, int] = described["model"]["vocab"]
    special = {token["content"] for token in described["added_tokens"]}
    counts = _counts(tokenizer.tokenizer, texts)
    first = {entry for entry in entries if entry in special or entry.removeprefix(_PIECE) in _ALWAYS}
    if len(first) > most:
        raise BadInputError(f"At least {len(first):,} entries must stay in the table of words, not {most:,}.")
    ranked = sorted(entries, key=lambda entry: (entry not in first, -counts[entries[entry]], entries[entry]))
    kept = sorted(ranked[:most], key=entries.__getitem__)
    numbers = {entry: number for number, entry in enumerate(kept)}
    described["model"]["vocab"] = numbers
    for token in described["added_tokens"]:
        token["id"] = numbers[token["content"]]
    described["post_processor"] = None  # it adds special tokens by their former numbers; `PairTokenizer` adds its own
    vectors = network.words.weight[[entries[entry] for entry in kept]].detach()
    network.words = nn.Embedding(len(kept), vectors.shape[1], _weight=vectors)
    tokenizer.use(Tokenizer.from_str(json.dumps(described)))


def _counts(tokenizer: Tokenizer, texts: Sequence[str]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for start in range(0, len(texts), _AT_ONCE):
        for encoded in tokenizer.encode_batch(list(texts[start : start + _AT_ONCE]), add_special_tokens=False):
            counts.update(encoded.ids)
    return counts
