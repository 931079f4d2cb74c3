"""`berdseye failures` and `berdseye compare`."""

import csv
import json
from pathlib import Path

import pytest

from berdseye.data.errors import UnknownNameError
from berdseye.data.workspace import Workspace
from tests.app.command_line import output

WEB, PAGES = "debate--web--bm25", "debate--pages--bm25"


def test_failures_lists_the_holes_of_a_run_with_their_reasons(demo_workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "holes.csv"
    asked = ("failures", "--run", PAGES, "--k", 5, "--csv", file, "-w", demo_workspace.folder)
    found = json.loads(output(*asked, "--json"))
    [counts] = found["counts"]
    assert counts["holes"] == len(found["holes"]) > 0
    assert {hole["reason"] for hole in found["holes"]} == {
        name for name, count in counts.items() if count and name in {hole["reason"] for hole in found["holes"]}
    }
    assert all(hole["rank"] is None or hole["rank"] > 5 for hole in found["holes"])
    rows = list(csv.DictReader(file.open(encoding="utf-8", newline="")))
    assert [row["perspective"] for row in rows] == [hole["perspective"] for hole in found["holes"]]
    assert {row["labels"] for row in rows} == {"human>gold>stance"}
    assert len(output(*asked).splitlines()) == len(rows) + 2


def test_failures_counts_several_runs_those_without_a_hole_too(demo_workspace: Workspace) -> None:
    asked = ("failures", "--run", WEB, "--run", PAGES, "--labels", "embedded", "--json")
    found = json.loads(output(*asked, "-w", demo_workspace.folder))
    assert [(row["corpus"], row["holes"] > 0) for row in found["counts"]] == [("web", False), ("pages", True)]


def test_compare_prints_who_wins_and_what_is_lost(demo_workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "questions.csv"
    asked = ("compare", WEB, PAGES, "--measure", "MRecall@5", "--measure", "nDCG@10", "-w", demo_workspace.folder)
    found = json.loads(output(*asked, "--json", "--csv", file))
    [recall, ndcg] = found["measures"]
    assert (recall["measure"], ndcg["measure"]) == ("MRecall@5", "nDCG@10")
    assert recall["losses"] == sum(q["outcome"] == "loss" for q in found["questions"]) > 0
    assert sum(len(q["lost"]) for q in found["questions"]) == sum(p["change"] == "lost" for p in found["perspectives"])
    assert recall["adjusted p"] >= recall["p"]
    assert len(list(csv.DictReader(file.open(encoding="utf-8", newline="")))) == 8
    back = json.loads(output("compare", PAGES, WEB, "--json", "-w", demo_workspace.folder))
    assert back["measures"][0]["difference"] == -recall["difference"]
    shown = output(*asked)
    assert "lost\t" in shown
    assert "at k=5" in shown


def test_compare_refuses_what_there_is_not(demo_workspace: Workspace) -> None:
    with pytest.raises(UnknownNameError, match="debate@9"):
        output("compare", WEB, f"{WEB}:debate@9", "-w", demo_workspace.folder)
