"""Prompts of measures of answers from files, such as those of a paper; Berdseye contains none of their text."""

import ast
import re
from pathlib import Path

from berdseye.data.errors import BadInputError
from berdseye.data.language_models.prompts import PromptTemplate, read_prompt
from berdseye.data.language_models.protocol import Message
from berdseye.evaluation.answer_measures.items import ANSWER, QUESTION


def released_prompt(file: str | Path) -> PromptTemplate:
    """Read a prompt from a text file with `[Question]` and `[Answer]`, or from a Python script's text with `{question}` and
    `{answer}`.

    A script is parsed, never run. Raises `BadInputError` if the file cannot be read, or if not exactly one text has both slots.
    """
    path, slots = Path(file), (QUESTION, ANSWER)
    if path.suffix != ".py":
        return read_prompt(path, slots)
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        raise BadInputError(f"The script cannot be read: {error}.", where=path, hint="Give a Python file.") from error
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    names = [slot.lower() for slot in slots]
    matching = [text for text in texts if all(f"{{{name}}}" in text for name in names)]
    if len(matching) != 1:
        raise BadInputError(
            f"The script has {len(matching)} texts with {' and '.join(f'{{{n}}}' for n in names)}, exactly 1 is needed.",
            where=path,
            hint="Put the prompt into a separate text file.",
        )
    by_name = dict(zip(names, slots, strict=True))
    filled = re.sub(
        r"\{(\w+)\}|\{\{|\}\}", lambda m: f"[{by_name[m[1]]}]" if m[1] in by_name else m[0][:1], matching[0]
    )
    return PromptTemplate(path.name, (Message("user", filled),), fenced=False)
