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
from typer.testing import CliRunner

from app.cli import cli, main
from data.workspace import Workspace

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


def output(*arguments: object) -> str:
    """What a command that should succeed prints on standard output."""
    result = CliRunner().invoke(cli, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def process(*arguments: object, folder: Path) -> Answer:
    """`berdseye ...` as a process of its own, in `folder`."""
    found = subprocess.run(
        [sys.executable, "-m", "app.cli", *map(str, arguments)],
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


def test_no_workspace_is_said_with_the_way_out(command: Command) -> None:
    said = one_line(command("search", QUESTION, "--corpus", "web"))
    assert "There is no workspace here." in said
    assert "berdseye demo" in said


@pytest.mark.parametrize(
    ("arguments", "wrong", "right"),
    [
        (("search", "   ", "--corpus", "web"), "The question is empty.", "Type one"),
        (("search", QUESTION, "--corpus", "web", "--k", 0), "k is 0.", "Choose between 1 and"),
        (("search", QUESTION, "--corpus", "web", "--k", -3), "k is -3.", "Choose between 1 and"),
        (("search", QUESTION, "--corpus", "webb"), "Unknown corpus 'webb'.", "Did you mean web?"),
        (
            ("search", QUESTION, "--corpus", "web", "--pipeline", "bm52"),
            "Unknown retriever 'bm52'.",
            "Did you mean bm25?",
        ),
        (
            ("search", QUESTION, "--corpus", "web", "--pipeline", "bm25 >> mrm(0.9)"),
            "Unknown stage 'mrm'.",
            "Did you mean mmr?",
        ),
        (("search", QUESTION, "--corpus", "web", "--pipeline", "bm25(k1="), "cannot be read after", "Write it like"),
        (("evaluate", "--measures", "MRecal@5"), "Unknown measure 'MRecal@5'.", "MRecall@5"),
        (("evaluate", "--labels", "embeded"), "Unknown label source 'embeded'.", "embedded"),
        (("evaluate", "--run", "debate--web--bm52"), "Unknown run 'debate--web--bm52'.", "debate--web--bm25"),
        (("evaluate", "--run", "gone.jsonl"), "gone.jsonl", "Check the path."),
        (("agreement", "--detector", "embeded"), "Unknown detector 'embeded'.", "Did you mean embedded"),
        (("index", "web", "--pipeline", "dense(statik)"), "Unknown encoder 'statik'.", "Did you mean static?"),
    ],
    ids=lambda value: " ".join(map(str, value))[:60] if isinstance(value, tuple) else "",
)
def test_a_mistake_is_one_line_with_the_way_out(
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


# Contracts ------------------------------------------------------------------------------------------------------------


def test_search_prints_the_ranked_passages(demo_workspace: Workspace) -> None:
    asked = ("search", QUESTION, "--corpus", "encyclopedia", "--pipeline", "bm25", "--k", 5)
    rows = json.loads(output(*asked, "--json", "--workspace", demo_workspace.folder))
    assert [set(row) for row in rows] == [{"rank", "passage", "title", "text", "score"}] * 5
    assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5]
    order = [(row["score"], row["passage"]) for row in rows]
    assert order == sorted(order, reverse=True)
    assert all(isinstance(row["passage"], int) and row["text"] and row["title"] for row in rows)
    assert any("car" in row["text"].lower() for row in rows)


def test_search_for_more_than_there_is_prints_what_there_is(workspace: Workspace) -> None:
    path = workspace.folder / "two.jsonl"
    path.write_text('{"text": "Blue uniforms."}\n{"text": "Red uniforms."}\n', encoding="utf-8")
    output("corpus", "add", "two", path, "--workspace", workspace.folder)
    rows = json.loads(output("search", "uniforms", "--corpus", "two", "-k", 50, "--json", "-w", workspace.folder))
    assert sorted(row["text"] for row in rows) == ["Blue uniforms.", "Red uniforms."]


@pytest.fixture
def fifty_items(tmp_path: Path) -> Path:
    """50 items of two annotators: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no, Bo's rows in the opposite order."""
    said = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    path = tmp_path / "labels.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("item", "annotator", "label"))
        rows.writerows((f"i{n}", "Ada", a) for n, (a, _) in enumerate(said))
        rows.writerows((f"i{n}", "Bo", b) for n, (_, b) in reversed(list(enumerate(said))))
    return path


def test_agreement_prints_the_worked_example(fifty_items: Path) -> None:
    """By hand: p_o = .7, p_e = .5; kappa's variance after Fleiss, Cohen and Everitt (1969) is .2016 / 12.5; Fleiss' chance
    agreement is .55^2 + .45^2; alpha's expected disagreement is 1 - (55 * 54 + 45 * 44) / 9900 = .5."""
    found = json.loads(output("agreement", fifty_items, "--json"))
    half = 1.959964 * (0.2016 / 12.5) ** 0.5
    (pair,) = found["pairs"]
    assert {pair["a"], pair["b"]} == {"Ada", "Bo"}
    assert pair["n"] == 50
    assert pair["raw"] == pytest.approx(0.7)
    assert pair["cohen_kappa"] == pytest.approx(0.4)
    assert (pair["low"], pair["high"]) == pytest.approx((0.4 - half, 0.4 + half), abs=1e-6)
    assert found["fleiss_kappa"] == pytest.approx((0.7 - 0.505) / (1 - 0.505))
    assert found["krippendorff_alpha"] == pytest.approx(0.4)


def test_agreement_of_three_names_each_two_and_leaves_empty_labels_out(fifty_items: Path) -> None:
    with fifty_items.open("a", encoding="utf-8") as file:
        file.write("i0,Cy,yes\ni1,Cy,yes\ni49,Cy,no\ni48,Cy,\n")
    found = json.loads(output("agreement", fifty_items, "--json"))
    pairs = {frozenset((p["a"], p["b"])): p for p in found["pairs"]}
    assert {key: p["n"] for key, p in pairs.items()} == {
        frozenset(("Ada", "Bo")): 50,
        frozenset(("Ada", "Cy")): 3,
        frozenset(("Bo", "Cy")): 3,
    }
    assert pairs[frozenset(("Ada", "Cy"))]["cohen_kappa"] == pytest.approx(1.0)
    assert found["n_complete"] == 3


def test_agreement_that_is_undefined_is_null_and_still_json(tmp_path: Path) -> None:
    path = tmp_path / "same.csv"
    path.write_text("item,annotator,label\n1,Ada,yes\n1,Bo,yes\n2,Ada,yes\n2,Bo,yes\n", encoding="utf-8")
    found = json.loads(output("agreement", path, "--json"), parse_constant=pytest.fail)
    assert found["pairs"][0]["cohen_kappa"] is None
    assert found["pairs"][0]["raw"] == 1.0


@pytest.fixture
def released_run(tmp_path: Path) -> Path:
    """Four questions whose MRecall@5 is 1, 0, 1, 1 and whose Precision@5 is 3/5, 1/5, 5/5, 2/5."""
    labels: list[list[list[int]]] = [
        [[1, 0], [0, 1], [0, 0], [1, 1], [0, 0]],
        [[1, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 1]],  # the other perspective comes sixth: too late
        [[int(place == rank) for place in range(6)] for rank in range(5)],  # five of six fill the five places
        [[1], [0], [1]],  # a short list is still divided by 5
    ]
    lines = [
        {
            "question": f"Question {n}?",
            "perspectives": [f"View {place}" for place in range(len(rows[0]))],
            "ctxs": [{"text": f"Passage {rank}", "labels": row} for rank, row in enumerate(rows)],
        }
        for n, rows in enumerate(labels)
    ]
    path = tmp_path / "results.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path


def test_evaluate_prints_the_worked_example(released_run: Path) -> None:
    """MRecall@5 is 3 of 4; Wilson's interval of 3 of 4 with z = 1.96 is .62752 -+ .32689."""
    found = json.loads(output("evaluate", "--run", released_run, "--measures", "MRecall@5 Precision@5", "--json"))
    assert list(found) == ["MRecall@5", "Precision@5"]
    recall, precision = found["MRecall@5"], found["Precision@5"]
    assert {"value", "low", "high", "n"} <= set(recall)
    assert recall["value"] == pytest.approx(0.75)
    assert (recall["low"], recall["high"]) == pytest.approx((0.30063, 0.95441), abs=2e-4)
    assert precision["value"] == pytest.approx((0.6 + 0.2 + 1.0 + 0.4) / 4)
    assert 0.2 <= precision["low"] < 0.55 < precision["high"] <= 1.0
    assert (recall["n"], precision["n"]) == (4, 4)


def test_evaluate_sees_the_sixth_passage_at_6(released_run: Path) -> None:
    found = json.loads(output("evaluate", "--run", released_run, "--measures", "MRecall@6", "--json"))
    # Question 2 is covered now; question 3 has six perspectives and only five covered.
    assert found["MRecall@6"]["value"] == pytest.approx(0.75)
    found = json.loads(output("evaluate", "--run", released_run, "--measures", "Coverage@6", "--json"))
    assert found["Coverage@6"]["value"] == pytest.approx((1 + 1 + 5 / 6 + 1) / 4)


def test_evaluate_of_a_stored_run_names_its_label_source(demo_workspace: Workspace) -> None:
    asked = ("evaluate", "--run", "debate--web--bm25", "--labels", "gold", "--json", "-w", demo_workspace.folder)
    rows = json.loads(output(*asked))
    assert {row["measure"] for row in rows} == {"MRecall@5", "Precision@5", "Precision@1"}
    assert {row["labels"] for row in rows} == {"gold"}
    assert all(row["low"] <= row["value"] <= row["high"] and 0 <= row["judged"] <= 1 for row in rows)


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


def test_detect_says_the_probability_and_who_says_so() -> None:
    rows = json.loads(output("detect", "Uniforms are compulsory here.", "Uniforms are bad.", "They help.", "--json"))
    assert [row["perspective"] for row in rows] == ["Uniforms are bad.", "They help."]
    assert all(0 <= row["probability"] <= 1 and row["detector"] == "embedded" and row["version"] for row in rows)


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
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    splits = {row["question"]: {r["split"] for r in rows if r["question"] == row["question"]} for row in rows}
    assert all(len(found) == 1 for found in splits.values())
    assert {row["label"] for row in rows} == {0, 1}


def test_an_ending_without_a_format_is_refused(command: Command, demo_workspace: Workspace, tmp_path: Path) -> None:
    said = one_line(command("judgments", "export", tmp_path / "all.xlsx", "--workspace", demo_workspace.folder))
    assert ".csv, .parquet, .jsonl" in said
    assert not (tmp_path / "all.xlsx").exists()
