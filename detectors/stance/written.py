"""Passages and perspectives that a large language model wrote for this project, and passages of other texts that it judged.

`written_passages.jsonl` has 11 passages and six perspectives for each of its topics, three pairs of contraries, with the stance
of each passage towards each perspective. The passages are hard on purpose: many imply what they mean, quote what they reject, say
the opposite of what they mean, or take no side at all. `judged_passages.jsonl` has passages that a search finds in other texts,
with judged perspectives. Topics near the demo, the contrasts and the held-out data were left out. Both files are in three
parts, by topic or passage: training reads `train`, choices rest on `dev`, and figures on `test`.
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from berdseye.detectors.stance.examples import CONTRADICTED, ENTAILED, UNRELATED, Allowed, Example, Statement

WRITTEN, JUDGED = "written", "judged"
WRITTEN_FILES = tuple(Path(__file__).with_name(name) for name in ("written_passages.jsonl", "judged_passages.jsonl"))
Part = Literal["train", "dev", "test"]
ALLOWED: dict[str, Allowed] = {"S": ENTAILED, "O": CONTRADICTED, "N": UNRELATED}
"""The stances that the letters of the files stand for."""


class WrittenPassage(NamedTuple):
    """A passage with its perspectives and their letters (S, O, N); `kind` says what makes it hard, `group` is its topic, or its
    number if it was found."""

    group: str
    kind: str
    text: str
    perspectives: tuple[tuple[str, str], ...]


@lru_cache(maxsize=3)
def written_passages(part: Part) -> tuple[WrittenPassage, ...]:
    """Return the written passages of a part, in the order of the file."""
    return tuple(
        WrittenPassage(
            row["topic"],
            passage["kind"],
            passage["text"],
            tuple(zip(row["perspectives"], passage["labels"], strict=True)),
        )
        for row in _rows(0, part)
        for passage in row["passages"]
    )


@lru_cache(maxsize=3)
def judged_passages(part: Part) -> tuple[WrittenPassage, ...]:
    """Return the passages of other texts of a part, in the order of the file; their kind is `judged`."""
    return tuple(
        WrittenPassage(
            str(number), JUDGED, row["passage"], tuple((text, letter) for text, letter in row["perspectives"])
        )
        for number, row in enumerate(_rows(1, part))
    )


def written_examples() -> dict[str, list[Example]]:
    """Return the training parts of both files, by source."""
    return {
        source: [
            Example(one.text, tuple(Statement(text, ALLOWED[letter]) for text, letter in one.perspectives))
            for one in passages
        ]
        for source, passages in ((WRITTEN, written_passages("train")), (JUDGED, judged_passages("train")))
    }


def _rows(file: int, part: Part) -> list[dict[str, Any]]:
    text = WRITTEN_FILES[file].read_text(encoding="utf-8")
    return [row for line in text.splitlines() if (row := json.loads(line))["split"] == part]
