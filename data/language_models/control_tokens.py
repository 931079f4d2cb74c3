"""The control tokens of chat templates, made harmless in texts: nothing that a passage says may end its turn."""

import re

_KNOWN = re.compile(
    r"<[|｜](?=[\w ▁-]{1,40}[|｜]>)|<(?=/?s>|/?(?:start|end)_of_turn>|<SYS>>|</SYS>>|[be]os>)|\[(?=/?INST\])",
    re.IGNORECASE,
)
"""Of ChatML and Llama 3 (<|name|>), DeepSeek, Llama 2 and Mistral, and Gemma."""


def taken_apart(text: str) -> str:
    """The text with a space inside each control token, for servers that would read it as one."""
    return _KNOWN.sub(lambda found: f"{found.group()[0]} {found.group()[1:]}", text)
