"""How many tokens a model of transformers reads, and writes, at once."""

from typing import Any

_PLAUSIBLE = 1_000_000
"""Tokenizers that were told no limit name a number far beyond this one."""


def told_window(config: Any, tokenizer: Any) -> int | None:
    """The smaller of what the configuration and the tokenizer say, in tokens; None where neither says anything.

    A model that reads images too keeps its limit in the configuration of its text part.
    """
    told = (getattr(config.get_text_config(), "max_position_embeddings", None), tokenizer.model_max_length)
    return min((int(n) for n in told if n and n < _PLAUSIBLE), default=None)
