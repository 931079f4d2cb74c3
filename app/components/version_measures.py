"""A run measured on two versions of its data set: a table of the measures, and the changes question by question."""

import pandas as pd
import streamlit as st

from berdseye.app.access.session import judgments, workspace
from berdseye.app.components.plain_text import escaped
from berdseye.data.datasets.stored import split_version, version_name, version_numbers
from berdseye.data.runs.stored import list_runs, load_run
from berdseye.detectors.trained import adopted_detector
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.measures import DEFAULT_MEASURES, parse_measure, parse_measures
from berdseye.evaluation.measures.shown import shown
from berdseye.evaluation.scores.versions import VersionComparison, compare_versions, question_rows, rows_of


@st.cache_data(max_entries=20, show_spinner="Measuring on both versions…")
def compared(
    run: str, created: str, versions: tuple[str, str], hashes: tuple[str, ...], labels: str, measures: str, version: int
) -> VersionComparison:
    """Return the comparison. `created`, `hashes` and `version` (of the judgments) are part of the cache key."""
    del created, hashes, version
    return compare_versions(
        workspace(),
        judgments(),
        load_run(workspace(), run),
        versions,
        parse_label_source(labels),
        parse_measures(measures),
    )


def version_measures(dataset: str, hashes: tuple[str, ...]) -> None:
    """Draw the choices and the tables. `hashes` are the hashes of the versions."""
    runs = {r.name: r for r in list_runs(workspace()) if split_version(r.dataset)[0] == dataset}
    names = [version_name(dataset, n) for n in version_numbers(workspace(), dataset)]
    if len(names) < 2 or not runs:
        st.caption("This comparison needs a second version of the data set and a run of it.")
        return
    left, middle, right = st.columns([3, 1, 1])
    run = left.selectbox("Run", list(runs), key="version-run", bind="query-params")
    first = middle.selectbox("From", names, key="version-from", bind="query-params")
    second = right.selectbox("To", names, index=len(names) - 1, key="version-to", bind="query-params")
    left, right = st.columns(2)
    adopted = adopted_detector(workspace())
    sources = [adopted, f"human>derived>{adopted}", "human>derived", "human"]
    labels = left.selectbox(
        "Labels from",
        sources,
        key="version-labels",
        help="derived: merged and reworded perspectives take the labels of the perspectives they come from.",
    )
    measures = right.text_input("Measures", " ".join(DEFAULT_MEASURES), key="version-measures")
    if not run or not first or not second or first == second:
        st.caption("Choose two different versions.")
        return
    canonical_measures = " ".join(str(m) for m in parse_measures(measures or ""))
    comparison = compared(
        run, runs[run].created, (first, second), hashes, labels or adopted, canonical_measures, judgments().version()
    )
    _table(comparison)


def _table(comparison: VersionComparison) -> None:
    old, new = comparison.versions
    rows = pd.DataFrame(rows_of(comparison))
    units = [parse_measure(str(name)).unit for name in rows["measure"]]
    st.dataframe(
        pd.DataFrame(
            {
                "measure": rows["measure"],
                old: [shown(value, unit) for value, unit in zip(rows[old], units, strict=True)],
                new: [shown(value, unit) for value, unit in zip(rows[new], units, strict=True)],
                "difference [95% interval]": [
                    "{} [{}, {}]".format(*(shown(each, unit, signed=True, bare=True) for each in ends))
                    for *ends, unit in zip(rows["difference"], rows["low"], rows["high"], units, strict=True)
                ],
                "questions": rows["n"],
                f"judged@k {old}": rows[f"judged {old}"].map(shown),
                f"judged@k {new}": rows[f"judged {new}"].map(shown),
            }
        ),
        hide_index=True,
        key="version-table",
    )
    st.caption(
        "The difference, of shares in points, is paired over questions, with a bootstrap interval. Labels from "
        f"{escaped(comparison.first[0].labels)}. "
        "A pair without a label counts as not supporting, so fewer judged pairs alone lower a measure."
    )
    if comparison.shown_perspectives:
        st.warning("This pipeline used the perspectives of the run's own version for ranking.")
    changed = pd.DataFrame(question_rows(comparison))
    if not changed.empty:
        for column in ("removed", "added"):
            changed[column] = changed[column].map("\n".join)
        st.dataframe(changed, hide_index=True, key="version-questions")
