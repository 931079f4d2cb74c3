"""From the rows of a file to rankings: which questions, which passages, in which order.

What every format of runs and labels is read into: columns, with the line that each row came from.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Ids, Scores
from berdseye.evaluation.labels.qrels import Qrels

_NOT_IN_A_NAME = re.compile(r"[\s%]")
_DIGITS = 10
_LONGEST_NUMBER = 20
PLAIN = "0"
"""The subtopic of a label that is of no perspective: the passage is relevant to the question or is not."""


@dataclass(frozen=True)
class RunRows:
    """Ranked passages as they stand in a file: `scores` float32[n_rows], `lines` int64[n_rows]; `tag` names the run."""

    where: str | Path
    questions: list[str]
    passages: list[str]
    scores: npt.NDArray[np.float32]
    lines: npt.NDArray[np.int64]
    tag: str = ""


@dataclass(frozen=True)
class LabelRows:
    """Labels as they stand in a file: `labels` bool[n_rows], `lines` int64[n_rows]; `subtopics` are the perspectives'
    numbers from 1, or `PLAIN`."""

    where: str | Path
    questions: list[str]
    subtopics: list[str]
    passages: list[str]
    labels: npt.NDArray[np.bool_]
    lines: npt.NDArray[np.int64]

    @property
    def plain(self) -> bool:
        """Whether no row is of a perspective."""
        return set(self.subtopics) == {PLAIN}


def file_name(text: str) -> str:
    """An id or name as a field of a file whose fields are parted by white space: that, and %, as %20 and so on."""
    return _NOT_IN_A_NAME.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), text)


def is_whole(text: str) -> bool:
    """Whether a field is a whole number, and no longer than any that is meant."""
    return text.removeprefix("-").isdecimal() and len(text) <= _LONGEST_NUMBER


def passage_name(passage: int) -> str:
    """A passage's id in a file: ten digits, so that programs that break ties by text (trec_eval) break them as we do."""
    return f"{passage:0{_DIGITS}d}"


def refuse_repeated(
    rows: Iterable[tuple[str, ...]], where: str | Path, lines: npt.NDArray[np.int64], what: str
) -> None:
    """Raise `BadInputError` at the first row whose fields stood before; `what` takes the fields by number."""
    first: dict[tuple[str, ...], int] = {}
    for fields, line in zip(rows, lines.tolist(), strict=True):
        if fields in first:
            said = what.format(*fields)
            raise BadInputError(
                f"{said} twice, first in line {first[fields]}.", where=where, line=line, hint="Leave one of them out."
            )
        first[fields] = line


@dataclass(frozen=True)
class Ranked:
    """Rankings `ids` int64[n_questions, k] and `scores` float32[n_questions, k], -1 pads; `missing` names the questions of
    which the file says nothing."""

    ids: Ids
    scores: Scores
    missing: list[str]


def passage_numbers(rows: RunRows, labels: LabelRows) -> dict[str, int]:
    """Numbers of passages that belong to no corpus of ours, in the order of their ids, so that ties break as in trec_eval."""
    return {name: number for number, name in enumerate(sorted({*rows.passages, *labels.passages}))}


def corpus_numbers(rows: RunRows | LabelRows) -> dict[str, int]:
    """Ids of passages of a corpus; raises `BadInputError` with file and line for one that is no whole number."""
    found = {}
    for name, line in zip(rows.passages, rows.lines.tolist(), strict=True):
        if name not in found:
            if not (name.isascii() and name.isdecimal()) or len(name) > 18:
                raise BadInputError(
                    f"'{name}' is no passage of a corpus here: those are whole numbers.",
                    where=rows.where,
                    line=line,
                    hint="For passages of another corpus, give their labels with --qrels.",
                )
            found[name] = int(name)
    return found


