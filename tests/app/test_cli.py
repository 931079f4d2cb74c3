"""The command line as scripts see it: exact JSON on standard output, one line of error, exit status 2."""

import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pandas as pd
import pytest
import typer

from berdseye.app.cli import cli, main
from berdseye.data.workspace import Workspace
from tests.app.command_line import output

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "Should cities ban private cars from their centres?"


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Command = Callable[..., Answer]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """`berdseye ...` in this process, from a folder without a workspace."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BERDSEYE_WORKSPACE", raising=False)
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)

    def call(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["berdseye", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return Answer(code if isinstance(code, int) else int(code is not None), *capsys.readouterr())

    return call


def process(*arguments: object, folder: Path) -> Answer:
    """`berdseye ...` as a process of its own, in `folder`."""
    found = subprocess.run(
        [sys.executable, "-m", "berdseye.app.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=folder,
        check=False,
    )
    return Answer(found.returncode, found.stdout, found.stderr)


def one_line(answer: Answer) -> str:
    """The one line on standard error of a command that a person can mend."""
    assert answer.code == 2, answer
    assert answer.out == ""
    lines = answer.err.splitlines()
    assert len(lines) == 1, answer.err
    assert lines[0].startswith("berdseye: ")
    return lines[0]


def leaf_commands() -> Iterator[tuple[str, ...]]:
    """The words of every command that does something."""

    def walk(found: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        inner = getattr(found, "commands", None)
        if inner is None:
            yield words
            return
        for name, child in inner.items():
            yield from walk(child, (*words, name))

    yield from walk(typer.main.get_command(cli), ())


# Errors ---------------------------------------------------------------------------------------------------------------


def test_a_missing_workspace_is_reported_with_the_command_that_makes_one(command: Command) -> None:
    said = one_line(command("search", QUESTION, "--corpus", "web"))
    assert "There is no workspace here." in said
    assert "berdseye demo" in said


@pytest.mark.parametrize(
    ("arguments", "wrong", "right"),
    [
        (("search", "   ", "--corpus", "web"), "The question is empty.", "Enter a question"),
        (("search", QUESTION, "--corpus", "web", "--k", 0), "got 0.", "must be between 1 and"),
        (("search", QUESTION, "--corpus", "web", "--k", -3), "got -3.", "must be between 1 and"),
        (("search", QUESTION, "--corpus", "webb"), "Unknown corpus 'webb'.", "Did you mean web?"),
        (
            ("search", QUESTION, "--corpus", "web", "--pipeline", "bm52"),
            "Unknown retriever 'bm52'.",
            "Did you mean bm25?",
        ),
        (
            ("search", QUESTION, "--corpus", "web", "--pipeline", "bm25 >> mrm(0.9)"),
            "Unknown stage 'mrm'.",
            "Did you mean mmr",
        ),
        (("search", QUESTION, "--corpus", "web", "--pipeline", "bm25(k1="), "cannot be read after", "Write it like"),
        (("evaluate", "--measures", "MRecal@5"), "Unknown measure 'MRecal@5'.", "MRecall@5"),
        (("evaluate", "--labels", "embeded"), "Unknown label source 'embeded'.", "embedded"),
        (("evaluate", "--run", "debate--web--bm52"), "Unknown run 'debate--web--bm52'.", "debate--web--bm25"),
        (("evaluate", "--run", "gone.jsonl"), "gone.jsonl", "Check the path."),
        (("agreement", "--detector", "embeded"), "Unknown detector 'embeded'.", "Did you mean embedded"),
        (("index", "encyclopedia", "--pipeline", "dense(statik)"), "Unknown encoder 'statik'.", "Did you mean static?"),
    ],
    ids=lambda value: " ".join(map(str, value))[:60] if isinstance(value, tuple) else "",
)
def test_a_wrong_argument_is_named_with_what_to_write(
    command: Command, demo_workspace: Workspace, arguments: tuple[object, ...], wrong: str, right: str
) -> None:
    said = one_line(command(*arguments, "--workspace", demo_workspace.folder))
    assert wrong in said
    assert right in said


def test_an_unknown_detector_is_answered_with_the_nearest(command: Command) -> None:
    assert "Did you mean similarity?" in one_line(command("detect", "Text.", "A view.", "--detector", "similarty"))


def bad_on_line_seven(folder: Path) -> Path:
    path = folder / "documents.jsonl"
    lines = [json.dumps({"id": n, "text": f"Passage {n} about uniforms."}) for n in range(1, 10)]
    lines[6] = '{"id": 7, "text": "cut off'
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_bad_row_is_named_with_its_line_and_nothing_is_added(command: Command, workspace: Workspace) -> None:
    path = bad_on_line_seven(workspace.folder)
    said = one_line(command("corpus", "add", "mine", path, "--workspace", workspace.folder))
    assert re.search(r"documents\.jsonl\D+7\b", said)
    assert "not valid JSON" in said
    assert workspace.corpora() == []


def test_bad_rows_can_be_left_out_and_are_listed(workspace: Workspace) -> None:
    path = bad_on_line_seven(workspace.folder)
    added = json.loads(output("corpus", "add", "mine", path, "--skip-bad", "--json", "--workspace", workspace.folder))
    assert added["count"] == 8
    assert len(added["bad_rows"]) == 1
    assert "7" in added["bad_rows"][0]


def test_an_unreadable_table_is_one_line_though_the_reader_says_two(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("item,annotator,label\n1,Ada,yes\n1,Bo,yes,and,more\n", encoding="utf-8")
    said = one_line(command("agreement", path))
    assert "Cannot be read as CSV" in said
    assert "line 3" in said


def test_a_bad_label_in_a_released_run_is_named_with_its_line(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    good = {"question": "Q?", "perspectives": ["a", "b"], "ctxs": [{"text": "t", "labels": [1, 0]}]}
    bad = {"question": "Q?", "perspectives": ["a", "b"], "ctxs": [{"text": "t", "labels": [1]}]}
    path.write_text(f"{json.dumps(good)}\n{json.dumps(bad)}\n", encoding="utf-8")
    said = one_line(command("evaluate", "--run", path))
    assert f"{path}:2:" in said
    assert "needs 2 labels" in said


# The same through a process of its own ---------------------------------------------------------------------------------


def test_the_process_ends_with_status_2_and_one_line(demo_workspace: Workspace, tmp_path: Path) -> None:
    asked = ("search", QUESTION, "--corpus", "encyclopaedia", "--json", "--workspace", demo_workspace.folder)
    assert "Did you mean encyclopedia?" in one_line(process(*asked, folder=tmp_path))


def test_the_process_without_a_workspace_ends_with_status_2(tmp_path: Path) -> None:
    assert "There is no workspace here." in one_line(process("corpus", "list", folder=tmp_path))


def test_the_process_prints_json_and_nothing_else(demo_workspace: Workspace, tmp_path: Path) -> None:
    asked = ("search", QUESTION, "--corpus", "web", "--k", 3, "--json", "--workspace", demo_workspace.folder)
    answer = process(*asked, folder=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert [row["rank"] for row in json.loads(answer.out)] == [1, 2, 3]


# Help and standard output ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", list(leaf_commands()), ids=" ".join)
def test_every_command_gives_an_example(words: tuple[str, ...]) -> None:
    text = " ".join(output(*words, "--help").split())
    assert "Example:" in text
    assert f"berdseye {' '.join(words)}" in text


def test_the_help_names_every_command() -> None:
    text = output("--help")
    assert all(words[0] in text for words in leaf_commands())


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", QUESTION, "--corpus", "pages", "--pipeline", "dense(static)"),
        ("corpus", "list"),
        ("dataset", "list"),
        ("evaluate", "--run", "policy--pages--bm25"),
        ("agreement",),
    ],
    ids=lambda words: words[0],
)
def test_standard_output_is_pure_json(demo_workspace: Workspace, arguments: tuple[str, ...]) -> None:
    found: Any = json.loads(
        output(*arguments, "--json", "--workspace", demo_workspace.folder), parse_constant=pytest.fail
    )
    assert found


def test_detect_prints_the_probability_and_the_detector() -> None:
    rows = json.loads(output("detect", "Uniforms are compulsory here.", "Uniforms are bad.", "They help.", "--json"))
    assert [row["perspective"] for row in rows] == ["Uniforms are bad.", "They help."]
    assert all(0 <= row["probability"] <= 1 and row["detector"] == "stance" and row["version"] for row in rows)
    assert {row["opinion"] for row in rows} <= {"supports", "opposes", "neither", "unsure"}
    assert all(0 <= row["opposing"] <= 1 - row["probability"] for row in rows)
    lines = output("detect", "Uniforms are compulsory here.", "Uniforms are bad.", "They help.").splitlines()
    for line, row in zip(lines, rows, strict=True):
        neither = 1 - row["probability"] - row["opposing"]
        shown = {"opposes": row["opposing"], "neither": neither}.get(row["opinion"], row["probability"])
        assert line == f"{row['opinion']}  {shown:.3f}  {row['perspective']}"
    [topic] = json.loads(output("detect", "Uniforms.", "They help.", "--detector", "embedded", "--json"))
    assert topic["opposing"] is None


@pytest.mark.parametrize("texts", [("", "Uniforms are bad."), ("Uniforms are compulsory here.", "They help.", " ")])
def test_detect_refuses_a_text_without_a_word(command: Command, texts: tuple[str, ...]) -> None:
    assert "The passage and each perspective must have at least one word." in one_line(command("detect", *texts))


def test_a_search_that_finds_nothing_says_so(command: Command, demo_workspace: Workspace) -> None:
    asked = ("search", "Xylqzt vprmkw?", "--corpus", "web", "--workspace", demo_workspace.folder)
    assert command(*asked) == (0, "", "No passage of web was found for 'Xylqzt vprmkw?'\n")
    assert command(*asked, "--json").out == "[]\n"


# Exports --------------------------------------------------------------------------------------------------------------


def test_judgments_are_exported_alike_in_every_format(demo_workspace: Workspace, tmp_path: Path) -> None:
    for ending in ("csv", "jsonl", "parquet"):
        output("judgments", "export", tmp_path / f"all.{ending}", "--workspace", demo_workspace.folder)
    with (tmp_path / "all.csv").open(encoding="utf-8", newline="") as file:
        from_csv = list(csv.DictReader(file))
    lines = (tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()
    from_jsonl = [json.loads(line) for line in lines]
    from_parquet = pd.read_parquet(tmp_path / "all.parquet").to_dict("records")
    assert len(from_csv) > 100
    for column in ("pair", "annotator", "verdict", "question", "perspective"):
        said = [row[column] for row in from_parquet]
        assert [row[column] for row in from_csv] == said == [row[column] for row in from_jsonl]
    assert {row["annotator"] for row in from_parquet} == {"Noor", "Tomas"}


def test_demo_people_can_be_left_out(demo_workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "mine.parquet"
    output("judgments", "export", path, "--no-demo", "--workspace", demo_workspace.folder)
    assert len(pd.read_parquet(path)) == 0


def test_training_data_keeps_a_question_in_one_split(demo_workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    output("judgments", "export", path, "--what", "training", "--workspace", demo_workspace.folder)
    assert path.read_text(encoding="utf-8") == ""  # made-up annotators teach nothing
    output("judgments", "export", path, "--what", "training", "--demo", "--workspace", demo_workspace.folder)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    splits = {row["question"]: {r["split"] for r in rows if r["question"] == row["question"]} for row in rows}
    assert all(len(found) == 1 for found in splits.values())
    assert {row["label"] for row in rows} == {0, 1}


def test_an_ending_without_a_format_is_refused(command: Command, demo_workspace: Workspace, tmp_path: Path) -> None:
    said = one_line(command("judgments", "export", tmp_path / "all.xlsx", "--workspace", demo_workspace.folder))
    assert ".csv, .parquet, .jsonl" in said
    assert not (tmp_path / "all.xlsx").exists()
