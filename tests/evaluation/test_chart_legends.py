"""Legends below charts fit into them at every width, drawn as files are."""

import re

import altair as alt
import pandas as pd
import pytest

from berdseye.evaluation.charts import legend_below, svg


@pytest.mark.parametrize(("width", "columns"), [(150, 1), (400, 2), (900, 4)])
def test_a_legend_below_has_the_columns_that_its_chart_has_room_for(width: int, columns: int) -> None:
    names = ["bm25", "dense(static)", "bm25+rerank(stance)", "web"]
    frame = pd.DataFrame({"value": range(4), "run": names})
    colour = alt.Color("run:N", title=None, legend=legend_below(names))
    chart = alt.Chart(frame).mark_bar().encode(x="value:Q", color=colour).properties(width=width)
    entry = (
        r'<g transform="translate\(([\d.]+),[\d.]+\)"[^>]*>\s*<path class="background"[^>]*>\s*<g><g class="mark-symbol'
    )
    places = re.findall(entry, svg(chart).decode())
    assert (len(places), len(set(places))) == (4, columns)


@pytest.mark.parametrize(
    "names", [["MMR", "WWW", "MRR"], ["PERSPECTRUM", "MMARCO"], ["观点检索", "中文"], ["web", "ill"]]
)
def test_labels_that_the_chart_has_room_for_are_not_cut(names: list[str]) -> None:
    frame = pd.DataFrame({"value": range(len(names)), "run": names})
    colour = alt.Color("run:N", title=None, legend=legend_below(names))
    for width in (60, 400):
        drawn = svg(alt.Chart(frame).mark_bar().encode(x="value:Q", color=colour).properties(width=width)).decode()
        assert all(f">{name}<" in drawn for name in names)


def test_two_legends_of_a_chart_stand_one_below_the_other() -> None:
    first, second = [f"pipeline number {n}" for n in range(4)], [f"corpus {n}" for n in range(4)]
    frame = pd.DataFrame({"value": range(4), "pipeline": first, "corpus": second})
    chart = (
        alt.Chart(frame)
        .mark_point()
        .encode(
            x="value:Q",
            color=alt.Color("pipeline:N", title=None, legend=legend_below(first)),
            shape=alt.Shape("corpus:N", title=None, legend=legend_below(second)),
        )
    )
    size = re.search(r'width="(\d+)', svg(chart.properties(width=300)).decode())
    assert size is not None
    assert int(size[1]) < 360


def test_a_label_of_a_legend_below_is_cut_at_the_width_of_the_chart() -> None:
    name = "a very long name of a system " * 3 + "!"
    colour = alt.Color("run:N", title=None, legend=legend_below([name]))
    chart = alt.Chart(pd.DataFrame({"value": [1], "run": [name]})).mark_bar().encode(x="value:Q", color=colour)
    narrow, wide = (svg(chart.properties(width=width)).decode() for width in (150, 900))
    shown = [re.findall(r">(a very long name[^<]*)<", drawn)[0] for drawn in (narrow, wide)]
    assert shown[0].endswith("…")
    assert len(shown[0]) < len(name) / 2
    assert shown[1] == name
