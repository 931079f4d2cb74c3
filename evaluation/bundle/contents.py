"""What a bundle says of itself, and the names of its files."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from berdseye.data.errors import BadInputError
from berdseye.data.json_files import json_rows
from berdseye.data.records import Perspective, Question
from berdseye.data.text_lines import text_lines

FORMAT = 2
MANIFEST = "manifest.json"
TIE_RULE = "score descending, then passage id descending"


def run_file(name: str) -> str:
    """Where a run lies."""
    return f"runs/{name}.run"


def labels_file(dataset: str, corpus: str, by: str = "") -> str:
    """Where the labels of a data set over a corpus lie; `by` says people's, where a detector's are corrected by them."""
    return f"labels/{dataset}--{corpus}{f'.{by}' if by else ''}.qrels"


def questions_file(dataset: str) -> str:
    """Where the questions of a data set lie."""
    return f"questions/{dataset}.jsonl"


def hashes(files: Mapping[str, bytes]) -> dict[str, dict[str, Any]]:
    """The size and SHA-256 of each file."""
    return {
        name: {"bytes": len(files[name]), "sha256": hashlib.sha256(files[name]).hexdigest()} for name in sorted(files)
    }


def questions_jsonl(questions: Sequence[Question]) -> bytes:
    """Questions with their perspectives, in order."""
    rows = ({"id": q.id, "text": q.text, "perspectives": [p._asdict() for p in q.perspectives]} for q in questions)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "replace")


def read_questions(content: bytes, dataset: str, where: str) -> list[Question]:
    """The questions again; raises `BadInputError` with file and line."""
    found = []
    for line, row in json_rows(text_lines(content.decode("utf-8", "replace")), where):
        try:
            perspectives = tuple(Perspective(**p) for p in row["perspectives"])
            found.append(Question(str(row["id"]), dataset, str(row["text"]), perspectives))
        except (TypeError, KeyError) as error:
            raise BadInputError("Not a question.", where=where, line=line, hint="Get the bundle again.") from error
    return found
