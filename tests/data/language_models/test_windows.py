"""What a model says of how much it reads, wherever it says it."""

from types import SimpleNamespace

import pytest
from transformers import GPT2Config, LlavaConfig, T5Config

from berdseye.data.language_models.local import context_window

NO_LIMIT = int(1e30)
"""What transformers' tokenizers name where they were told none."""


@pytest.mark.parametrize(
    ("config", "of_tokenizer", "window"),
    [
        (GPT2Config(n_positions=64), 1024, 64),
        (GPT2Config(n_positions=64), 32, 32),
        (GPT2Config(n_positions=64), NO_LIMIT, 64),
        (T5Config(), NO_LIMIT, None),
        (T5Config(), 512, 512),
        (LlavaConfig(text_config=GPT2Config(n_positions=96)), NO_LIMIT, 96),
    ],
)
def test_the_smaller_window_counts(config: object, of_tokenizer: int, window: int | None) -> None:
    assert context_window(config, SimpleNamespace(model_max_length=of_tokenizer)) == window
