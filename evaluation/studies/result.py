"""Results of studies: tables in the layout of their paper, charts, settings and versions; and how they are stored in the
workspace, as CSV, Parquet and LaTeX of each table and Vega-Lite and SVG of each chart.
"""

import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

import berdseye.evaluation.charts  # noqa: F401  the charts of studies are drawn in it
from berdseye.data.errors import StaleError, UnavailableError, UnknownNameError
from berdseye.data.files.atomic import write_bytes, write_json
from berdseye.data.files.tables import to_csv, to_parquet
from berdseye.data.workspace import Workspace
from berdseye.evaluation.charts import svg
from berdseye.evaluation.latex import latex_text
from berdseye.evaluation.scores.enough_judged import below
from berdseye.evaluation.scores.unjudged import Unjudged, in_words

PROVENANCE = ("low", "high", "n", "judged", "labels", "detector_version", "published")
_UNPUBLISHED = "–"
_MANIFEST = "study.json"


def digest(*inputs: object) -> str:
    """Return a digest of a study's inputs for its settings, so that results of different inputs are stored separately."""
    text = json.dumps(inputs, default=str, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class Table:
    """A table in long form, with its layout in the paper.

    `cells` holds one value per row: the columns named in `rows` and `columns` give its place, `value` is the value as shown
    (percent if the paper uses percent), and, where they apply, `low` and `high` (95% interval), `n`, `judged` (judged@k, a
    share), `labels`, `detector_version` and `published` (the paper's figure).
    """

    name: str
    caption: str
    cells: pd.DataFrame
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    digits: int = 1
    notes: tuple[str, ...] = ()

    def laid_out(self) -> pd.DataFrame:
        """Return texts in the paper's layout: the value, its interval, and the published figure, if any, in brackets.

        A value above 0 without an interval, of which no digit would be left, is less than the last digit, as in "<0.001".
        """
        cells = self.cells.copy()
        if cells.duplicated([*self.rows, *self.columns]).any():
            raise ValueError(f"Two cells of table {self.name} have the same place.")
        cells["shown"] = [self._shown(row) for row in cells.to_dict("records")]
        for axis in (self.rows, self.columns):
            for name in axis:
                cells[name] = pd.Categorical(cells[name], categories=list(dict.fromkeys(cells[name])), ordered=True)
        return cells.pivot_table(
            index=list(self.rows), columns=list(self.columns), values="shown", aggfunc="first", observed=True
        ).fillna("")

    def latex(self) -> str:
        """Return the layout as a LaTeX table (booktabs), escaped."""
        laid = self.laid_out()
        for axis in (laid.index, laid.columns):
            axis.names = [name if name is None else latex_text(name) for name in axis.names]
        styled = laid.style.format(latex_text).format_index(latex_text, axis=0).format_index(latex_text, axis=1)
        return styled.to_latex(hrules=True, caption=latex_text(self.caption), label=f"tab:{self.name}")

    def _shown(self, cell: Mapping[Any, Any]) -> str:
        def number(name: str) -> str | None:
            value = cell.get(name)
            return None if value is None or pd.isna(value) else f"{float(value):z.{self.digits}f}"

        value, low, high = (number(name) for name in ("value", "low", "high"))
        parts = [value or _UNPUBLISHED]
        if value is not None and low is not None and high is not None:
            parts.append(f"[{low}, {high}]")
        elif value is not None and float(value) == 0 < cell["value"]:
            parts = [f"<{10.0**-self.digits:.{self.digits}f}"]
        paper = cell.get("published")
        if paper is not None and not pd.isna(paper):
            parts.append(f"({float(paper):g})")
        return " ".join(parts)


@dataclass(frozen=True)
class StudyResult:
    """The result of a study: tables, charts by name, and the settings of the study. `notes` say what was left out, and why."""

    study: str
    settings: Mapping[str, Any]
    tables: Sequence[Table]
    charts: Mapping[str, alt.Chart | alt.LayerChart | alt.FacetChart | alt.HConcatChart | alt.VConcatChart] = field(
        default_factory=dict
    )
    notes: tuple[str, ...] = ()

    def scored_with(self, min_judged: float, unjudged: Unjudged) -> "StudyResult":
        """Return the result with the floor of judged pairs and the rule for unjudged questions that it was computed with, in its
        settings and its notes."""
        settings = {**self.settings, "min_judged": min_judged, "unjudged": str(unjudged)}
        withheld = sum(_withheld(table.cells, min_judged) for table in self.tables)
        reason = below(min_judged)
        told = withheld == 0 or any(reason in note for note in self.notes)
        notes = () if told else (f"{withheld} values are not shown: {reason}.",)
        return replace(self, settings=settings, notes=(*self.notes, *notes, in_words(unjudged)))

    def __repr__(self) -> str:
        contents = {"tables": [t.name for t in self.tables], "charts": list(self.charts)}
        return f"Study {self.study}: " + "; ".join(
            f"{kind} {', '.join(names)}" for kind, names in contents.items() if names
        )

    def _repr_html_(self) -> str:
        """Return the tables with captions and notes as HTML for a notebook; all texts are escaped."""
        tables = "".join(f"<p>{html.escape(t.caption)}</p>{t.laid_out().to_html()}" for t in self.tables)
        notes = (*(note for t in self.tables for note in t.notes), *self.notes)
        return tables + "".join(f"<p><small>{html.escape(note)}</small></p>" for note in notes)


def _withheld(cells: pd.DataFrame, min_judged: float) -> int:
    """Count the values of a table that are missing although their questions count: too few of their pairs have a label."""
    if not {"value", "judged", "n"} <= set(cells.columns):
        return 0
    value, judged, n = (pd.to_numeric(cells[name], errors="coerce") for name in ("value", "judged", "n"))
    return int((value.isna() & (n > 0) & (judged < min_judged)).sum())


@dataclass(frozen=True)
class Stored:
    """A stored result of a study; `charts` holds Vega-Lite specifications by name."""

    name: str
    folder: Path
    study: str
    created: str
    settings: dict[str, Any]
    versions: dict[str, str]
    tables: list[Table]
    charts: dict[str, dict[str, Any]]
    notes: list[str]


def save_result(workspace: Workspace, result: StudyResult, *, made_by: str = "") -> Path:
    """Write a result, in place of an earlier one of equal study and settings; returns its folder."""
    settings = json.loads(json.dumps(dict(result.settings), default=str, sort_keys=True))
    digest = hashlib.blake2b(json.dumps(settings, sort_keys=True).encode(), digest_size=4).hexdigest()
    folder = workspace.studies_folder / f"{result.study}-{digest}"
    for table in result.tables:
        write_bytes(folder / f"{table.name}.csv", to_csv(table.cells))
        write_bytes(folder / f"{table.name}.parquet", to_parquet(table.cells))
        write_bytes(folder / f"{table.name}.tex", table.latex().encode())
    for name, chart in result.charts.items():
        write_json(folder / f"{name}.vl.json", chart.to_dict())
        with suppress(UnavailableError):  # without the extra `charts` the specification is all there is
            write_bytes(folder / f"{name}.svg", svg(chart))
    manifest = {
        "study": result.study,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "made_by": made_by,
        "settings": settings,
        "versions": {"berdseye": version("berdseye")},
        "tables": [
            {
                "name": t.name,
                "caption": t.caption,
                "rows": t.rows,
                "columns": t.columns,
                "digits": t.digits,
                "notes": t.notes,
            }
            for t in result.tables
        ],
        "charts": list(result.charts),
        "notes": list(result.notes),
    }
    write_json(folder / _MANIFEST, manifest)
    return folder


def list_results(workspace: Workspace) -> list[str]:
    """Return the names of the stored results, the newest first."""
    paths = workspace.studies_folder.glob(f"[!.]*/{_MANIFEST}")
    return [p.parent.name for p in sorted(paths, key=lambda p: p.stat().st_mtime, reverse=True)]


def load_result(workspace: Workspace, name: str) -> Stored:
    """Load a stored result; raises `UnknownNameError` with the closest names, and `StaleError` if it cannot be read."""
    names = list_results(workspace)
    if name not in names:
        raise UnknownNameError("study result", name, names)
    folder = workspace.studies_folder / name
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        tables = [
            Table(
                t["name"], t["caption"], pd.read_parquet(folder / f"{t['name']}.parquet"), tuple(t["rows"]), tuple(t["columns"]),
                t["digits"], tuple(t["notes"]),
            )
            for t in manifest["tables"]
        ]  # fmt: skip
        charts = {c: json.loads((folder / f"{c}.vl.json").read_text(encoding="utf-8")) for c in manifest["charts"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StaleError(f"The result cannot be read: {error}.", where=folder, hint="Run the study again.") from error
    return Stored(
        name,
        folder,
        manifest["study"],
        manifest["created"],
        manifest["settings"],
        manifest["versions"],
        tables,
        charts,
        manifest["notes"],
    )
