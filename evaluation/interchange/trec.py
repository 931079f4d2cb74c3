"""TREC run files, with a line `question Q0 passage rank score tag` for each ranked passage, and TREC qrels files, with a line
`question 0 passage relevance`. In diversity qrels the second field is a subtopic.

Subtopics are perspectives, numbered from 1 in the order of the data set. Diversity qrels are the input of ndeval, and so of
alpha-nDCG and ERR-IA in ir_measures.
"""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import Line, read_lines
from berdseye.data.records import Ids, Scores
from berdseye.evaluation.interchange.ranking import (
    PLAIN,
    LabelRows,
    RunRows,
    file_name,
    is_whole,
    passage_name,
    reject_repeated,
)

_QRELS_FIELDS = 4
_NO_SUBTOPIC = {"0", "Q0"}
_RUN_FIELDS = 6


def read_trec_qrels(path: Path) -> LabelRows:
    """Read a qrels file with or without subtopics, gzipped or not; a relevance above 0 counts as relevant.

    Raises `BadInputError` with file and line for an invalid line, a relevance that is not a whole number, and a repeated label.
    """
    return parse_trec_qrels(read_lines(path), path)


def parse_trec_qrels(lines: Iterable[Line], where: str | Path, *, may_be_empty: bool = False) -> LabelRows:
    """Parse the lines of a qrels file; `where` names the file in errors. Raises the errors of `read_trec_qrels`."""
    rows: list[tuple[str, str, str]] = []
    labels: list[bool] = []
    numbers: list[int] = []
    for number, text in lines:
        fields = text.split()
        if len(fields) != _QRELS_FIELDS:
            raise BadInputError(
                f"A line of qrels has {_QRELS_FIELDS} fields, got {len(fields)}.",
                where=where,
                line=number,
                hint="The fields are: question 0 passage relevance, or a subtopic instead of 0.",
            )
        question, subtopic, passage, relevance = fields
        if not is_whole(relevance):
            raise BadInputError(
                f"The relevance '{relevance[:40]}' is not a whole number.",
                where=where,
                line=number,
                hint="Correct this line.",
            )
        rows.append((question, PLAIN if subtopic in _NO_SUBTOPIC else subtopic, passage))
        labels.append(int(relevance) > 0)
        numbers.append(number)
    if not rows and not may_be_empty:
        raise BadInputError("The file contains no label.", where=where, hint="Give a file in TREC qrels format.")
    line_numbers = np.array(numbers, dtype=np.int64)
    reject_repeated(rows, where, line_numbers, "Question '{0}', subtopic {1}: passage '{2}' is labelled")
    questions, subtopics, passages = ([row[field] for row in rows] for field in range(3))
    return LabelRows(where, questions, subtopics, passages, np.array(labels, dtype=bool), line_numbers)


def diversity_qrels(
    question_ids: Sequence[str], passages: Sequence[Ids], labels: Sequence[npt.NDArray[np.float64]]
) -> bytes:
    """Write diversity qrels; by question `passages` int64[n_i] and `labels` float64[n_i, m_i], NaN for no label."""
    lines = []
    for question, ids, block in zip(question_ids, passages, labels, strict=True):
        name = file_name(question)
        for passage, row in zip(ids.tolist(), block.tolist(), strict=True):
            lines += [
                f"{name} {number} {passage_name(passage)} {int(value)}\n"
                for number, value in enumerate(row, start=1)
                if value == value  # skips NaN
            ]
    return "".join(lines).encode()


def trec_qrels(
    question_ids: Sequence[str], passages: Sequence[Ids], labels: Sequence[npt.NDArray[np.float64]]
) -> bytes:
    """Write qrels without subtopics: a passage is relevant if it supports a perspective; passages without a label are omitted."""
    lines = []
    for question, ids, block in zip(question_ids, passages, labels, strict=True):
        known = ~np.isnan(block).all(axis=1) if block.shape[1] else np.zeros(len(block), dtype=bool)
        relevant = (block == 1).any(axis=1).astype(int)
        lines += [
            f"{file_name(question)} {PLAIN} {passage_name(p)} {value}\n"
            for p, value in zip(ids[known].tolist(), relevant[known].tolist(), strict=True)
        ]
    return "".join(lines).encode()


def read_trec_run(path: Path) -> RunRows:
    """Read a run file, gzipped or not.

    Scores determine the order, as in trec_eval, not the ranks. Raises `BadInputError` with file and line for an invalid line, a
    score that is not a number, and a passage or rank that a question has twice.
    """
    return parse_trec_run(read_lines(path), path)


def parse_trec_run(lines: Iterable[Line], where: str | Path, *, may_be_empty: bool = False) -> RunRows:
    """Parse the lines of a run file; `where` names the file in errors. Raises the errors of `read_trec_run`."""
    questions: list[str] = []
    passages: list[str] = []
    ranks: list[str] = []
    scores: list[float] = []
    numbers: list[int] = []
    tag = ""
    for number, text in lines:
        fields = text.split()
        if len(fields) != _RUN_FIELDS:
            raise BadInputError(
                f"A line of a run has {_RUN_FIELDS} fields, got {len(fields)}.",
                where=where,
                line=number,
                hint="The fields are: question Q0 passage rank score tag.",
            )
        question, _, passage, rank, score, tag = fields
        questions.append(question)
        passages.append(passage)
        ranks.append(_rank(rank, where, number))
        scores.append(_score(score, where, number))
        numbers.append(number)
    if not questions and not may_be_empty:
        raise BadInputError("The run is empty.", where=where, hint="Give a file in TREC run format.")
    line_numbers = np.array(numbers, dtype=np.int64)
    reject_repeated(zip(questions, passages, strict=True), where, line_numbers, "Question '{0}' has passage '{1}'")
    reject_repeated(zip(questions, ranks, strict=True), where, line_numbers, "Question '{0}' has rank {1}")
    with np.errstate(over="ignore"):
        return RunRows(where, questions, passages, np.array(scores, dtype=np.float32), line_numbers, tag)


def trec_run(question_ids: Sequence[str], ids: Ids, scores: Scores, tag: str) -> bytes:
    """Write rankings `ids` int64[n_questions, k], padded with -1, and `scores` float32[n_questions, k] as a run file.

    If the scores of a ranking do not give its order (those of a reranker need not), decreasing whole numbers replace them.
    """
    name = file_name(tag) or "run"
    lines = []
    for question, row, values in zip(question_ids, ids, scores, strict=True):
        retrieved = row >= 0
        passages, written = row[retrieved], values[retrieved]
        if not np.array_equal(np.lexsort((-passages, -written)), np.arange(len(passages))):
            written = np.arange(len(passages), 0, -1, dtype=np.float32)
        question_name = file_name(question)
        lines += [
            f"{question_name} Q0 {passage_name(p)} {rank} {score} {name}\n"
            for rank, (p, score) in enumerate(zip(passages.tolist(), map(str, written), strict=True), start=1)
        ]
    return "".join(lines).encode()


def _rank(text: str, where: str | Path, line: int) -> str:
    if not is_whole(text):
        raise BadInputError(
            f"The rank '{text[:40]}' is not a whole number.", where=where, line=line, hint="Correct this line."
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
