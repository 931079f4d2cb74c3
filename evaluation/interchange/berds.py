"""Runs in the format of the BERDS release: JSONL with one question per line, its `perspectives` and its ranked passages (`ctxs`).

The released evaluator writes its predictions into each ctx under the model's name, `mistral-preds` or `gpt4-preds`: true or false
for each perspective. Berdseye also writes and reads `labels`: 0, 1, or null for no label.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from berdseye.data.datasets.layouts import read_perspectives
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.files.json_files import read_rows
from berdseye.data.records import Passage, Question
from berdseye.evaluation.labels.support import Support
from berdseye.evaluation.scores.counted import counting

LABELS, _PREDICTIONS = "labels", "-preds"
_COUNTS = "counts"


@dataclass(frozen=True)
class ReleasedRun:
    """A run read from a file: its support, the name of the labels in the file, and which questions count, bool[n_questions].

    Only the file says which questions were judged. All questions with perspectives count, except those with `"counts": false`, as
    `berdseye runs export` writes it (`berdseye.evaluation.scores.counted`).
    """

    support: Support
    source: str
    counted: npt.NDArray[np.bool_]


def read_released_run(path: Path, source: str | None = None) -> ReleasedRun:
    """Read a file whose ctxs have labels, or predictions of the model `source`; None reads the only source in the file.

    Predictions may end after the top k, as those of the released evaluator do; the following passages have no label. Questions
    without ctxs count as covering no perspective. Raises `BadInputError` with file and line for any other format.
    """
    rows = [(line, _checked(row, path, line)) for line, row in read_rows(path)]
    if not rows:
        raise BadInputError(
            "The file contains no question.", where=path, hint="Give a file with one question per line."
        )
    name = _source(rows, source, path)
    arrays = []
    for line, row in rows:
        try:
            arrays.append(_labels(row, name))
        except (ValueError, TypeError, RecursionError) as error:
            raise BadInputError(f"{error}.", where=path, line=line, hint="Correct this line.") from error
    support = Support.of(arrays)
    judged = np.array([row.get(_COUNTS) is not False for _, row in rows], dtype=np.bool_)
    return ReleasedRun(support, name, counting(support.counts, judged))


def released_run(
    questions: Sequence[Question],
    rankings: Sequence[Sequence[Passage]],
    scores: Sequence[Sequence[float]],
    labels: Sequence[npt.NDArray[np.float64]] | None = None,
    *,
    model: str = "",
    counted: npt.NDArray[np.bool_] | None = None,
) -> bytes:
    """Write rankings in the released format, which the released evaluator reads.

    `labels` float64[k_i, m_i] are written under `labels` and, with `model` (such as mistral), also as predictions of this model,
    in which a pair without a label counts as not supporting. `counted` bool[n_questions] says which questions count.
    """
    lines = []
    for number, (question, passages, values) in enumerate(zip(questions, rankings, scores, strict=True)):
        ctxs = []
        for rank, (passage, score) in enumerate(zip(passages, values, strict=True)):
            ctx: dict[str, Any] = {
                "id": passage.id,
                "title": passage.title,
                "text": passage.text,
                "score": float(score),
            }
            if labels is not None:
                row = labels[number][rank].tolist()
                ctx[LABELS] = [None if value != value else int(value) for value in row]
                if model:
                    ctx[f"{model}{_PREDICTIONS}"] = [value == 1 for value in row]
            ctxs.append(ctx)
        perspectives = [p.text for p in question.perspectives]
        line: dict[str, Any] = {
            "id": question.id,
            "question": question.text,
            "perspectives": perspectives,
            "ctxs": ctxs,
        }
        if counted is not None and not counted[number]:
            line[_COUNTS] = False
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    return "".join(lines).encode("utf-8", "replace")


def _checked(row: dict[str, Any], path: Path, line: int) -> dict[str, Any]:
    if not isinstance(row.get("question", ""), str) or not isinstance(row.get("ctxs"), list):
        raise BadInputError(
            "The line lacks a question with perspectives and ctxs.", where=path, line=line, hint="Correct this line."
        )
    return row


def _source(rows: Sequence[tuple[int, dict[str, Any]]], wanted: str | None, path: Path) -> str:
    """Return the field to read, given the fields of the ctxs."""
    ctxs = [ctx for _, row in rows for ctx in row["ctxs"] if isinstance(ctx, dict)]
    fields = {f: None for ctx in ctxs for f in ctx if f == LABELS or f.endswith(_PREDICTIONS)}
    names = [f.removesuffix(_PREDICTIONS) for f in fields]
    if wanted is not None:
        if wanted not in names:
            raise UnknownNameError(f"source of labels in {path.name}", wanted, names)
        return wanted
    if LABELS in names or not names:
        return LABELS
    if len(names) > 1:
        raise BadInputError(
            f"The file has predictions of several models: {', '.join(names)}.",
            where=path,
            hint="Choose one with --labels.",
        )
    return str(names[0])


def _labels(row: dict[str, Any], source: str) -> npt.NDArray[np.float64]:
    wanted = len(read_perspectives(row.get("perspectives")))
    labels = np.full((len(row["ctxs"]), wanted), np.nan)
    field = source if source == LABELS else f"{source}{_PREDICTIONS}"
    for rank, ctx in enumerate(row["ctxs"]):
        values = ctx.get(field) if isinstance(ctx, dict) else None
        if values is None and source != LABELS and isinstance(ctx, dict):
            continue
        if not isinstance(values, list) or len(values) != wanted:
            raise ValueError(f"Ctx {rank + 1} needs {wanted} labels under `{field}`, one for each perspective")
        for place, value in enumerate(values):
            if value not in (0, 1, None):
                raise ValueError(f"Ctx {rank + 1} has the label {value!r}; labels are 0, 1 or null")
            labels[rank, place] = np.nan if value is None else float(value)
    return labels
