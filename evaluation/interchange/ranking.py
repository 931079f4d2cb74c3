"""Conversion of the rows of a file to rankings and labels. Every format of runs and labels is read into columns, with the line
number of each row; from these come the rankings of the questions, and their labels.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Ids, Scores
from berdseye.evaluation.labels.qrels import UNRANKED, Qrels

_NOT_IN_A_NAME = re.compile(r"[\s%]")
_DIGITS = 10
_LONGEST_NUMBER = 20
UNRANKED_NAME = "unranked"
"""In files of labels, the passage that stands for those with a label that no pooled run ranked."""
PLAIN = "0"
"""The subtopic of a label without a perspective: the passage is relevant to the question, or it is not."""


@dataclass(frozen=True)
class RunRows:
    """Ranked passages in the order of a file: `scores` float32[n_rows], `lines` int64[n_rows]; `tag` names the run."""

    where: str | Path
    questions: list[str]
    passages: list[str]
    scores: npt.NDArray[np.float32]
    lines: npt.NDArray[np.int64]
    tag: str = ""


@dataclass(frozen=True)
class LabelRows:
    """Labels in the order of a file: `labels` bool[n_rows], `lines` int64[n_rows]; `subtopics` are the numbers of perspectives,
    from 1, or `PLAIN`."""

    where: str | Path
    questions: list[str]
    subtopics: list[str]
    passages: list[str]
    labels: npt.NDArray[np.bool_]
    lines: npt.NDArray[np.int64]

    @property
    def plain(self) -> bool:
        """Whether no label has a perspective."""
        return set(self.subtopics) == {PLAIN}


def file_name(text: str) -> str:
    """Escape an id or name for a file with fields separated by white space: white space and % become %20 and so on."""
    return _NOT_IN_A_NAME.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), text)


def is_whole(text: str) -> bool:
    """Whether a field is a whole number of at most 20 characters."""
    return text.removeprefix("-").isdecimal() and len(text) <= _LONGEST_NUMBER


def passage_name(passage: int) -> str:
    """Return a passage's id in a file: ten digits, so that programs that break ties by text (trec_eval) break them as Berdseye
    does."""
    return UNRANKED_NAME if passage == UNRANKED else f"{passage:0{_DIGITS}d}"


def reject_repeated(
    rows: Iterable[tuple[str, ...]], where: str | Path, lines: npt.NDArray[np.int64], what: str
) -> None:
    """Raise `BadInputError` at the first row whose fields occurred before; `what` is a format of the message with the fields."""
    first: dict[tuple[str, ...], int] = {}
    for fields, line in zip(rows, lines.tolist(), strict=True):
        if fields in first:
            message = what.format(*fields)
            raise BadInputError(
                f"{message} twice, first in line {first[fields]}.", where=where, line=line, hint="Remove one of them."
            )
        first[fields] = line


@dataclass(frozen=True)
class Ranked:
    """Rankings `ids` int64[n_questions, k], padded with -1, and `scores` float32[n_questions, k]; `missing` names the questions
    that are not in the file."""

    ids: Ids
    scores: Scores
    missing: list[str]


def passage_numbers(rows: RunRows, labels: LabelRows) -> dict[str, int]:
    """Number passages that belong to no corpus of the workspace, in the order of their ids, so that ties break as in
    trec_eval. An id that Berdseye filled up to ten digits in one file is the same passage as its number in the other."""
    names = {*rows.passages, *labels.passages}
    spelled: dict[str, str] = {}
    for name in sorted(names, key=len):  # the filled up one comes last, and stands for both
        spelled[_unfilled(name)] = name
    numbers = {name: number for number, name in enumerate(sorted(spelled.values()))}
    return {name: numbers[spelled[_unfilled(name)]] for name in names}


def _unfilled(name: str) -> str:
    return str(int(name)) if len(name) == _DIGITS and name.isascii() and name.isdecimal() else name


def corpus_numbers(rows: RunRows | LabelRows) -> dict[str, int]:
    """Return the ids of passages of a corpus by their names; raises `BadInputError` with file and line for a name that is not a
    whole number."""
    numbers = {UNRANKED_NAME: UNRANKED} if isinstance(rows, LabelRows) else {}
    for name, line in zip(rows.passages, rows.lines.tolist(), strict=True):
        if name not in numbers:
            if not (name.isascii() and name.isdecimal()) or len(name) > 18:
                raise BadInputError(
                    f"'{name}' is not a passage id of a Berdseye corpus; these are whole numbers.",
                    where=rows.where,
                    line=line,
                    hint="For passages of another collection, give their labels with --qrels.",
                )
            numbers[name] = int(name)
    return numbers


def ranked(rows: RunRows, question_ids: Sequence[str], numbers: Mapping[str, int], *, strict: bool = True) -> Ranked:
    """Convert rows to rankings of `question_ids`, by descending score, then by descending passage number.

    An unknown question raises `BadInputError` with file and line; without `strict` it is left out.
    """
    places = _places(rows, question_ids, strict=strict)
    passages = np.array([numbers[name] for name in rows.passages], dtype=np.int64)
    order = np.lexsort((-passages, -rows.scores.astype(np.float64), places))
    order = order[places[order] >= 0]
    sorted_places = places[order]
    counts = np.bincount(sorted_places, minlength=len(question_ids))
    ranks = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    ids = np.full((len(question_ids), int(counts.max(initial=0))), -1, dtype=np.int64)
    scores = np.zeros(ids.shape, dtype=np.float32)
    ids[sorted_places, ranks], scores[sorted_places, ranks] = passages[order], rows.scores[order]
    if any(len(np.unique(row[row >= 0])) < (row >= 0).sum() for row in ids):
        raise BadInputError(
            "A question has one passage twice, under two spellings of its id.",
            where=rows.where,
            hint="Remove one of them.",
        )
    return Ranked(ids, scores, [q for q, n in zip(question_ids, counts.tolist(), strict=True) if n == 0])


def labelled(
    rows: LabelRows, question_ids: Sequence[str], numbers: Mapping[str, int], perspectives: Sequence[int] | None = None
) -> Qrels:
    """Convert rows of labels to the labels of each question.

    With `perspectives` (the number of perspectives of each question), subtopics are numbers of perspectives, and any other
    subtopic raises `BadInputError` with file and line. Without it, the subtopics of a question in the file are its perspectives.
    If the file has no subtopics at all, a question counts as one perspective.
    """
    places = _places(rows, question_ids, strict=perspectives is not None)
    columns = _columns(rows, places, perspectives)
    by_question: list[dict[int, dict[int, float]]] = [{} for _ in question_ids]
    for place, passage, column, label in zip(
        places.tolist(), rows.passages, columns, rows.labels.tolist(), strict=True
    ):
        if place >= 0:
            by_column = by_question[place].setdefault(numbers[passage], {})
            if by_column.setdefault(column, float(label)) != float(label):
                raise BadInputError(
                    f"Passage '{passage}' has two labels for one question, under two spellings of its id.",
                    where=rows.where,
                    hint="Remove one of them.",
                )
    widths = [max((c + 1 for by_column in q.values() for c in by_column), default=0) for q in by_question]
    if perspectives is not None and not rows.plain:
        widths = list(perspectives)
    passages, labels = [], []
    for by_passage, width in zip(by_question, widths, strict=True):
        ids = np.array(sorted(by_passage), dtype=np.int64)
        block: npt.NDArray[np.float64] = np.full((len(ids), width), np.nan)
        for row, passage in enumerate(ids.tolist()):
            for column, label in by_passage[passage].items():
                block[row, column] = label
        passages.append(ids)
        labels.append(block)
    return Qrels(list(question_ids), passages, labels)


def questions_of(rows: LabelRows) -> list[str]:
    """Return the questions that have labels, in the order of the file."""
    return list(dict.fromkeys(rows.questions))


def _columns(rows: LabelRows, places: npt.NDArray[np.int64], perspectives: Sequence[int] | None) -> list[int]:
    """Return the perspective, from 0, of each row."""
    if rows.plain:
        return [0] * len(rows.questions)
    if perspectives is None:
        subtopics: dict[str, set[str]] = {}
        for question, subtopic in zip(rows.questions, rows.subtopics, strict=True):
            subtopics.setdefault(question, set()).add(subtopic)
        number = {q: {s: n for n, s in enumerate(sorted(names))} for q, names in subtopics.items()}
        return [number[q][s] for q, s in zip(rows.questions, rows.subtopics, strict=True)]
    columns = []
    for place, subtopic, line in zip(places.tolist(), rows.subtopics, rows.lines.tolist(), strict=True):
        if subtopic == PLAIN or not is_whole(subtopic) or not 1 <= int(subtopic) <= perspectives[place]:
            raise BadInputError(
                f"Subtopic '{subtopic[:40]}' is not one of the question's {perspectives[place]} perspectives.",
                where=rows.where,
                line=line,
                hint="Perspectives are numbered from 1.",
            )
        columns.append(int(subtopic) - 1)
    return columns


def _places(rows: RunRows | LabelRows, question_ids: Sequence[str], *, strict: bool) -> npt.NDArray[np.int64]:
    """Return the position of each row's question in `question_ids`, int64[n_rows], -1 if it is not among them."""
    known = {file_name(q): place for place, q in enumerate(question_ids)} | {q: p for p, q in enumerate(question_ids)}
    if strict:
        for question, line in zip(rows.questions, rows.lines.tolist(), strict=True):
            if question not in known:
                error = UnknownNameError("question", question, question_ids)
                raise BadInputError(error.what, where=rows.where, line=line, hint=error.hint)
    return np.array([known.get(q, -1) for q in rows.questions], dtype=np.int64)
