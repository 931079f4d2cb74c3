"""`study pir`, `dataset fetch` and `dataset reformat` as a person types them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from berdseye.app.cli import cli
from berdseye.data.datasets.pir_tasks import TASKS
from berdseye.data.errors import BadInputError, BerdseyeError, UnknownNameError
from berdseye.data.workspace import Workspace
from tests.app.command_line import output

TASK = {
    "corpus": ["pro apples", "contra apples", "pro boats", "clouds"],
    "source_queries": ["apples", "apples", "boats"],
    "queries": ["pro apples", "contra apples", "contra boats"],
    "perspectives": ["pro", "contra", "contra"],
    "query_labels": ["support", "undermine", "undermine"],
    "key_ref": {"0": [0], "1": [1], "2": [3]},
}


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without a workspace, with a task in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BERDSEYE_WORKSPACE", raising=False)
    (tmp_path / "task.json").write_text(json.dumps(TASK), encoding="utf-8")
    return tmp_path


def test_the_call_that_others_rely_on(nowhere: Path) -> None:
    """By hand at k = 1: apples 2 of 2, boats 0 of 1 (a root of one query): 1/2 either way; 2 of 3 queries."""
    del nowhere
    printed = output("study", "pir", "task.json", "--task", "perspectrum", "--pipeline", "bm25", "--k", 1, "--json")
    assert json.loads(printed) == {
        "p_recall": 0.5,
        "p_recall_singleton_zero": 0.5,
        "recall": pytest.approx(2 / 3),
        "n_roots": 2,
        "n_queries": 3,
    }


@pytest.mark.parametrize(
    ("task", "p_recall", "zero", "recall", "roots"),
    [("perspectrum", 45.0, 45.0, 44.0, 16), ("ambigqa", 54.4, 54.4, 54.0, 26), ("exfever", 78.4, 75.5, 78.0, 34)],
)
def test_it_over_the_released_demo(
    nowhere: Path, shared_data: Path, task: str, p_recall: float, zero: float, recall: float, roots: int
) -> None:
    """Others saw 45, 54 and 78 for BM25 with stems; the demo's exfever ends with a root that has one query."""
    del nowhere
    path = shared_data / "pir" / f"{task}.json"
    found = json.loads(output("study", "pir", path, "--task", task, "--pipeline", "bm25", "--k", 5, "--json"))
    assert list(found) == ["p_recall", "p_recall_singleton_zero", "recall", "n_roots", "n_queries"]
    assert [100 * found[key] for key in list(found)[:3]] == pytest.approx([p_recall, zero, recall], abs=0.05)
    assert (found["n_roots"], found["n_queries"]) == (roots, 100)


def test_the_variant_of_the_released_notebook(nowhere: Path, shared_data: Path) -> None:
    del nowhere
    asked = ("study", "pir", shared_data / "pir" / "perspectrum.json", "--pipeline", "bm25(okapi-notebook)", "--json")
    paper, released = (json.loads(output(*asked, "--variant", variant)) for variant in ("paper", "released"))
    assert json.loads(output(*asked)) == paper
    assert released["p_recall"] > paper["p_recall"]


def test_several_are_printed_as_a_list(nowhere: Path) -> None:
    (nowhere / "all.json").write_text(json.dumps({"story": TASK, "mine": TASK}), encoding="utf-8")
    asked = ("study", "pir", "task.json", "all.json", "--task", "one", "--task", "storyanalogy")
    rows = json.loads(output(*asked, "--pipeline", "bm25", "--pipeline", "bm25(okapi-notebook)", "--json"))
    assert [(r["task"], r["pipeline"]) for r in rows] == [
        ("one", "bm25"), ("one", "bm25(okapi-notebook)"), ("story", "bm25"), ("story", "bm25(okapi-notebook)"),
    ]  # fmt: skip


