"""Export of the agreement report: each table as CSV, Parquet and LaTeX, and all tables on one HTML page that needs no network."""

from base64 import b64encode
from importlib.resources import files
from pathlib import Path

import pandas as pd

from berdseye.data.files.atomic import make_folder, write_bytes
from berdseye.data.files.tables import to_csv, to_parquet
from berdseye.evaluation.agreement.anchoring import DRAWS, TEST, arms_chart
from berdseye.evaluation.agreement.charts import coefficients_chart, matrix_chart, pairs_chart, time_chart
from berdseye.evaluation.agreement.pairwise import INTERVALS
from berdseye.evaluation.agreement.report import AgreementReport
from berdseye.evaluation.charts import svg
from berdseye.evaluation.detection.readable import readable
from berdseye.evaluation.latex import latex_text

TITLES = {
    "together": "All raters together",
    "pairs": "Pairs of raters",
    "matrix": "Cohen's kappa of pairs of raters",
    "slices": "By data set, corpus and stance",
    "time": "Over time",
    "guidelines": "By version of the guidelines",
    "stance": "Supporting and opposing perspectives",
    "detection": "Detectors against people in percent, in the layout of BERDS",
    "detection_slices": "Detectors against people by data set, corpus and stance",
    "anchoring": "Anchoring: judgments with the detector's label shown, and blind",
}
NOTES = {
    "together": "Each row names its kind of interval and the package that computed the value; n is the number of pairs.",
    "pairs": "95% intervals: " + "; ".join(f"{figure} {how}" for figure, how in INTERVALS.items()) + ".",
    "slices": "People only.",
    "time": "People only; a pair belongs to the period of its last label (UTC).",
    "guidelines": "People only; for a version of the guidelines, only the labels given under it count.",
    "stance": "Differences of raters have Newcombe's interval; p holm is corrected for all raters and figures (Holm, 1979).",
    "detection": "95% intervals: bootstrap over pairs or, if chosen, over questions (500 resamples; 200 for a single person). "
    "The row 'another human' scores people's labels in the same way.",
    "detection_slices": "95% intervals: bootstrap over pairs or, if chosen, over questions (500 resamples).",
    "anchoring": "Experiments only, in which chance decided who saw which label. Null hypothesis: seeing a label changes no "
    f"judgment; p comes from a {TEST} ({DRAWS:,} draws), p holm is corrected over people. Intervals: bootstrap over questions.",
}
"""The note on how to read each table."""
_ROWS = 200
_INTERVALS = {"value": ("low", "high"), "cohen_kappa": ("low", "high"), "difference": ("low", "high")}


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Format a table for display: all cells as texts, each figure followed by its interval."""
    figure = next((name for name in _INTERVALS if name in table.columns), None)
    if figure is not None:
        table = table.rename(columns={"low": f"{figure}_low", "high": f"{figure}_high"})
    return readable(table).rename(columns=lambda name: str(name).replace("_", " ") if name not in ("rater",) else name)


def to_latex(table: pd.DataFrame, caption: str = "") -> str:
    """Render a table in LaTeX (booktabs) with every text escaped."""
    styled = shown(table).style.hide(axis="index").format(latex_text).format_index(latex_text, axis=1)
    return str(styled.to_latex(hrules=True, caption=latex_text(caption) or None))


def to_html(report: AgreementReport, title: str = "Agreement") -> bytes:
    """Render one page with charts and tables: without scripts or external files, every text escaped (Jinja), charts as images."""
    from jinja2 import Environment

    source = (files("berdseye.evaluation.agreement") / "report.html.j2").read_text(encoding="utf-8")
    template = Environment(autoescape=True).from_string(source)
    tables = [
        (TITLES[name], NOTES.get(name, ""), list(texts.columns), texts.head(_ROWS).to_numpy().tolist(), len(texts))
        for name, table in report.parts.items()
        if len(table) and name != "matrix"
        for texts in [shown(table)]
    ]
    page: str = template.render(title=title, summary=report.summary, charts=_charts(report), tables=tables, most=_ROWS)
    return page.encode("utf-8")


def write_report(report: AgreementReport, folder: Path) -> list[Path]:
    """Write report.html and every table that has rows, as .csv, .parquet and .tex, into a folder; returns the paths."""
    written: dict[Path, bytes] = {folder / "report.html": to_html(report)}
    for name, table in report.parts.items():
        if len(table):
            written[folder / f"{name}.csv"] = to_csv(table)
            written[folder / f"{name}.parquet"] = to_parquet(table)
            written[folder / f"{name}.tex"] = to_latex(table, TITLES[name]).encode("utf-8")
    make_folder(folder)
    for path, content in written.items():
        write_bytes(path, content)
    return list(written)


def _charts(report: AgreementReport) -> list[tuple[str, str]]:
    parts = report.parts
    drawn = {}
    if parts["together"]["value"].notna().any():
        drawn["All raters together, 95% intervals"] = coefficients_chart(parts["together"])
    if len(parts["pairs"]) and parts["pairs"]["cohen_kappa"].notna().any():
        drawn["Cohen's kappa of pairs of raters, 95% intervals"] = pairs_chart(parts["pairs"])
        drawn["Cohen's kappa as a matrix"] = matrix_chart(parts["pairs"], list(report.labels.raters))
    if len(parts["time"]) and parts["time"]["part"].nunique() > 1:
        drawn["Krippendorff's alpha over time, 95% intervals"] = time_chart(parts["time"])
    if len(parts["anchoring"]):
        drawn["Anchoring: label shown and blind, 95% intervals"] = arms_chart(parts["anchoring"])
    return [(title, b64encode(svg(chart)).decode("ascii")) for title, chart in drawn.items()]
