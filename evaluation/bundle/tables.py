"""The table of a bundle: every number of its runs with what made it, as JSON, CSV and LaTeX."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from berdseye.annotation.export import to_csv
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.scoring import Score
from berdseye.evaluation.studies.result import Table

JSON_FILE, CSV_FILE, LATEX_FILE = "tables/measures.json", "tables/measures.csv", "tables/measures.tex"
PLACE = ("dataset", "corpus", "pipeline", "measure", "labels")
NUMBERS = ("value", "low", "high", "n", "judged", "detector_version")

Row = Mapping[str, Any]


def rows_of(scores: Sequence[Score]) -> list[dict[str, Any]]:
    """A row a score; a number that is none is None."""
    rows = []
    for s in scores:
        place = (s.dataset, s.corpus, s.pipeline, s.measure, s.labels)
        numbers = (*s.estimate, s.judged, s.detector_version)
        held = dict(zip((*PLACE, *NUMBERS), (*place, *numbers), strict=True))
        rows.append({k: None if isinstance(v, float) and math.isnan(v) else v for k, v in held.items()})
    return rows


def table_files(rows: Sequence[Row]) -> dict[str, bytes]:
    """The table in its three forms."""
    frame = pd.DataFrame([dict(row) for row in rows], columns=[*PLACE, *NUMBERS])
    return {
        JSON_FILE: (json.dumps([dict(row) for row in rows], indent=1, ensure_ascii=False) + "\n").encode(),
        CSV_FILE: to_csv(frame),
        LATEX_FILE: _latex(frame).encode(),
    }


def _latex(frame: pd.DataFrame) -> str:
    cells = frame.copy()
    factors = [100.0 if parse_measures(name)[0].unit == "share" else 1.0 for name in cells["measure"]]
    for column in ("value", "low", "high"):
        cells[column] = cells[column].astype(float) * factors
    caption = f"Shares in percent with 95% intervals; labels: {', '.join(sorted(set(frame['labels'])))}"
    return Table("measures", caption, cells, ("dataset", "corpus", "pipeline"), ("measure",)).latex()
