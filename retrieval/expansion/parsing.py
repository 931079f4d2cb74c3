"""Reading what a language model was asked to write as JSON, and wrote as it pleased."""

import json
import re
from contextlib import suppress
from typing import Any

from berdseye.data.passages import clean

LARGEST = 10
"""Most perspectives taken of one answer; BERDS' model wrote 6.1 a question, and never more than 10."""

_OPENING = re.compile(r"[{\[]")
_TEXT_OR_KEY = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?', re.DOTALL)
_ITEM = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.):])\s+(\S.*)$", re.MULTILINE)
_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_HEADING = re.compile(r"^\*\*[^*]+(?:\*\*\s*[:–-]|:\s*\*\*)\s*(?=\S)")


def json_values(text: str) -> list[Any]:
    """The JSON objects and lists in a text, in order, whatever fences or prose stand around them."""
    decoder = json.JSONDecoder(strict=False)
    values: list[Any] = []
    end = 0
    for opening in _OPENING.finditer(text):
        if opening.start() < end:
            continue
        try:
            value, end = decoder.raw_decode(text, opening.start())
        except ValueError:
            continue
        except RecursionError:
            break  # nobody means lists a thousand deep, and each try would take as long again
        values.append(value)
    return values


def parse_statements(text: str) -> tuple[str, ...]:
    """The distinct statements that an answer lists, at most ten, in order; none where it lists nothing.

    Understood are a JSON list or object (whose keys name its values), the whole texts of one that was cut off, and lists
    with numbers or bullets.
    """
    values = json_values(text)
    found = _texts(values[0] if len(values) == 1 else values) or _cut_off(text)
    if not found and len(items := _ITEM.findall(text)) > 1:
        found = [_HEADING.sub("", item).replace("**", "").strip().rstrip(",").strip('"“”') for item in items]
    distinct: dict[str, str] = {}
    for statement in (" ".join(clean(item).split()) for item in found):
        # One or two words name something and state nothing; in scripts without spaces they cannot be counted.
        if len(_WORD.findall(statement)) > 2 or _UNSPACED.search(statement):
            distinct.setdefault(statement.casefold(), statement)
    return tuple(distinct.values())[:LARGEST]


def _texts(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case list():
            return [text for item in value for text in (_longest(item) if isinstance(item, dict) else _texts(item))]
        case dict():
            inside = list(value.values())
            if len(inside) == 1:
                return _texts(inside[0])
            return [text for item in inside for text in (_longest(item) if isinstance(item, dict) else _texts(item))]
    return []


def _longest(value: dict[str, Any]) -> list[str]:
    """Of an object such as {"name", "text"} its statement, which is longer than what names it."""
    texts = _texts(list(value.values()))
    return [max(texts, key=len)] if texts else []


def _cut_off(text: str) -> list[str]:
    """The whole texts, keys aside, of JSON that ends too early or is not quite right."""
    opening = _OPENING.search(text)
    if opening is None:
        return []
    found: list[str] = []
    for value, key in _TEXT_OR_KEY.findall(text[opening.start() :].partition("```")[0]):
        with suppress(ValueError):
            found += [] if key else [str(json.loads(value, strict=False))]
    return found
