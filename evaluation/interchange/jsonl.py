"""Berdseye's own JSONL format. Runs have one question per line with its `ranking`, labels one label per line.

    {"question": "zoos", "ranking": [{"passage": 17, "score": 12.5}, …]}
    {"question": "zoos", "perspective": 1, "passage": 17, "label": 1}

Perspectives are numbered from 1 in the order of the data set; a label without a perspective applies to the whole question.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import read_rows
from berdseye.data.records import Ids, Scores
from berdseye.evaluation.interchange.ranking import PLAIN, UNRANKED_NAME, LabelRows, RunRows, reject_repeated
from berdseye.evaluation.labels.qrels import UNRANKED


def read_jsonl_run(path: Path) -> RunRows:
    """Read a run in JSONL; a ranking without scores keeps its order. Raises `BadInputError` with file and line."""
    questions: list[str] = []
    passages: list[str] = []
    scores: list[float] = []
    numbers: list[int] = []
    seen: dict[str, int] = {}
    for line, row in read_rows(path):
        question, ranking = _text(row, "question", path, line), row.get("ranking")
        if not isinstance(ranking, list) or not all(isinstance(item, dict) for item in ranking):
            raise BadInputError(
                "`ranking` is not a list of objects.",
                where=path,
                line=line,
                hint='Write "ranking": [{"passage": 17}, …].',
            )
        if question in seen:
            raise BadInputError(
                f"Question '{question}' is ranked twice, first in line {seen[question]}.",
                where=path,
                line=line,
                hint="Remove one of the rankings.",
            )
        seen[question] = line
        for place, item in enumerate(ranking):
            questions.append(question)
            passages.append(_text(item, "passage", path, line))
            scores.append(_score(item.get("score", len(ranking) - place), path, line))
            numbers.append(line)
    if not seen:
        raise BadInputError("The run is empty.", where=path, hint="Give a file with one question per line.")
    lines = np.array(numbers, dtype=np.int64)
    reject_repeated(zip(questions, passages, strict=True), path, lines, "Question '{0}' has passage '{1}'")
    with np.errstate(over="ignore"):
        return RunRows(path, questions, passages, np.array(scores, dtype=np.float32), lines, path.stem)


def jsonl_run(question_ids: Sequence[str], ids: Ids, scores: Scores) -> bytes:
    """Write rankings `ids` int64[n_questions, k], padded with -1, and `scores` float32[n_questions, k] as a run in JSONL."""
    return _lines(
        {
            "question": question,
            "ranking": [
                {"passage": p, "score": float(str(score))}
                for p, score in zip(row[row >= 0].tolist(), values, strict=False)
            ],
        }
        for question, row, values in zip(question_ids, ids, scores, strict=True)
    )


def read_jsonl_labels(path: Path) -> LabelRows:
    """Read labels in JSONL; `label` is 0 or 1. Raises `BadInputError` with file and line."""
    rows: list[tuple[str, str, str]] = []
    labels: list[bool] = []
    numbers: list[int] = []
    for line, row in read_rows(path):
        label = row.get("label")
        if not isinstance(label, int | float) or label not in (0, 1):
            raise BadInputError(
                f"The label {label!r} is neither 0 nor 1.", where=path, line=line, hint="Correct this line."
            )
        subtopic = _text(row, "perspective", path, line) if "perspective" in row else PLAIN
        rows.append((_text(row, "question", path, line), subtopic, _text(row, "passage", path, line)))
        labels.append(bool(label))
        numbers.append(line)
    if not rows:
        raise BadInputError("The file contains no label.", where=path, hint="Give a file with one label per line.")
    lines = np.array(numbers, dtype=np.int64)
    reject_repeated(rows, path, lines, "Question '{0}', perspective {1}: passage '{2}' is labelled")
    questions, subtopics, passages = (list(column) for column in zip(*rows, strict=True))
    return LabelRows(path, questions, subtopics, passages, np.array(labels, dtype=bool), lines)


def jsonl_labels(
    question_ids: Sequence[str], passages: Sequence[Ids], labels: Sequence[npt.NDArray[np.float64]]
) -> bytes:
    """Write labels as JSONL; by question `passages` int64[n_i] and `labels` float64[n_i, m_i], NaN for no label."""
    return _lines(
        {"question": question, "perspective": number, "passage": _named(passage), "label": int(value)}
        for question, ids, block in zip(question_ids, passages, labels, strict=True)
        for passage, row in zip(ids.tolist(), block.tolist(), strict=True)
        for number, value in enumerate(row, start=1)
        if value == value  # skips NaN
    )


def _named(passage: int) -> int | str:
    return UNRANKED_NAME if passage == UNRANKED else passage


def _lines(rows: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "replace")


def _text(row: dict[str, Any], name: str, where: Path, line: int) -> str:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise BadInputError(
            f"`{name}` is neither a text nor a whole number.", where=where, line=line, hint="Correct this line."
        )
    return str(value)


def _score(value: Any, where: Path, line: int) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise BadInputError(f"The score {value!r} is not a number.", where=where, line=line, hint="Correct this line.")
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
