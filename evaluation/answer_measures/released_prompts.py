"""Prompts of the released code, read at run time from the files that hold them; none of their wording is ours."""

import ast
import re
from collections.abc import Sequence
from pathlib import Path

from berdseye.data.errors import BadInputError
from berdseye.data.language_models.prompts import PromptTemplate, read_prompt
from berdseye.data.language_models.protocol import Message


def released_prompt(path: Path, slots: Sequence[str]) -> PromptTemplate:
    """The prompt in a text file with `[Question]` and the like, or the text in a Python script that holds `{question}`.

    A script is read, never run. Raises `BadInputError` where no text has all the slots.
    """
    if path.suffix != ".py":
        return read_prompt(path, slots)
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        raise BadInputError(f"The script cannot be read: {error}.", where=path, hint="Give a Python file.") from error
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    names = [slot.lower() for slot in slots]
    found = [text for text in texts if all(f"{{{name}}}" in text for name in names)]
    if len(found) != 1:
        raise BadInputError(
            f"The script holds {len(found)} texts with {' and '.join(f'{{{n}}}' for n in names)}.",
            where=path,
            hint="Put the prompt into a text file of its own.",
        )
    by_name = dict(zip(names, slots, strict=True))
    filled = re.sub(r"\{(\w+)\}|\{\{|\}\}", lambda m: f"[{by_name[m[1]]}]" if m[1] in by_name else m[0][:1], found[0])
    return PromptTemplate(path.name, (Message("user", filled),), fenced=False)
