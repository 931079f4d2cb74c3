"""The tables of a bundle: the scores of its runs as JSON, CSV and LaTeX, and the tables of studies, which are recomputed if they
follow from the runs in the bundle.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pandas as pd

from berdseye.data.errors import BerdseyeError
from berdseye.data.files.tables import to_csv
from berdseye.evaluation.labels.sources import LabelSource
from berdseye.evaluation.measures import Measure, parse_measures
from berdseye.evaluation.measures.shown import FACTORS
from berdseye.evaluation.published.berds import Sizes
from berdseye.evaluation.scores.score import Score, macro_average
from berdseye.evaluation.scores.unjudged import Unjudged
from berdseye.evaluation.studies.berds.base import base
from berdseye.evaluation.studies.comparing import comparisons
from berdseye.evaluation.studies.gathering import Selection
from berdseye.evaluation.studies.result import Table

JSON_FILE, CSV_FILE, LATEX_FILE = "tables/measures.json", "tables/measures.csv", "tables/measures.tex"
PLACE = ("dataset", "corpus", "pipeline", "measure", "labels")
NUMBERS = ("value", "low", "high", "n", "judged", "detector_version")

Row = Mapping[str, Any]
_TOLERANCE = 1e-9


def rows_of(scores: Sequence[Score]) -> list[dict[str, Any]]:
    """Return one row per score; NaN becomes None."""
    rows = []
    for s in scores:
        place = (s.dataset, s.corpus, s.pipeline, s.measure, s.labels)
        numbers = (*s.estimate, s.judged, s.detector_version)
        row = dict(zip((*PLACE, *NUMBERS), (*place, *numbers), strict=True))
        rows.append({k: None if isinstance(v, float) and math.isnan(v) else v for k, v in row.items()})
    return rows


def table_files(rows: Sequence[Row]) -> dict[str, bytes]:
    """Write the table as JSON, CSV and LaTeX; returns the content by path."""
    frame = pd.DataFrame([dict(row) for row in rows], columns=[*PLACE, *NUMBERS])
    return {
        JSON_FILE: (json.dumps([dict(row) for row in rows], indent=1, ensure_ascii=False) + "\n").encode(),
        CSV_FILE: to_csv(frame),
        LATEX_FILE: _latex(frame).encode(),
    }


def _latex(frame: pd.DataFrame) -> str:
    cells = frame.copy()
    factors = [FACTORS[parse_measures(name)[0].unit] for name in cells["measure"]]
    for column in ("value", "low", "high"):
        cells[column] = cells[column].astype(float) * factors
    caption = f"Shares in percent with 95% intervals; labels: {', '.join(sorted(set(frame['labels'])))}"
    return Table("measures", caption, cells, ("dataset", "corpus", "pipeline"), ("measure",)).latex()


@dataclass(frozen=True)
class BundledScores:
    """The scores of a bundle by data set, corpus, pipeline and measure, with the interface of `Gatherer`."""

    by_place: Mapping[tuple[str, str, str, str], Score]
    source: LabelSource
    floor: float
    rule: Unjudged

    @classmethod
    def of(cls, scores: Sequence[Score], source: LabelSource, floor: float, rule: Unjudged) -> "BundledScores":
        return cls({(s.dataset, s.corpus, s.pipeline, s.measure): s for s in scores}, source, floor, rule)

    def sizes(self, selection: Selection) -> Sizes:
        """Return no sizes: a bundle does not contain its corpora, and published figures do not follow from its runs."""
        del selection
        return Sizes()

    def scores(self, selection: Selection, measures: Sequence[Measure]) -> list[Score]:
        """Return the scores of a selection, as `Gatherer.scores` does; raises `KeyError` for a score that is not in the
        bundle."""
        places = product(selection.corpora, selection.pipelines, selection.datasets, map(str, measures))
        scores = [self.by_place[dataset, corpus, pipeline, m] for corpus, pipeline, dataset, m in places]
        return scores + (macro_average(scores) if len(selection.datasets) > 1 else [])


def cells_json(table: Table) -> bytes:
    """Write the cells of a table as JSON, one object per cell."""
    cells = table.cells.to_json(orient="records", indent=1, force_ascii=False, double_precision=15) or "[]"
    return (cells + "\n").encode()


def recomputed_tables(study: str, settings: Mapping[str, Any], scores: BundledScores) -> list[Table]:
    """Recompute the tables of `study compare` and `study berds base` from the scores of a bundle.

    Empty for other studies, if the bundle lacks one of the runs, measures or labels of the study, and if the study had another
    floor of judged pairs or another rule for unjudged questions. Studies of older versions do not record these two.
    """
    same = {"labels": str(scores.source), "min_judged": scores.floor, "unjudged": str(scores.rule)}
    if any(settings.get(name, held if name != "labels" else None) != held for name, held in same.items()):
        return []
    try:
        selection = Selection(*(tuple(settings[name]) for name in ("datasets", "corpora", "pipelines")))
        match study:
            case "compare":
                return list(
                    comparisons(
                        scores, selection, settings["measure"], test=settings["test"], correction=settings["correction"],
                        seed=settings.get("seed", 0),
                    ).tables
                )  # fmt: skip
            case "berds-base":
                return list(base(scores, selection, settings["k"]).tables)
    except (LookupError, TypeError, BerdseyeError):
        pass  # runs or measures that are not in the bundle, or settings that no study has
    return []


def cell_mismatches(name: str, content: bytes, table: Table) -> list[str]:
    """Return one message for each difference between the measured cells in a file and those of a table.

    Figures of a paper do not follow from runs; only the file's checksum covers them.
    """
    try:
        cells, expected = (_measured(json.loads(c)) for c in (content, cells_json(table)))
    except (ValueError, RecursionError):
        return [f"{name} cannot be read"]
    if cells is None or expected is None or len(cells) != len(expected):
        return [f"{name} does not have the rows that its runs give"]
    wrong = []
    for number, (row, right) in enumerate(zip(cells, expected, strict=True), start=1):
        if not isinstance(row, dict) or set(row) != set(right):
            wrong.append(f"{name}, row {number}: its columns are not those that its runs give")
            continue
        wrong += [
            f"{name}, row {number}: {column} is {row[column]}, recomputed {value}"
            for column, value in right.items()
            if not _equal(row[column], value)
        ]
    return wrong


def measured_numbers(table: Table) -> int:
    """Count the numbers of a table that follow from runs."""
    cells = table.cells
    measured = cells[cells["labels"].notna()] if "labels" in cells else cells
    return int(measured.drop(columns="published", errors="ignore").select_dtypes("number").size)


def _measured(cells: Any) -> list[Any] | None:
    """Return the cells without published figures, None if they are no list."""
    if not isinstance(cells, list):
        return None
    kept = [c for c in cells if not isinstance(c, dict) or c.get("labels", "") is not None]
    return [{k: v for k, v in c.items() if k != "published"} if isinstance(c, dict) else c for c in kept]


def _equal(written: Any, value: Any) -> bool:
    if isinstance(written, float | int) and isinstance(value, float | int):
        return math.isclose(written, value, rel_tol=0, abs_tol=_TOLERANCE)
    return bool(written == value)
