"""The lines of completions: labelled, numbered, or plain."""

import re

from berdseye.evaluation.construction.asking import UnreadableError

_WORD = re.compile(r"\w")
_LABELLED = re.compile(r"^[\W_]*(?P<label>[A-Za-z][A-Za-z ]{0,20}?)[\W_]*[:：][\W_]*(?P<text>\S.*)$")
_NUMBERED = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,3}[.):])\s*")
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)


def labelled_lines(text: str, *labels: str) -> dict[str, str]:
    """Return the text after each label ("Supporting: ...") of a completion, in lower case; raises `UnreadableError` if one is
    missing.

    With as many lines as labels and no label at all, the lines are in the order of the labels.
    """
    lines = completion_lines(text)
    found: dict[str, str] = {}
    for line in lines:
        if (match := _LABELLED.match(line)) and (label := match["label"].strip().casefold()) in labels:
            found.setdefault(label, match["text"].strip(' *_"“”'))
    if not found and len(lines) == len(labels):
        found = dict(zip(labels, (without_number(line) for line in lines), strict=True))
    missing = [label for label in labels if not found.get(label)]
    if missing:
        raise UnreadableError(f"no {missing[0]} in the completion")
    return found


def completion_lines(text: str) -> list[str]:
    """Return the lines of a completion that have words, without a model's thoughts."""
    return [line.strip() for line in _THOUGHTS.sub("", text).splitlines() if _WORD.search(line)]


def without_number(line: str) -> str:
    """Return a line without the number or bullet in front, and without quotation marks around it."""
    return _NUMBERED.sub("", line).strip(' *_"“”')
