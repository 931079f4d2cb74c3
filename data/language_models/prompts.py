"""Prompts with slots: our own, which fence what is put in them, and a paper's, which are read at run time as released."""

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

    A fenced template puts each value between tags of the slot's name, so that text from a passage or a person cannot pass
    for an instruction; a released one puts it in as it is.
    """

    name: str
    messages: Prompt
    fenced: bool = True

    @property
    def version(self) -> str:
        """Hash of the wording (12 hex digits): another wording is another version."""
        return hashlib.sha256(json.dumps([self.fenced, self.messages]).encode()).hexdigest()[:12]

    def fill(self, values: Mapping[str, str]) -> Prompt:
        """The messages with each `[Slot]` replaced by its value; a value that looks like a slot stays as it is."""
        slots = re.compile("|".join(re.escape(f"[{slot}]") for slot in values))
        tags = _tags(values)

        def value(found: re.Match[str]) -> str:
            slot = found.group()[1:-1]
            text = clean(values[slot])
            if not self.fenced:
                return text
            tag = slot.lower()
            return f"<{tag}>\n{tags.sub('‹', text)}\n</{tag}>"

        return tuple(Message(m.role, slots.sub(value, m.content)) for m in self.messages)


def _tags(slots: Iterable[str]) -> re.Pattern[str]:
    """The opening bracket of whatever a model may take for a tag of a slot, even with unseen characters inside the name."""
    names = "|".join(f"{_UNSEEN}*".join(map(re.escape, slot)) for slot in slots)
    return re.compile(rf"[<＜﹤](?=[\W_]*(?:{names})\b)", re.IGNORECASE)


def without_system(prompt: Prompt) -> Prompt:
    """The same with the system turn at the head of the first user turn, for models that take none."""
    match prompt:
        case (Message("system", instruction), Message("user", content), *rest):
            return (Message("user", f"{instruction}\n\n{content}"), *rest)
    return prompt


def read_prompt(path: Path, slots: Sequence[str]) -> PromptTemplate:
    """A prompt file as a paper released it: one user message, or the turns of ChatML where it is written so.

    Raises `BadInputError` where it cannot be read or lacks one of the `slots`.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"The prompt cannot be read: {error}.", where=path, hint="Give a UTF-8 text.") from error
    for slot in slots:
        if f"[{slot}]" not in text:
            raise BadInputError(f"The prompt has no [{slot}].", where=path, hint="Write it where the text is to stand.")
    turns = tuple(Message(cast(Role, role), content) for role, content in _CHATML_TURN.findall(text))
    return PromptTemplate(path.name, turns or (Message("user", text),), fenced=False)
