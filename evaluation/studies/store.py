"""Results of studies in the workspace: CSV and LaTeX of each table, Vega-Lite and SVG of each chart, and what made them."""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from berdseye.annotation.export import to_csv, to_parquet
from berdseye.data.atomic import write_bytes, write_json
from berdseye.data.errors import StaleError, UnknownNameError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.chart_files import svg
from berdseye.evaluation.studies.result import StudyResult, Table

_MANIFEST = "study.json"


@dataclass(frozen=True)
class Stored:
    """A stored result. `charts` are Vega-Lite specifications by name."""

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
    """Write a result in place of one of the same study and settings; returns its folder."""
    settings = json.loads(json.dumps(dict(result.settings), default=str, sort_keys=True))
    digest = hashlib.blake2b(json.dumps(settings, sort_keys=True).encode(), digest_size=4).hexdigest()
    folder = workspace.studies_folder / f"{result.study}-{digest}"
    for table in result.tables:
        write_bytes(folder / f"{table.name}.csv", to_csv(table.cells))
        write_bytes(folder / f"{table.name}.parquet", to_parquet(table.cells))
        write_bytes(folder / f"{table.name}.tex", table.latex().encode())
    for name, chart in result.charts.items():
        write_json(folder / f"{name}.vl.json", chart.to_dict())
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
    """Names of the stored results, the newest first."""
    paths = workspace.studies_folder.glob(f"[!.]*/{_MANIFEST}")
    return [p.parent.name for p in sorted(paths, key=lambda p: p.stat().st_mtime, reverse=True)]


def load_result(workspace: Workspace, name: str) -> Stored:
    """A stored result; raises `UnknownNameError` with the nearest names, `StaleError` where it cannot be read."""
    names = list_results(workspace)
    if name not in names:
        raise UnknownNameError("study result", name, names)
    folder = workspace.studies_folder / name
    try:
        held = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        tables = [
            Table(
                t["name"], t["caption"], pd.read_parquet(folder / f"{t['name']}.parquet"), tuple(t["rows"]), tuple(t["columns"]),
                t["digits"], tuple(t["notes"]),
            )
            for t in held["tables"]
        ]  # fmt: skip
        charts = {c: json.loads((folder / f"{c}.vl.json").read_text(encoding="utf-8")) for c in held["charts"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StaleError(f"The result cannot be read: {error}.", where=folder, hint="Run the study again.") from error
    return Stored(
        name, folder, held["study"], held["created"], held["settings"], held["versions"], tables, charts, held["notes"]
    )
