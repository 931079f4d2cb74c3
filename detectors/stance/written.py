"""Texts with perspectives that a large language model wrote or judged for this project.

Six sources. Those of topics have several texts with the same six perspectives for each topic, three pairs of contraries:

- `written`: 11 passages a topic that are hard on purpose. Many imply what they mean, quote what they reject, say the opposite of
  what they mean, or take no side at all.
- `extracts`: 8 texts a topic that look like pieces of web pages as a search brings them. Most begin or end inside a sentence, and
  many are about one of the other perspectives, about both sides, or about something else.
- `points`: 8 texts a motion as on a debate site, which seldom repeat the motion's words, one of them a rebuttal, and one a
  description that takes no side.

The others have texts of their own:

- `judged`: passages that a search finds in other texts, with judged perspectives.
- `remarks`: texts of one to eight sentences, each with two pairs of contraries, of which it supports one and opposes the other,
  and two perspectives that it does not speak to; words hardly tell them apart.
- `inferences`: texts of one to three sentences with six statements that follow from them, contradict them, or do neither;
  negations are about as common in each of the three.

What is near the demo, the contrasts and the held-out data was left out. All files are in three parts, by topic or text: training
reads `train`, choices rest on `dev`, and figures on `test`.
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from berdseye.detectors.stance.examples import CONTRADICTED, ENTAILED, UNRELATED, Allowed, Example, Statement

Part = Literal["train", "dev", "test"]
WRITTEN, JUDGED, REMARKS, EXTRACTS = "written", "judged", "remarks", "extracts"
POINTS, INFERENCES = "points", "inferences"
WRITTEN_FILES = {
    source: Path(__file__).with_name(name)
    for source, name in {
        WRITTEN: "written_passages.jsonl",
        JUDGED: "judged_passages.jsonl",
        REMARKS: "written_remarks.jsonl",
        EXTRACTS: "written_extracts.jsonl",
        POINTS: "written_points.jsonl",
        INFERENCES: "written_inferences.jsonl",
    }.items()
}
"""The files of the sources."""
OF_TOPICS = (WRITTEN, EXTRACTS, POINTS)
WITH_CONTRARIES = (WRITTEN, REMARKS, EXTRACTS, POINTS)
"""Sources whose perspectives 1 and 2 are contraries, and so on; of remarks, the first four."""
ALLOWED: dict[str, Allowed] = {"S": ENTAILED, "O": CONTRADICTED, "N": UNRELATED}
"""The stances that the letters of the files stand for."""


class WrittenText(NamedTuple):
    """A text with its perspectives and their letters (S, O, N); `kind` says what makes it hard, or is its source, and `group` is
    its topic, or its number if it has none."""

    group: str
    kind: str
    text: str
    perspectives: tuple[tuple[str, str], ...]


@lru_cache(maxsize=18)
def written_texts(source: str, part: Part) -> tuple[WrittenText, ...]:
    """Return the texts of a source and part, in the order of the file."""
    lines = WRITTEN_FILES[source].read_text(encoding="utf-8").splitlines()
    rows = [row for line in lines if (row := json.loads(line))["split"] == part]
    if source in OF_TOPICS:
        return tuple(
            WrittenText(
                row["topic"], one["kind"], one["text"], tuple(zip(row["perspectives"], one["labels"], strict=True))
            )
            for row in rows
            for one in row["passages"]
        )
    return tuple(
        WrittenText(str(number), source, row["passage"], tuple((text, letter) for text, letter in row["perspectives"]))
        for number, row in enumerate(rows)
    )


def written_examples() -> dict[str, list[Example]]:
    """Return the training parts of all files, by source.

    Statements of inferences come with negations of their own, and no rule denies them.
    """
    return {
        source: [
            Example(
                one.text,
                tuple(
                    Statement(text, ALLOWED[letter], deniable=source != INFERENCES) for text, letter in one.perspectives
                ),
            )
            for one in written_texts(source, "train")
        ]
        for source in WRITTEN_FILES
    }
