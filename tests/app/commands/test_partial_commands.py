"""`berdseye study dmerit` and `study trust`: what they print, what they keep, and how they refuse."""

import json
import shutil
from pathlib import Path

import pytest

from berdseye.app.cli import main
from berdseye.data.workspace import Workspace
from tests.app.command_line import output


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Three run files and qrels: two queries with two relevant passages each."""
    (tmp_path / "q.txt").write_text("q1 0 a 1\nq1 0 b 1\nq2 0 c 1\nq2 0 d 1\n", encoding="utf-8")
    lists = {"good": ["abxy", "cdxy"], "middling": ["axby", "xcyd"], "poor": ["xyab", "xycd"]}
    options = ["--qrels", str(tmp_path / "q.txt")]
    for name, (first, second) in lists.items():
        rows = [
            f"q{n} Q0 {p} {r} {9 - r} x\n" for n, ps in ((1, first), (2, second)) for r, p in enumerate(ps, start=1)
        ]
        (tmp_path / f"{name}.run").write_text("".join(rows), encoding="utf-8")
        options += ["--run", str(tmp_path / f"{name}.run")]
    return options


def test_run_files_make_table_five_as_json(files: list[str], workspace: Workspace) -> None:
    printed = json.loads(
        output("study", "dmerit", *files, "--part", "systems", "--format", "json", "-w", workspace.folder)
    )
    rows = {(r["system"], r["measure"]): r["value"] for r in printed["dmerit-table-5"] if r["set"] == "here"}
    # R-precision, R = 2: good 2 of 2; middling a alone and c alone; poor none.
    assert rows == {("good", "R-precision"): 100, ("middling", "R-precision"): 50, ("poor", "R-precision"): 0}
    assert "dmerit-" in output("study", "list", "-w", workspace.folder)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "exactly one source"),
        (["--dataset", "policy"], "--dataset and --corpus require each other"),
        (["--qrels", "none.txt"], "--run and --qrels require each other"),
        (["--evidence", "nowhere"], "The folder does not exist"),
        (["--dataset", "policy", "--corpus", "web"], "needs at least 2 runs"),
    ],
)
def test_dmerit_names_the_options_that_it_lacks(
    arguments: list[str],
    said: str,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["berdseye", "study", "dmerit", *arguments, "-w", str(workspace.folder)])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert said in capsys.readouterr().err


def test_trust_prints_pairs_and_refuses_unknown_runs(
    demo_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own"
    shutil.copytree(demo_workspace.folder, own)
    where = ["--dataset", "policy", "--corpus", "web", "-w", str(own)]
    printed = json.loads(
        output("study", "trust", *where, "--measure", "MRecall@5", "--draws", "100", "--format", "json")
    )
    assert {r["better"] for r in printed["trust-separability"]} | {r["worse"] for r in printed["trust-separability"]} == {
        "bm25", "dense(static)",
    }  # fmt: skip
    for wrong, said in (
        (["--pipeline", "qld"], "Unknown run of 'policy' over 'web' by 'qld'"),
        (["--measure", "R@5 P@5"], "exactly one is needed"),
    ):
        monkeypatch.setattr("sys.argv", ["berdseye", "study", "trust", *where, *wrong])
        with pytest.raises(SystemExit) as caught:
            main()
        assert caught.value.code == 2
        assert said in capsys.readouterr().err


def test_dmerit_over_hardly_judged_runs_is_refused_unless_the_floor_is_off(
    demo_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The demo's gold labels are of the first passages, and the runs are 100 deep."""
    own = tmp_path / "own"
    shutil.copytree(demo_workspace.folder, own, ignore=shutil.ignore_patterns("judgments.db-*"))
    asked = ["study", "dmerit", "--dataset", "debate", "--corpus", "web", "--part", "systems", "--labels", "gold"]
    monkeypatch.setattr("sys.argv", ["berdseye", *asked, "-w", str(own)])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert "of the pairs of these runs have a label by gold, fewer than 50%" in capsys.readouterr().err
    printed = json.loads(output(*asked, "-w", str(own), "--min-judged", "off", "--format", "json"))
    [cells] = printed.values()
    assert all(cell["judged"] < 0.5 for cell in cells if cell["value"] is not None)
