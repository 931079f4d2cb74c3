"""`runs`, `bundle`, `verify` and `evaluate --run FILE` as scripts see them: what is printed, what is said, the exit status."""

import json
import shutil
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from berdseye.app.cli import main
from berdseye.data.runs.stored import list_runs
from berdseye.data.workspace import Workspace

RUN = "debate--web--bm25"


class Answer(NamedTuple):
    code: int
    out: str
    err: str


class Command(Protocol):
    def __call__(self, *arguments: object) -> Answer: ...


@pytest.fixture
def command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, demo_workspace: Workspace
) -> Command:
    """`berdseye ...` in this process, in an empty folder, with the demo as workspace."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(demo_workspace.folder))

    def call(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["berdseye", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return Answer(code if isinstance(code, int) else int(code is not None), *capsys.readouterr())

    return call


def test_a_run_and_its_labels_go_out_and_are_scored_alike(command: Command) -> None:
    measures = ("--measures", "MRecall@5 nDCG@5 MAP@20", "--json")
    assert command("runs", "export", RUN, "x.run").code == 0
    assert command("runs", "labels", "debate", "web", "x.qrels", "--labels", "gold").code == 0
    stored = json.loads(command("evaluate", "--run", RUN, "--labels", "gold", *measures).out)
    by_file = json.loads(command("evaluate", "--run", "x.run", "--qrels", "x.qrels", *measures).out)
    here = json.loads(
        command(
            "evaluate", "--run", "x.run", "--dataset", "debate", "--corpus", "web", "--labels", "gold", *measures
        ).out
    )
    assert list(by_file) == list(here) == ["MRecall@5", "nDCG@5", "AP@20"] == [row["measure"] for row in stored]
    for row in stored:
        for found in (by_file, here):
            for name in ("value", "low", "high", "n", "judged"):
                assert found[row["measure"]][name] == row[name]
    assert by_file["nDCG@5"]["labels"] == "x.qrels"


def test_the_released_form_goes_out_and_comes_back(command: Command) -> None:
    asked = ("runs", "export", RUN, "x.jsonl", "--format", "berds", "--labels", "gold", "--model", "mistral")
    assert command(*asked).code == 0
    ctx = json.loads(Path("x.jsonl").read_text(encoding="utf-8").splitlines()[0])["ctxs"][0]
    assert {"title", "text", "labels", "mistral-preds"} <= set(ctx)
    stored = json.loads(command("evaluate", "--run", RUN, "--labels", "gold", "--json").out)
    found = json.loads(command("evaluate", "--run", "x.jsonl", "--json").out)
    assert [found[row["measure"]]["value"] for row in stored] == [row["value"] for row in stored]


def test_what_is_missing_is_reported(command: Command) -> None:
    command("runs", "export", RUN, "x.run")
    lines = Path("x.run").read_text(encoding="utf-8").splitlines(keepends=True)
    first = lines[0].split()[0]
    Path("y.run").write_text("".join(line for line in lines if not line.startswith(f"{first} ")), encoding="utf-8")
    place = ("--dataset", "debate", "--corpus", "web", "--labels", "gold", "--json", "--measures", "Precision@30")
    left_out, zero = (
        command("evaluate", "--run", "y.run", "--missing", "left-out", "--min-judged", "0", *place),
        command("evaluate", "--run", "y.run", "--min-judged", "0", *place),
    )
    assert f"1 of 8 questions are not in y.run and are left out: {first}." in left_out.err
    assert "y.run has 20 passages per question at most; these measures look deeper: Precision@30." in left_out.err
    assert "count as retrieving nothing" in zero.err
    a, b = (json.loads(answer.out)["Precision@30"] for answer in (left_out, zero))
    assert (a["n"], b["n"]) == (7, 8)
    assert b["value"] == pytest.approx(a["value"] * 7 / 8)


def test_an_import_is_stored_and_replaces_nothing_else(
    command: Command, demo_workspace: Workspace, tmp_path: Path
) -> None:
    shutil.copytree(demo_workspace.folder, tmp_path / "copy")
    there = ("--dataset", "debate", "--corpus", "web", "-w", "copy")
    command("runs", "export", RUN, "x.run")
    for _ in range(2):  # an import may be done again
        assert command("runs", "import", "x.run", "--name", "imported(mine)", *there).code == 0
    listed = json.loads(command("runs", "list", "--json", "-w", "copy").out)
    assert "debate--web--imported(mine)" in {row["name"] for row in listed}
    ran = ("run", "--dataset", "debate", "--corpus", "web", "--pipeline", "bm25(k1=2)", "-w", "copy")
    assert command("--as", "Ana", *ran).code == 0
    names = [m.made_by for m in list_runs(Workspace.open(tmp_path / "copy")) if m.pipeline.startswith("bm25(k1=2")]
    assert names == ["Ana"]
    refused = command("runs", "import", "x.run", "--name", "bm25", *there)
    assert refused.code == 2
    assert "cannot replace" in refused.err


def test_a_bundle_is_verified_and_a_forged_one_is_not(command: Command) -> None:
    assert command("bundle", RUN, "x.zip", "--labels", "gold", "--with-passages").code == 0
    good = command("verify", "x.zip")
    assert (good.code, good.out) == (0, "")
    assert "0 mismatches" in good.err
    with zipfile.ZipFile("x.zip") as old, zipfile.ZipFile("y.zip", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, content.replace(b" 1\n", b" 0\n") if name.endswith(".qrels") else content)
    bad = command("verify", "y.zip")
    assert bad.code == 1
    assert "labels/debate--web.qrels was changed" in bad.out
    assert "MRecall@5 of bm25 on debate over web (gold): value is" in bad.out
    told = json.loads(command("verify", "y.zip", "--json").out)
    assert told["mismatches"] == bad.out.splitlines()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("verify", "gone.zip"), "gone.zip: The file does not exist."),
        (("bundle", "debate--web--bm52", "x.zip"), "debate--web--bm25"),
        (("bundle", RUN, "debate--pages--bm25"), ".zip file"),
        (("runs", "export", "nothing", "x.run"), "Unknown run 'nothing'."),
        (("runs", "export", RUN, "x.run", "--labels", "gold"), "require --format berds"),
        (("runs", "labels", "debate", "web", "x", "--labels", "corrected(embedded)"), "Use embedded."),
        (
            ("runs", "import", "gone.run", "--dataset", "debate", "--corpus", "web"),
            "gone.run: The file does not exist.",
        ),
        (("evaluate", "--run", "gone.run"), "There is no such file."),
        (("evaluate", "--qrels", "x.qrels"), "Name the file with --run."),
        (("evaluate", "--run", RUN, "--measures", "alpha_nDCG@50"), "at most 20"),
        (
            ("evaluate", "--run", RUN, "--labels", "corrected(embedded)", "--measures", "nDCG@5"),
            "cannot correct nDCG@5",
        ),
    ],
)
def test_bad_input_is_named_on_standard_error(command: Command, words: tuple[str, ...], said: str) -> None:
    answer = command(*words)
    assert answer.code == 2
    assert said in answer.err
    assert answer.err.splitlines()[-1].startswith("berdseye: ")
    assert answer.out == ""
