"""Whether a prompt fits into what a model reads at once."""

from typing import NamedTuple

from berdseye.data.language_models.local import LocalModel
from berdseye.data.language_models.protocol import LanguageModel, Prompt
from berdseye.data.language_models.windows import told_window

_CHARACTERS_A_TOKEN = 3
"""Cautious: English has four to five."""
_TOKENS_A_TURN = 16


class Window(NamedTuple):
    """A model's window. Of a local model it is known, and tokens are counted; of a server `tokens` must be told, and a token
    is taken to be three characters. Where nothing is known everything fits, and the server refuses what does not."""

    model: LanguageModel
    tokens: int | None = None

    def fits(self, prompt: Prompt, max_tokens: int) -> bool:
        """Whether the prompt and `max_tokens` of an answer fit."""
        if isinstance(self.model, LocalModel):
            loaded = self.model.load()
            known = told_window(loaded.model.config, loaded.tokenizer)
            longest = min((n for n in (known, self.tokens) if n is not None), default=None)
            if longest is None:
                return True
            written = self.model.written(prompt)
            bare = loaded.tokenizer.chat_template is None
            return len(loaded.tokenizer(written, add_special_tokens=bare)["input_ids"]) + max_tokens <= longest
        if self.tokens is None:
            return True
        length = sum(len(message.content) / _CHARACTERS_A_TOKEN + _TOKENS_A_TURN for message in prompt)
        return length + max_tokens <= self.tokens
