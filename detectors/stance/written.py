"""Passages, extracts, remarks and perspectives that a large language model wrote for this project, and other passages that it
judged.

`written_passages.jsonl` has 11 passages and six perspectives for each of its topics, three pairs of contraries, with the stance
of each passage towards each perspective. The passages are hard on purpose: many imply what they mean, quote what they reject, say
the opposite of what they mean, or take no side at all. `written_extracts.jsonl` has the same for other topics, with eight texts
each that look like pieces of web pages as a search brings them: most begin or end inside a sentence, and many are about one of
the other perspectives, about both sides, or about something else. `judged_passages.jsonl` has passages that a search finds in
other texts, with judged perspectives. `written_remarks.jsonl` has texts of one to eight sentences, each with two pairs of
contraries, of which it supports one and opposes the other, and two perspectives that it does not speak to; words hardly tell them
apart. What is near the demo, the contrasts and the held-out data was left out. All files are in three parts, by topic or passage:
training reads `train`, choices rest on `dev`, and figures on `test`.
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from berdseye.detectors.stance.examples import CONTRADICTED, ENTAILED, UNRELATED, Allowed, Example, Statement

WRITTEN, JUDGED, REMARKS, EXTRACTS = "written", "judged", "remarks", "extracts"
WRITTEN_FILES = tuple(
    Path(__file__).with_name(name)
    for name in ("written_passages.jsonl", "judged_passages.jsonl", "written_remarks.jsonl", "written_extracts.jsonl")
)
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
    return _of_topics(0, part)


@lru_cache(maxsize=3)
def judged_passages(part: Part) -> tuple[WrittenPassage, ...]:
    """Return the passages of other texts of a part, in the order of the file; their kind is `judged`."""
    return _alone(1, part, JUDGED)


@lru_cache(maxsize=3)
def written_remarks(part: Part) -> tuple[WrittenPassage, ...]:
    """Return the remarks of a part, in the order of the file; their kind is `remarks`.

    Perspectives 1 and 2 are contraries, and so are 3 and 4.
    """
    return _alone(2, part, REMARKS)


@lru_cache(maxsize=3)
def written_extracts(part: Part) -> tuple[WrittenPassage, ...]:
    """Return the extracts of a part, in the order of the file."""
    return _of_topics(3, part)


def written_examples() -> dict[str, list[Example]]:
    """Return the training parts of all files, by source."""
    return {
        source: [
            Example(one.text, tuple(Statement(text, ALLOWED[letter]) for text, letter in one.perspectives))
            for one in passages
        ]
        for source, read in (
            (WRITTEN, written_passages),
            (JUDGED, judged_passages),
            (REMARKS, written_remarks),
            (EXTRACTS, written_extracts),
        )
        for passages in [read("train")]
    }


def _of_topics(file: int, part: Part) -> tuple[WrittenPassage, ...]:
    """Return the passages of a file whose topics have several passages and the same perspectives for each."""
    return tuple(
        WrittenPassage(
            row["topic"],
            passage["kind"],
            passage["text"],
            tuple(zip(row["perspectives"], passage["labels"], strict=True)),
        )
        for row in _rows(file, part)
        for passage in row["passages"]
    )


def _alone(file: int, part: Part, kind: str) -> tuple[WrittenPassage, ...]:
    """Return the passages of a file whose passages have no topic in common."""
    return tuple(
        WrittenPassage(str(number), kind, row["passage"], tuple((text, letter) for text, letter in row["perspectives"]))
        for number, row in enumerate(_rows(file, part))
    )


def _rows(file: int, part: Part) -> list[dict[str, Any]]:
    text = WRITTEN_FILES[file].read_text(encoding="utf-8")
    return [row for line in text.splitlines() if (row := json.loads(line))["split"] == part]
