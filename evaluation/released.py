"""Runs in the form BERDS releases them: JSONL, each line a question with its perspectives and ranked passages (`ctxs`)."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from data.dataset_formats import read_perspectives
from data.errors import BadInputError
from evaluation.support import Support


def read_released_run(path: Path) -> Support:
    """Support from a file whose every ctx has a list of 0/1 (or null: nobody said) under `labels`, one per perspective.

    Raises `BadInputError` with file and line for anything else; questions without ctxs count as covering nothing.
    """
    if not path.is_file():
        raise BadInputError("There is no such file.", where=path, hint="Check the path.")
    arrays = []
    with path.open("rb") as file:
        for line, raw in enumerate(file, start=1):
            if raw.strip():
                try:
                    arrays.append(_labels(json.loads(raw.decode("utf-8-sig"))))
                except (ValueError, TypeError, RecursionError) as error:
                    raise BadInputError(f"{_said(error)}.", where=path, line=line, hint="Correct this line.") from error
    if not arrays:
        raise BadInputError("The file holds no question.", where=path, hint="Is it the right file?")
    return Support.of(arrays)


def _labels(row: Any) -> Any:
    if not isinstance(row, dict) or not isinstance(row.get("question"), str) or not isinstance(row.get("ctxs"), list):
        raise ValueError("a line needs question, perspectives and ctxs")
    wanted = len(read_perspectives(row.get("perspectives")))
    labels = np.full((len(row["ctxs"]), wanted), np.nan)
    for rank, ctx in enumerate(row["ctxs"]):
        given = ctx.get("labels") if isinstance(ctx, dict) else None
        if not isinstance(given, list) or len(given) != wanted:
            raise ValueError(f"ctx {rank + 1} needs {wanted} labels, one for each perspective")
        for place, value in enumerate(given):
            if value not in (0, 1, None):
                raise ValueError(f"ctx {rank + 1} has the label {value!r}; labels are 0, 1 or null")
            labels[rank, place] = np.nan if value is None else float(value)
    return labels


def _said(error: Exception) -> str:
    return f"not valid JSON ({error.msg})" if isinstance(error, json.JSONDecodeError) else str(error)
