"""The report as files: each table as CSV, Parquet and LaTeX, and all of it on one HTML page that needs no network."""

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

TITLES = {
    "together": "Everyone together",
    "pairs": "Each two raters",
    "matrix": "Cohen's kappa of each two raters",
    "slices": "By data set, corpus and stance",
    "time": "Over time",
    "guidelines": "By version of the guidelines",
    "stance": "Supporting against opposing perspectives",
    "detection": "Detectors against people, in percent, in the layout of BERDS",
    "detection_slices": "Detectors against people by data set, corpus and stance",
    "anchoring": "Anchoring: words given with the detector's label in sight, and blind",
}
NOTES = {
    "together": "Which interval it is and what computed the value stands in each row; n are the pairs a figure is over.",
    "pairs": "95% intervals: " + "; ".join(f"{figure} {how}" for figure, how in INTERVALS.items()) + ".",
    "slices": "Of people alone.",
    "time": "Of people alone; a pair belongs to the time of its last label (UTC).",
    "guidelines": "Of people alone; within a version only the labels given under it count.",
    "stance": "Differences of raters: Newcombe's interval; p holm is corrected for all raters and figures (Holm, 1979).",
    "detection": "95% intervals: bootstrap over pairs, or questions where that is chosen (500 resamples, 200 of a person alone). "
    "'another human' is people's labels scored the same way.",
    "detection_slices": "95% intervals: bootstrap over pairs, or questions where that is chosen (500 resamples).",
    "anchoring": "Experiments alone, where chance decided who saw which label. Null hypothesis: seeing it changes nobody's word; "
    f"p is of a {TEST} ({DRAWS:,} draws), p holm corrected over people. Intervals: bootstrap over questions.",
}
"""How each table is to be read."""
_ROWS = 200
_INTERVALS = {"value": ("low", "high"), "cohen_kappa": ("low", "high"), "difference": ("low", "high")}


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """The table as texts for people, each figure with its interval behind it."""
    whose = next((figure for figure in _INTERVALS if figure in table.columns), None)
    if whose is not None:
        table = table.rename(columns={"low": f"{whose}_low", "high": f"{whose}_high"})
    return readable(table).rename(columns=lambda name: str(name).replace("_", " ") if name not in ("rater",) else name)


def to_latex(table: pd.DataFrame, caption: str = "") -> str:
    """The table in LaTeX (booktabs), every text escaped."""
    styled = shown(table).style.hide(axis="index").format(escape="latex").format_index(escape="latex", axis=1)
    return str(styled.to_latex(hrules=True, caption=_plain(caption) or None))


def to_html(report: AgreementReport, title: str = "Agreement") -> bytes:
    """One page with charts and tables: no script, nothing loaded, every text escaped (Jinja), charts as pictures."""
    from jinja2 import Environment

    source = (files("berdseye.evaluation.agreement") / "report.html.j2").read_text(encoding="utf-8")
    template = Environment(autoescape=True).from_string(source)
    tables = [
        (TITLES[name], NOTES.get(name, ""), list(texts.columns), texts.head(_ROWS).to_numpy().tolist(), len(texts))
        for name, table in report.parts.items()
        if len(table) and name != "matrix"
        for texts in [shown(table)]
    ]
    page: str = template.render(title=title, said=report.said, charts=_charts(report), tables=tables, most=_ROWS)
    return page.encode("utf-8")


def write_report(report: AgreementReport, folder: Path) -> list[Path]:
    """Every table that has rows as .csv, .parquet and .tex, and report.html, into a folder; gives the paths."""
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
        drawn["Everyone together, 95% intervals"] = coefficients_chart(parts["together"])
    if len(parts["pairs"]) and parts["pairs"]["cohen_kappa"].notna().any():
        drawn["Cohen's kappa of each two raters, 95% intervals"] = pairs_chart(parts["pairs"])
        drawn["Cohen's kappa as a matrix"] = matrix_chart(parts["pairs"], list(report.labels.raters))
    if len(parts["time"]) and parts["time"]["part"].nunique() > 1:
        drawn["Krippendorff's alpha over time, 95% interval"] = time_chart(parts["time"])
    if len(parts["anchoring"]):
        drawn["Anchoring: label shown and blind, 95% intervals"] = arms_chart(parts["anchoring"])
    return [(title, b64encode(svg(chart)).decode("ascii")) for title, chart in drawn.items()]


def _plain(text: str) -> str:
    return "".join(f"\\{mark}" if mark in "&%$#_{}" else mark for mark in text)
