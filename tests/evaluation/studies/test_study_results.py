"""Tables of studies: their layout, their LaTeX, and that a stored result is read back as it was."""

from pathlib import Path

import altair as alt
import pandas as pd
import pytest

from berdseye.data.errors import UnknownNameError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.result import StudyResult, Table, list_results, load_result, save_result

CELLS = pd.DataFrame(
    [
        {
            "pipeline": "b_25",
            "measure": "MRecall@5",
            "value": 12.34,
            "low": 10.0,
            "high": 14.0,
            "published": None,
            "n": 7,
        },
        {
            "pipeline": "b_25",
            "measure": "Precision@5",
            "value": None,
            "low": None,
            "high": None,
            "published": 1.0,
            "n": 0,
        },
        {
            "pipeline": "=a & b",
            "measure": "MRecall@5",
            "value": 5.0,
            "low": None,
            "high": None,
            "published": 6.0,
            "n": 7,
        },
    ]
)
TABLE = Table("t", "50% & more", CELLS, ("pipeline",), ("measure",))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.create(tmp_path / "workspace")


def test_a_layout_keeps_the_order_and_shows_interval_and_published_figure() -> None:
    laid = TABLE.laid_out()
    assert list(laid.index) == ["b_25", "=a & b"]
    assert laid.loc["b_25", "MRecall@5"] == "12.3 [10.0, 14.0]"
    assert laid.loc["b_25", "Precision@5"] == "– (1)"
    assert laid.loc["=a & b"].tolist() == ["5.0 (6)", ""]


def test_latex_is_escaped() -> None:
    latex = TABLE.latex()
    assert "=a \\& b" in latex
    assert "b\\_25" in latex
    assert "50\\% \\& more" in latex
    assert "\\toprule" in latex


def test_a_value_of_which_no_digit_is_left_is_shown_as_less_than_the_last_digit() -> None:
    names, values = ["a", "b", "c", "d"], [0.0004, 0.0005001, 0.0, -0.0004]
    cells = pd.DataFrame(
        {"pair": names, "figure": "adjusted p", "value": values, "published": [0.001, None, None, None]}
    )
    table = Table("p", "", cells, ("pair",), ("figure",), digits=3)
    assert table.laid_out()["adjusted p"].tolist() == ["<0.001 (0.001)", "0.001", "0.000", "0.000"]
    assert r"\textless{}0.001" in table.latex()
    whole = Table("n", "", cells, ("pair",), ("figure",), digits=0)
    assert whole.laid_out().loc["a", "adjusted p"] == "<1 (0.001)"


def test_a_stored_result_is_read_back_as_it_was(workspace: Workspace) -> None:
    chart = alt.Chart(CELLS).mark_point().encode(x="value:Q")
    result = StudyResult("base", {"k": 5}, [TABLE], {"curve": chart}, ("one left out",))
    folder = save_result(workspace, result)
    assert save_result(workspace, result) == folder
    assert save_result(workspace, StudyResult("base", {"k": 10}, [TABLE])) != folder
    stored = load_result(workspace, folder.name)
    pd.testing.assert_frame_equal(stored.tables[0].laid_out(), TABLE.laid_out())
    assert (stored.study, stored.settings, stored.notes) == ("base", {"k": 5}, ["one left out"])
    assert stored.charts["curve"]["mark"]
    assert (folder / "t.csv").read_text(encoding="utf-8").splitlines()[-1].startswith("'=a & b")
    assert (folder / "curve.svg").read_text(encoding="utf-8").startswith("<svg")
    assert len(list_results(workspace)) == 2
    with pytest.raises(UnknownNameError, match="base"):
        load_result(workspace, "bas")
