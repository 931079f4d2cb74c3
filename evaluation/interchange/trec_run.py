"""TREC run files: `question Q0 passage rank score tag`, a line for each ranked passage."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.records import Ids, Scores
from berdseye.data.text_lines import Line, read_lines
from berdseye.evaluation.interchange.rows import RunRows, file_name, is_whole, passage_name, refuse_repeated

_FIELDS = 6


def read_trec_run(path: Path) -> RunRows:
    """The rows of a run file, gzipped or not.

    Scores decide the order, as in trec_eval, not the ranks. Raises `BadInputError` with file and line for a line that is none,
    a score that is not a number, and a passage or rank that a question has twice.
    """
    return parse_trec_run(read_lines(path), path)


def parse_trec_run(lines: Iterable[Line], where: str | Path, *, may_be_empty: bool = False) -> RunRows:
    """The same from lines."""
    questions: list[str] = []
    passages: list[str] = []
    ranks: list[str] = []
    scores: list[float] = []
    numbers: list[int] = []
    tag = ""
    for number, text in lines:
        fields = text.split()
        if len(fields) != _FIELDS:
            raise BadInputError(
                f"A line of a run has {_FIELDS} fields, this one {len(fields)}.",
                where=where,
                line=number,
                hint="Write it like: question Q0 passage rank score tag.",
            )
        question, _, passage, rank, score, tag = fields
        questions.append(question)
        passages.append(passage)
        ranks.append(_rank(rank, where, number))
        scores.append(_score(score, where, number))
        numbers.append(number)
    if not questions and not may_be_empty:
        raise BadInputError("The run is empty.", where=where, hint="Is it the right file?")
    held = np.array(numbers, dtype=np.int64)
    refuse_repeated(zip(questions, passages, strict=True), where, held, "Question '{0}' has passage '{1}'")
    refuse_repeated(zip(questions, ranks, strict=True), where, held, "Question '{0}' has rank {1}")
    with np.errstate(over="ignore"):
        return RunRows(where, questions, passages, np.array(scores, dtype=np.float32), held, tag)


def trec_run(question_ids: Sequence[str], ids: Ids, scores: Scores, tag: str) -> bytes:
    """A run file of rankings `ids` int64[n_questions, k] and `scores` float32[n_questions, k], -1 pads.

    Where the scores do not order a ranking as it stands (a reranker's need not), falling whole numbers take their place.
    """
    name = file_name(tag) or "run"
    written = []
    for question, row, values in zip(question_ids, ids, scores, strict=True):
        found = row >= 0
        passages, given = row[found], values[found]
        if not np.array_equal(np.lexsort((-passages, -given)), np.arange(len(passages))):
            given = np.arange(len(passages), 0, -1, dtype=np.float32)
        asked = file_name(question)
        written += [
            f"{asked} Q0 {passage_name(p)} {rank} {score} {name}\n"
            for rank, (p, score) in enumerate(zip(passages.tolist(), map(str, given), strict=True), start=1)
        ]
    return "".join(written).encode()


def _rank(text: str, where: str | Path, line: int) -> str:
    if not is_whole(text):
        raise BadInputError(
            f"The rank '{text[:40]}' is no whole number.", where=where, line=line, hint="Correct this line."
        )
    return str(int(text))


def _score(text: str, where: str | Path, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise BadInputError(f"The score '{text}' is not a number.", where=where, line=line, hint="Correct this line.")
    return value
