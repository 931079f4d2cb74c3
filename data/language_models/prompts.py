"""Prompt templates with slots: Berdseye's own, which fence the inserted texts, and a paper's, read as released."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from berdseye.data.errors import BadInputError
from berdseye.data.language_models.protocol import Message, Prompt, Role
from berdseye.data.texts.passages import clean

_UNSEEN = "[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]"
_CHATML_TURN = re.compile(r"<\|im_start\|>(system|user|assistant)[ \t]*\n(.*?)(?:\n?<\|im_end\|>|\Z)", re.DOTALL)


@dataclass(frozen=True)
class PromptTemplate:
    """Messages with slots such as `[Question]`.

    A fenced template puts each value between tags with the slot's name, so that a text from a passage or a person cannot act
    as an instruction; a released template inserts values unchanged.
    """

    name: str
    messages: Prompt
    fenced: bool = True

    @property
    def version(self) -> str:
        """A hash of the wording, 12 hex digits, which changes with the wording."""
        return hashlib.sha256(json.dumps([self.fenced, self.messages]).encode()).hexdigest()[:12]

    def fill(self, values: Mapping[str, str]) -> Prompt:
        """The messages with each `[Slot]` replaced by its value; a slot inside a value is not replaced."""
        slots = re.compile("|".join(re.escape(f"[{slot}]") for slot in values))
        tags = _tags(values)

        def value(match: re.Match[str]) -> str:
            slot = match.group()[1:-1]
            text = clean(values[slot])
            if not self.fenced:
                return text
            tag = slot.lower()
            return f"<{tag}>\n{tags.sub('‹', text)}\n</{tag}>"

        return tuple(Message(m.role, slots.sub(value, m.content)) for m in self.messages)


def _tags(slots: Iterable[str]) -> re.Pattern[str]:
    """A pattern for the opening bracket of anything that a model may read as a slot's tag, even with invisible characters."""
    names = "|".join(f"{_UNSEEN}*".join(map(re.escape, slot)) for slot in slots)
    return re.compile(rf"[<＜﹤](?=[\W_]*(?:{names})\b)", re.IGNORECASE)


def without_system(prompt: Prompt) -> Prompt:
    """The prompt with its system turn moved to the start of the first user turn, for models without system turns."""
    match prompt:
        case (Message("system", instruction), Message("user", content), *rest):
            return (Message("user", f"{instruction}\n\n{content}"), *rest)
    return prompt


def read_prompt(path: Path, slots: Sequence[str]) -> PromptTemplate:
    """Read a prompt file as a paper released it: one user message, or the turns of a text in ChatML.

    Raises `BadInputError` if it cannot be read or lacks one of the `slots`.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(
            f"The prompt cannot be read: {error}.", where=path, hint="Give a UTF-8 text file."
        ) from error
    for slot in slots:
        if f"[{slot}]" not in text:
            raise BadInputError(
                f"The prompt has no [{slot}].", where=path, hint="Add it where the text is to be inserted."
            )
    turns = tuple(Message(cast(Role, role), content) for role, content in _CHATML_TURN.findall(text))
    return PromptTemplate(path.name, turns or (Message("user", text),), fenced=False)