def ranked(rows: RunRows, question_ids: Sequence[str], numbers: Mapping[str, int], *, strict: bool = True) -> Ranked:
    """The rows as rankings of `question_ids`, by score descending, then passage number descending.

    A question that is none of these raises `BadInputError` with file and line, or where not `strict` is left out.
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
            "A question has a passage twice, written in two ways.", where=rows.where, hint="Leave one out."
        )
    return Ranked(ids, scores, [q for q, n in zip(question_ids, counts.tolist(), strict=True) if n == 0])


def labelled(
    rows: LabelRows, question_ids: Sequence[str], numbers: Mapping[str, int], perspectives: Sequence[int] | None = None
) -> Qrels:
    """The rows as what is known of each question.

    With `perspectives`, how many each question has, subtopics are their numbers, and one that is no such number raises
    `BadInputError` with file and line. Without, the subtopics that a question has in the file are its perspectives. Where the
    file has none at all, a question counts as one perspective.
    """
    places = _places(rows, question_ids, strict=perspectives is not None)
    columns = _columns(rows, places, perspectives)
    found: list[dict[int, dict[int, float]]] = [{} for _ in question_ids]
    for place, passage, column, label in zip(
        places.tolist(), rows.passages, columns, rows.labels.tolist(), strict=True
    ):
        if place >= 0:
            held = found[place].setdefault(numbers[passage], {})
            if held.setdefault(column, float(label)) != float(label):
                raise BadInputError(
                    f"Passage '{passage}' has two labels for one question, written in two ways.",
                    where=rows.where,
                    hint="Leave one out.",
                )
    widths = [max((c + 1 for held in q.values() for c in held), default=0) for q in found]
    if perspectives is not None and not rows.plain:
        widths = list(perspectives)
    passages, labels = [], []
    for held, width in zip(found, widths, strict=True):
        ids = np.array(sorted(held), dtype=np.int64)
        block: npt.NDArray[np.float64] = np.full((len(ids), width), np.nan)
        for row, passage in enumerate(ids.tolist()):
            for column, label in held[passage].items():
                block[row, column] = label
        passages.append(ids)
        labels.append(block)
    return Qrels(list(question_ids), passages, labels)


def questions_of(rows: LabelRows) -> list[str]:
    """The questions that labels are of, in the order of the file."""
    return list(dict.fromkeys(rows.questions))


def _columns(rows: LabelRows, places: npt.NDArray[np.int64], perspectives: Sequence[int] | None) -> list[int]:
    """The perspective, from 0, of each row."""
    if rows.plain:
        return [0] * len(rows.questions)
    if perspectives is None:
        subtopics: dict[str, set[str]] = {}
        for question, subtopic in zip(rows.questions, rows.subtopics, strict=True):
            subtopics.setdefault(question, set()).add(subtopic)
        number = {q: {s: n for n, s in enumerate(sorted(held))} for q, held in subtopics.items()}
        return [number[q][s] for q, s in zip(rows.questions, rows.subtopics, strict=True)]
    columns = []
    for place, subtopic, line in zip(places.tolist(), rows.subtopics, rows.lines.tolist(), strict=True):
        if subtopic == PLAIN or not is_whole(subtopic) or not 1 <= int(subtopic) <= perspectives[place]:
            raise BadInputError(
                f"Subtopic '{subtopic[:40]}' is none of the question's {perspectives[place]} perspectives.",
                where=rows.where,
                line=line,
                hint="They are numbered from 1.",
            )
        columns.append(int(subtopic) - 1)
    return columns


def _places(rows: RunRows | LabelRows, question_ids: Sequence[str], *, strict: bool) -> npt.NDArray[np.int64]:
    """Where each row's question stands among `question_ids`, int64[n_rows], -1 for one that does not."""
    known = {file_name(q): place for place, q in enumerate(question_ids)} | {q: p for p, q in enumerate(question_ids)}
    if strict:
        for question, line in zip(rows.questions, rows.lines.tolist(), strict=True):
            if question not in known:
                said = UnknownNameError("question", question, question_ids)
                raise BadInputError(said.what, where=rows.where, line=line, hint=said.hint)
    return np.array([known.get(q, -1) for q in rows.questions], dtype=np.int64)
