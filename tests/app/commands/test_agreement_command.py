"""`berdseye agreement` with all of its options."""

import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from berdseye.app.cli import cli
from berdseye.data.workspace import Workspace
from berdseye.evaluation.agreement.report import PARTS
from tests.app.command_line import output


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Two people, a detector, 24 items of two stances and two versions of the guidelines; one label is given twice."""
    rows = ["item,annotator,label,stance,at,guidelines,dataset"]
    for n in range(24):
        stance = ("supporting", "opposing")[n % 2]
        for who, says in (("Ada", n % 3 == 0), ("Bo", n % 3 == 0 or n == 1), ("detector m", n % 4 == 0)):
            word = "unsure" if (who, n) == ("Bo", 5) else "supports" if says else "does not support"
            rows.append(f"i{n:02d},{who},{word},{stance},2026-0{1 + n // 12}-05T00:00:00+00:00,{n // 12},made")
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_json_holds_every_part(labels: Path) -> None:
    found = json.loads(output("agreement", labels, "--json"), parse_constant=pytest.fail)
    assert set(PARTS) <= set(found)
    assert {row["part"] for row in found["guidelines"]} == {"0", "1"}
    assert {row["part"] for row in found["time"]} == {"2026-01-05", "2026-02-02"}
    people = {row["statistic"]: row for row in found["together"] if row["who"] == "people"}
    assert people["raw agreement"]["value"] == pytest.approx(22 / 23)
    assert (people["raw agreement"]["n"], people["raw agreement"]["n_dropped"]) == (23, 1)
    assert people["raw agreement"]["low"] < 22 / 23 <= people["raw agreement"]["high"]


def test_unsure_counts_as_the_option_says(labels: Path) -> None:
    found = json.loads(output("agreement", labels, "--json", "--unsure", "does not support", "--part", "together"))
    people = {row["statistic"]: row for row in found if row["who"] == "people"}
    assert (people["raw agreement"]["n"], people["raw agreement"]["value"]) == (24, pytest.approx(23 / 24))


def test_one_part_as_csv_and_as_latex(labels: Path) -> None:
    rows = output("agreement", labels, "--part", "detection", "--csv").splitlines()
    assert rows[0].startswith("rater,source,pct_positive,accuracy,f1,kappa")
    assert rows[2].startswith("another human,")
    latex = output("agreement", labels, "--part", "stance", "--latex")
    assert "toprule" in latex
    assert "detector m" in latex
    assert "Krippendorff" in output("agreement", labels, "--every", "month")


def test_every_table_and_the_page_are_written(labels: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "out"
    output("agreement", labels, "--out", folder, "--reference", "majority")
    written = {path.name for path in folder.iterdir()}
    held = [name for name in PARTS if name != "anchoring"]  # the labels are of no experiment
    assert written == {f"{name}.{end}" for name in held for end in ("csv", "parquet", "tex")} | {"report.html"}
    assert len(pd.read_parquet(folder / "pairs.parquet")) == 3


def test_a_label_given_twice_is_refused_or_the_later_one_counts(labels: Path) -> None:
    with labels.open("a", encoding="utf-8") as file:
        file.write("i01,Bo,does not support,opposing,2026-03-05T00:00:00+00:00,1,made\n")
    refused = CliRunner().invoke(cli, ["agreement", str(labels)])
    assert refused.exit_code != 0
    found = json.loads(output("agreement", labels, "--json", "--duplicates", "last", "--part", "together"))
    assert {row["statistic"]: row["value"] for row in found if row["who"] == "people"}["raw agreement"] == 1


def test_the_workspaces_judgments_with_and_without_the_demo(demo_workspace: Workspace) -> None:
    asked = ("agreement", "--json", "-w", demo_workspace.folder, "--part", "detection")
    raters = [row["rater"] for row in json.loads(output(*asked))]
    assert raters[:4] == ["people", "another human", "Noor", "Tomas"]
    assert raters[4].startswith("detector ")
    assert "human second (human)" in raters
    without = json.loads(output(*asked, "--no-demo"))
    assert "Noor" not in {row["rater"] for row in without}