def test_tables_are_printed_and_kept(nowhere: Path, workspace: Workspace) -> None:
    del nowhere
    asked = ("study", "pir", "task.json", "--pipeline", "bm25", "-w", workspace.folder)
    assert "p-Recall@5 (PIR, table 2)" in output(*asked)
    assert output(*asked, "--format", "csv").startswith("pipeline,task,value,low,high,n,labels,published")
    assert "\\begin{table}" in output(*asked, "--part", "bias", "--format", "latex")
    assert output("study", "list", "-w", workspace.folder).count("pir-") == 2


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        (["none.json"], BadInputError, "There is no such task file"),
        (["task.json", "--task", "a", "--task", "b"], BadInputError, "2 times for 1 files"),
        (["task.json", "--pipeline", "bm26"], UnknownNameError, "Did you mean bm25"),
        (["task.json", "--k", "0"], BadInputError, "k must be between 1 and"),
        (["empty.json"], BadInputError, "Not a complete PIR task"),
        (["text.json"], BadInputError, "Not a valid JSON file"),
    ],
)
def test_what_cannot_be_asked_is_reported(
    nowhere: Path, arguments: list[str], error: type[BerdseyeError], said: str
) -> None:
    (nowhere / "empty.json").write_text("{}")
    (nowhere / "text.json").write_text("text")
    with pytest.raises(error, match=said):
        output("study", "pir", *arguments, "--json")


def test_tables_need_a_workspace(nowhere: Path) -> None:
    del nowhere
    with pytest.raises(BerdseyeError, match="no workspace here"):
        output("study", "pir", "task.json")


def test_a_fetched_task_is_studied_by_its_name(nowhere: Path, workspace: Workspace) -> None:
    (nowhere / "copies").mkdir()
    (nowhere / "task.json").rename(nowhere / "copies" / "ambigqa.json")
    fetched = output("dataset", "fetch", "pir", "--from", "copies", "-w", workspace.folder)
    assert fetched == "pir-ambigqa\t3 queries (published: 864); 4 passages (published: 864); 5 gold labels\n"
    asked = ("study", "pir", "pir-ambigqa", "--pipeline", "bm25", "--k", 1, "--json", "-w", workspace.folder)
    assert json.loads(output(*asked))["n_queries"] == 3
    assert "pir-ambigqa\t2\t3" in output("dataset", "list", "-w", workspace.folder)


def test_the_released_demo_of_all_tasks_is_fetched_at_once(nowhere: Path, workspace: Workspace) -> None:
    (nowhere / "demo_pir_dataset.json").write_text(
        json.dumps({"exfever": TASK, "story": {**TASK, "queries": ["x"] * 3}})
    )
    with pytest.raises(BadInputError, match=r"several PIR tasks\. Add all of them"):
        output("dataset", "add", "demo", "demo_pir_dataset.json", "-w", workspace.folder)
    (nowhere / "demo_pir_dataset.json").write_text(json.dumps(dict.fromkeys(TASKS, TASK)))
    fetched = output("dataset", "fetch", "pir", "--from", ".", "-w", workspace.folder)
    assert fetched.count("3 queries") == 6
    rows = json.loads(
        output("study", "pir", "pir-exfever", "pir-story", "--pipeline", "bm25", "--json", "-w", workspace.folder)
    )
    assert [row["task"] for row in rows] == ["exfever", "story"]


def test_what_was_left_out_is_reported(nowhere: Path, workspace: Workspace) -> None:
    (nowhere / "test.jsonl").write_text(json.dumps({"question": "Why?", "partial_answers": []}))
    asked = ["dataset", "fetch", "debateqa", "--from", ".", "-w", str(workspace.folder)]
    result = CliRunner().invoke(cli, asked)
    assert result.stdout == "debateqa-test\t1 questions (published: 1,000); 0 partial answers\n"
    assert "debateqa-dev: skipped, because the local copies do not include dev.jsonl" in result.stderr


def test_a_source_is_reformatted_and_studied(nowhere: Path) -> None:
    rows = [{"story": "A dog.", "aspect": a, "match": f"A cat {a}."} for a in ("analogy", "entity")]
    rows.append({"story": "A fish.", "aspect": "entity", "match": "A whale."})
    (nowhere / "source.jsonl").write_text("\n".join(map(json.dumps, rows)))
    result = CliRunner().invoke(cli, ["dataset", "reformat", "analogy", "source.jsonl", "own.json"])
    assert result.exit_code == 0
    assert "own.json: 2 queries over 3 passages" in result.stderr
    assert "1 root queries have only one perspective" in result.stderr
    found = json.loads(output("study", "pir", "own.json", "--pipeline", "bm25", "--json"))
    assert (found["n_roots"], found["n_queries"]) == (1, 2)
    with pytest.raises(UnknownNameError, match="Did you mean analogy"):
        output("dataset", "reformat", "analogies", "source.jsonl", "own.json")
