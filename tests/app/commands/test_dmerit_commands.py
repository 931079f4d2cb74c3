"""`berdseye construct dmerit`: from a dump to a data set, its runs, and what people say of it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from berdseye.annotation.judgments.log import Judgments
from berdseye.app.cli import cli
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.workspace import Workspace
from tests.app.command_line import output
from tests.data.wikipedia.made_dump import MadeDump, make_dump
from tests.evaluation.construction.constructed import scripted
from tests.evaluation.construction.dmerit.made_wiki import dump_file, judge_all, reader


@pytest.fixture
def made(tmp_path: Path) -> MadeDump:
    return make_dump(dump_file(tmp_path), 220, 4, words=5)


@pytest.fixture
def held(workspace: Workspace, made: MadeDump, monkeypatch: pytest.MonkeyPatch) -> Iterator[Judgments]:
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
    scripted(monkeypatch, reader(made))
    opened = Judgments.open(workspace.judgments_url)
    yield opened
    opened.engine.dispose()


def test_from_a_dump_to_the_figures_of_the_paper(
    held: Judgments, made: MadeDump, workspace: Workspace, tmp_path: Path
) -> None:
    began = ("construct", "dmerit", "lists", "--source", made.path, "--model", "api(scripted)", "--most-references", 50)
    dry = json.loads(output(*began, "--dry-run", "--json"))
    assert [step["name"] for step in dry][-3:] == ["identified", "queries", "natural"]
    shown = json.loads(output(*began, "--json"))
    stages = {stage["step"]: stage for stage in shown["stages"]}
    assert stages["sources"]["kept"] == 4
    assert stages["members"]["printed"] == 2500
    output("construct", "dataset", "lists")
    questions = load_dataset(workspace, "lists")
    assert len(questions) == stages["natural"]["kept"] > 0
    for pipeline in ("bm25", "qld"):
        output("run", "--dataset", "lists", "--corpus", "lists", "--pipeline", pipeline, "--k", 5)
    evaluated = json.loads(
        output("evaluate", "--run", "lists--lists--bm25", "--labels", "gold", "--measures", "Precision@5", "--json")
    )
    assert "Precision@5" in json.dumps(evaluated)
    output("construct", "verify", "lists", "--size", 10)
    output("construct", "audit", "lists", "--k", 5, "--queries", 2)
    assert judge_all(held, "lists-verified", "supports") == 10
    assert judge_all(held, "lists-audited", "no") > 0
    text = output(
        "construct", "figures", "lists", "--verified", "lists-verified", "--audited", "lists-audited",
        "--charts", tmp_path / "charts",
    )  # fmt: skip
    lines = dict(line.split("\t", 1) for line in text.splitlines())
    assert lines["queries"] == f"{len(questions)}\tD-MERIT, section 2.6: 1,196"
    assert lines["people agree with the model (%)"] == "50\tD-MERIT, section 2.3: 84.7"
    assert lines["new evidence"] == "0\tD-MERIT, appendix E: 35"
    assert {p.name for p in (tmp_path / "charts").iterdir()} == {"dmerit-figure-6.svg", "dmerit-figure-7.svg"}
    found = json.loads(output("construct", "figures", "lists", "--json"))
    assert found[0] == {"name": "queries", "ours": len(questions), "printed": 1196.0, "place": "D-MERIT, section 2.6"}


@pytest.mark.usefixtures("held")
def test_the_evidence_set_is_read_by_the_study(made: MadeDump, workspace: Workspace) -> None:
    output("construct", "dmerit", "lists", "--source", made.path, "--model", "api(scripted)", "--most-references", 50)
    output("construct", "dataset", "lists", "--as", "found")
    folder = workspace.folder / "constructions" / "lists" / "evidence"
    text = output(
        "study", "dmerit", "--evidence", folder, "--pipeline", "bm25", "--pipeline", "qld", "--part", "systems"
    )
    assert "recall" in text.lower()


@pytest.mark.usefixtures("held")
def test_constructions_of_other_kinds_have_no_such_figures(tmp_path: Path) -> None:
    (tmp_path / "questions.txt").write_text("Should zoos exist?\n", encoding="utf-8")
    output("construct", "questions", "mine", "--source", tmp_path / "questions.txt", "--until", "duplicates")
    for words in (["construct", "figures", "mine"], ["construct", "verify", "mine"], ["construct", "audit", "mine"]):
        result = CliRunner().invoke(cli, words)
        assert result.exit_code != 0
        assert "of the kind questions, not dmerit" in str(result.exception)
    result = CliRunner().invoke(cli, ["construct", "figures", "mine", "--charts", str(tmp_path)])
    assert "--charts needs an audit" in str(result.exception)
