"""`berdseye batch` with checks: from a file of items to outcomes, agreement beside the paper's, and qualification."""

import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from berdseye.annotation.batches.check_items import read_check_items
from berdseye.annotation.batches.check_outcomes import check_outcomes
from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import load_batch
from berdseye.annotation.checks import check_form
from berdseye.annotation.judgments.log import Judgments
from berdseye.app.cli import cli
from berdseye.app.python.workspace import Workspace as PythonWorkspace
from berdseye.data.errors import BadInputError, BerdseyeError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.agreement.together import fleiss_of
from tests.app.command_line import output

VERDICTS = {"Ana": "yynynyyyny", "Bo": "yynynynyny", "Cy": "yyyynyyynn"}
PEOPLE = [word for name in VERDICTS for word in ("--person", name)]


@pytest.fixture
def held(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Judgments:
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
    return Judgments.open(workspace.judgments_url)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Ten points of view with their documents, and the verdicts of Ana as known answers."""
    path = tmp_path / "views.jsonl"
    rows = [
        {"id": f"v{n}", "read": [f"Document {n}.", "Another."], "statement": f"View {n}.", "question": "Why?",
         "expected": {"y": "yes", "n": "no"}[says]}
        for n, says in enumerate(VERDICTS["Ana"])
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def judge_all(held: Judgments, batch: str) -> None:
    for name, said in VERDICTS.items():
        queue, person = BatchQueue(held, load_batch(held, batch)), held.sign_in(name)
        while (key := queue.next(person)) is not None:
            queue.give(person, key, {"y": "yes", "n": "no"}[said[int(queue.record(key).question_id[1:])]])


def test_checks_go_from_a_file_to_outcomes_and_agreement(
    held: Judgments, workspace: Workspace, file: Path, tmp_path: Path
) -> None:
    made = json.loads(
        output(
            "batch",
            "create",
            "views",
            "--task",
            "check",
            "--check",
            "grounded",
            "--file",
            file,
            "--per-pair",
            3,
            "--json",
        )
    )
    assert made["recipe"] == {"file": "views.jsonl", "check": "grounded"}, "known answers are not shown"
    judge_all(held, "views")

    shown = json.loads(output("batch", "show", "views", "--json"))
    keys = [item.key(check_form("grounded")) for item in read_check_items(file, check_form("grounded"))]
    majority = [sum(said[n] == "y" for said in VERDICTS.values()) >= 2 for n in range(10)]
    assert [shown["outcomes"][key]["accepted"] for key in keys] == majority
    assert list(check_outcomes(held, load_batch(held, "views"))) == keys
    assert f"10 items: {sum(majority)} accepted, {10 - sum(majority)} rejected, 0 undecided" in output(
        "batch", "show", "views"
    )
    assert "0.66 (DebateQA" in output("batch", "show", "views")

    found = json.loads(output("agreement", "--batch", "views", "--json"))
    yes = [sum(said[n] == "y" for said in VERDICTS.values()) for n in range(10)]
    fleiss = fleiss_of(pd.DataFrame({"no": [3 - n for n in yes], "yes": yes}).to_numpy())
    assert found["fleiss_kappa"] == pytest.approx(fleiss)
    assert "Paper: Fleiss' kappa 0.66 (DebateQA" in found["summary"]
    together = {row["statistic"]: row for row in found["together"]}
    assert together["Fleiss' kappa"]["low"] < fleiss < together["Fleiss' kappa"]["high"]
    assert "positive agreement (yes)" in together
    assert {frozenset((p["a"], p["b"])) for p in found["pairs"]} == {
        frozenset(two) for two in (("Ana", "Bo"), ("Ana", "Cy"), ("Bo", "Cy"))
    }
    assert found["detection"] == []
    assert PythonWorkspace(workspace).agreement(batch="views").to_dict("records")[0]["who"] == "people"

    output("batch", "export", "views", tmp_path / "views.csv")
    table = pd.read_csv(tmp_path / "views.csv")
    assert (len(table), set(table["verdict"]), set(table["corpus"])) == (30, {"yes", "no"}, {"check:grounded"})
    assert "expected" not in table.columns


def test_the_agreement_of_all_labels_has_no_checks(held: Judgments, file: Path) -> None:
    output(
        "batch", "create", "views", "--task", "check", "--check", "grounded", "--file", file, *PEOPLE, "--per-pair", 3
    )
    judge_all(held, "views")
    assert json.loads(output("agreement", "--json"))["n_items"] == 0
    with pytest.raises(BadInputError, match="'does not support' is not a verdict"):
        refused("agreement", "--batch", "views", "--unsure", "does not support")


def test_people_qualify_by_known_answers(held: Judgments, file: Path) -> None:
    output("batch", "create", "exam", "--task", "check", "--check", "grounded", "--file", file, "--exam", *PEOPLE)
    judge_all(held, "exam")
    people = {row["name"]: row for row in json.loads(output("batch", "qualification", "exam", "--json"))}
    assert {name: (row["right"], row["passed"]) for name, row in people.items()} == {
        "Ana": (10, True),
        "Bo": (9, False),
        "Cy": (8, False),
    }
    assert "Bo\tnot passed\t9 of 10\t90.0% right" in output("batch", "qualification", "exam")
    with pytest.raises(BadInputError, match="no known answers"):
        output("batch", "create", "other", "--task", "check", "--check", "dispute", "--file", plain(file))
        refused("batch", "qualification", "other")


def plain(file: Path) -> Path:
    path = file.with_name("plain.jsonl")
    path.write_text(json.dumps({"read": "Why?", "statement": "Because."}))
    return path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--task", "check"), "by a form"),
        (("--task", "check", "--check", "ground"), "Unknown check 'ground'"),
        (("--check", "grounded"), "--check has no effect without --task check"),
        (("--task", "check", "--check", "grounded", "--exam"), "names nobody"),
        (("--task", "check", "--check", "grounded", "--exam", "--training", *PEOPLE), "no effect with --exam"),
        (("--task", "check", "--check", "grounded", "--exam", "--sample", "2", *PEOPLE), "has all items"),
        (
            ("--task", "check", "--check", "grounded", "--training", "--per-pair", "2", *PEOPLE),
            "everyone judges every item",
        ),
        (("--task", "check", "--check", "grounded", "--detector", "embedded"), "uses no detector"),
        (("--task", "check", "--check", "inspect"), "'yes' is not a verdict of the check 'inspect'"),
    ],
)
def test_what_contradicts_itself_is_refused(held: Judgments, file: Path, words: tuple[str, ...], message: str) -> None:
    del held
    with pytest.raises(BerdseyeError, match=message):
        refused("batch", "create", "b", "--file", str(file), *words)


def refused(*words: str) -> None:
    CliRunner().invoke(cli, list(words), catch_exceptions=False, standalone_mode=False)
