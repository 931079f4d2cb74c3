"""TREC run files: `question Q0 passage rank score tag`, a line for each ranked passage.

TREC qrels files: `question 0 passage relevance`, and their diversity flavour, where the second field is a subtopic.

Subtopics are perspectives, numbered from 1 in the order of the data set. The diversity flavour is what ndeval reads, and with it
alpha-nDCG and ERR-IA of ir_measures.
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
    refuse_repeated,
)

_QRELS_FIELDS = 4
_NO_SUBTOPIC = {"0", "Q0"}


def read_trec_qrels(path: Path) -> LabelRows:
    """The rows of a qrels file of either flavour, gzipped or not; a relevance above 0 counts as relevant.

    Raises `BadInputError` with file and line for a line that is none, a relevance that is no whole number, and a label that
    stands twice.
    """
    return parse_trec_qrels(read_lines(path), path)


def parse_trec_qrels(lines: Iterable[Line], where: str | Path, *, may_be_empty: bool = False) -> LabelRows:
    """The same from lines."""
    rows: list[tuple[str, str, str]] = []
    labels: list[bool] = []
    numbers: list[int] = []
    for number, text in lines:
        fields = text.split()
        if len(fields) != _QRELS_FIELDS:
            raise BadInputError(
                f"A line of qrels has {_QRELS_FIELDS} fields, this one {len(fields)}.",
                where=where,
                line=number,
                hint="Write it like: question 0 passage relevance, or with a subtopic in place of 0.",
            )
        question, subtopic, passage, relevance = fields
        if not is_whole(relevance):
            raise BadInputError(
                f"The relevance '{relevance[:40]}' is no whole number.",
                where=where,
                line=number,
                hint="Correct this line.",
            )
        rows.append((question, PLAIN if subtopic in _NO_SUBTOPIC else subtopic, passage))
        labels.append(int(relevance) > 0)
        numbers.append(number)
    if not rows and not may_be_empty:
        raise BadInputError("The file holds no label.", where=where, hint="Is it the right file?")
    held = np.array(numbers, dtype=np.int64)
    refuse_repeated(rows, where, held, "Question '{0}', subtopic {1}: passage '{2}' is labelled")
    questions, subtopics, passages = ([row[field] for row in rows] for field in range(3))
    return LabelRows(where, questions, subtopics, passages, np.array(labels, dtype=bool), held)


def diversity_qrels(
    question_ids: Sequence[str], passages: Sequence[Ids], labels: Sequence[npt.NDArray[np.float64]]
) -> bytes:
    """A diversity qrels file: by question `passages` int64[n_i] and `labels` float64[n_i, m_i], NaN where nobody said."""
    written = []
    for question, held, block in zip(question_ids, passages, labels, strict=True):
        name = file_name(question)
        for passage, row in zip(held.tolist(), block.tolist(), strict=True):
            written += [
                f"{name} {number} {passage_name(passage)} {int(value)}\n"
                for number, value in enumerate(row, start=1)
                if value == value  # NaN is not
            ]
    return "".join(written).encode()


def trec_qrels(
    question_ids: Sequence[str], passages: Sequence[Ids], labels: Sequence[npt.NDArray[np.float64]]
) -> bytes:
    """A qrels file: a passage is relevant where it supports a perspective; one that nobody said anything of is left out."""
    written = []
    for question, held, block in zip(question_ids, passages, labels, strict=True):
        known = ~np.isnan(block).all(axis=1) if block.shape[1] else np.zeros(len(block), dtype=bool)
        relevant = (block == 1).any(axis=1).astype(int)
        written += [
            f"{file_name(question)} {PLAIN} {passage_name(p)} {value}\n"
            for p, value in zip(held[known].tolist(), relevant[known].tolist(), strict=True)
        ]
    return "".join(written).encode()


_RUN_FIELDS = 6


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
        if len(fields) != _RUN_FIELDS:
            raise BadInputError(
                f"A line of a run has {_RUN_FIELDS} fields, this one {len(fields)}.",
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
