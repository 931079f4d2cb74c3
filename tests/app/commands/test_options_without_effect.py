"""An option that another one leaves without effect is refused, and named with what it needs; nothing is silently ignored."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from berdseye.app.cli import main
from berdseye.data.workspace import Workspace
from berdseye.detectors.thresholds import read_threshold

RUN = "debate--web--bm25"
LIKENESS = "similarity(static)"


class Answer(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, demo_workspace: Workspace
) -> Callable[..., Answer]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(demo_workspace.folder))
    for name in ("x.csv", "x.run", "x.jsonl", "x.json", "x.txt"):
        (tmp_path / name).write_text("", encoding="utf-8")

    def call(*arguments: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["berdseye", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return Answer(int(ended.value.code or 0), *capsys.readouterr())

    return call


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("app --no-label-studio --label-studio-port 8090", "--label-studio-port has no effect with --no-label-studio"),
        ("answer --list debate", "DATASET has no effect with --list"),
        ("answer --list --show x", "--show has no effect with --list"),
        ("answer --show x --strategy react", "--strategy has no effect with --show"),
        ("answer debate --question zoos", "--question has no effect without --show"),
        ("answer debate --prompt-file x.txt --style basic", "--style has no effect with --prompt-file"),
        ("answer debate --pipeline bm25", "--pipeline has no effect without --strategy"),
        ("answer debate --chunks 3 --characters 9", "--chunks and --characters have no effect without --strategy"),
        ("answer debate --strategy vanilla --corpus web --retrievals 2", "--retrievals has no effect without"),
        ("answer debate --seed 1", "--seed has no effect without --temperature above 0"),
        ("answer debate --top-p 0.9", "--top-p has no effect without --temperature above 0"),
        (f"evaluate --run {RUN} --missing zero", "--missing has no effect without a file"),
        ("evaluate --missing zero", "--missing has no effect without a file"),
        ("evaluate --run x.jsonl --missing zero", "--missing has no effect without --qrels"),
        (f"evaluate --run {RUN} --dataset-version 1 --corpus web", "--corpus has no effect with --dataset-version"),
        ("agreement x.csv --detector random", "--detector has no effect with FILE"),
        ("agreement x.csv --no-demo", "--no-demo has no effect with FILE"),
        ("corpus add mine x.jsonl --threshold 0.5", "--threshold has no effect without --near-duplicates drop"),
        ("detector train x.csv --training-set judged", "--training-set has no effect with FILE"),
        ("detector train x.csv --demo", "--demo has no effect with FILE"),
        ("detector train --training-set judged --demo", "--demo has no effect with --training-set"),
        ("detector train --trials 3", "--trials has no effect without --search"),
        ("detector train --epochs 3", "--epochs has no effect without --kind crossencoder or lora"),
        ("detector train --kind stacked --seed 3", "--seed has no effect without --kind"),
        ("detector train --kind crossencoder --rank 3", "--rank has no effect without --kind lora"),
        ("detector train --kind lora --search grid --warmup 0.1", "--warmup has no effect with --search grid"),
        ("detector improve --training-set judged --rule majority", "--rule has no effect with --training-set"),
        ("detector improve --training-set judged --no-demo", "--demo has no effect with --training-set"),
        ("detector tune x.csv --forget", "FILE has no effect with --forget"),
        ("detector tune --forget --at-base-rate", "--at-base-rate has no effect with --forget"),
        ("detector tune --history --forget", "--forget has no effect with --history"),
        ("judgments push --k 3", "--k has no effect without --run"),
        ("label-studio --port 8090 push first", "--port before 'push' would have no effect"),
        ("label-studio --workspace x push first", "--workspace before 'push' would have no effect"),
        ("guidelines show v1 --batch first", "--batch has no effect with VERSION"),
        ("guidelines show v1 --task judge", "--task has no effect with VERSION"),
        ("guidelines show --batch first --task judge", "--task has no effect with --batch"),
        ("study dmerit --dataset debate --corpus web --pipeline bm25", "--pipeline has no effect without --evidence"),
        ("study dmerit --dataset debate --corpus web --released", "--released has no effect without --evidence"),
        ("study dmerit --run x.run --qrels x.run --labels gold", "--labels has no effect without --dataset"),
        ("study dmerit --dataset debate --corpus web --part systems --known x.run", "--known has no effect without"),
        ("study dmerit --dataset debate --corpus web --part systems --trials 9", "--trials has no effect without"),
        ("study debateqa --measures PD(gpt2) --prompt DA=x.txt", "--prompt has no effect without DA(MODEL)"),
        ("study debateqa-stability --measures BLEU --wraps", "--wraps has no effect without PD(MODEL)"),
        ("study debateqa-stability --limit 3 --sample 3", "--limit has no effect with --sample"),
        ("study debateqa-stability --sample-seed 3", "--sample-seed has no effect without --sample"),
        ("answer debate --limit 3 --sample 3", "--limit has no effect with --sample"),
        ("answer debate --sample-seed 3", "--sample-seed has no effect without --sample"),
        ("study debateqa-meta --seed 1", "--seed has no effect without --preferences"),
        ("study pir x.json --json --format csv", "--format has no effect with --json"),
        ("study pir x.json --json --part bias", "--part has no effect with --json"),
        ("study pir x.json --model llm", "--model has no effect without --part extraction"),
        ("study pir x.json --encoder bm25", "--encoder has no effect without --part methods"),
        ("study pir-downstream --perspectrum x.json --answers x.jsonl", "--answers has no effect without --ambigqa"),
        ("study pir-downstream --essays 8", "--essays has no effect without --perspectrum"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(command: Callable[..., Answer], line: str, said: str) -> None:
    answer = command(*line.split())
    assert (answer.code, answer.out) == (2, "")
    [told] = answer.err.splitlines()
    assert said in told


def test_a_fault_of_the_program_keeps_its_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], demo_workspace: Workspace
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("berdseye.data.runs.stored.list_runs", broken)
    monkeypatch.setattr(sys, "argv", ["berdseye", "runs", "list", "-w", str(demo_workspace.folder)])
    with pytest.raises(ZeroDivisionError):
        main()
    assert "Please report it" in capsys.readouterr().err


def test_settings_that_are_a_folder_are_one_line(command: Callable[..., Answer]) -> None:
    Path("mine/berdseye.toml").mkdir(parents=True)
    answer = command("runs", "list", "-w", "mine")
    assert answer.code == 2
    assert "The settings cannot be read" in answer.err


@pytest.mark.parametrize(
    "line",
    [
        "study curves --pipeline bm25(k1=0.7) --pipeline nosuch",
        "study curves --pipeline bm25(k1=0.7) --corpus web --corpus nosuch",
        "study curves --pipeline bm25(k1=0.7) --dataset debate --dataset nosuch",
        "study berds diversity --pipeline bm25 --expansion nosuch",
    ],
)
def test_a_study_makes_no_run_before_every_name_is_known(
    command: Callable[..., Answer], demo_workspace: Workspace, line: str
) -> None:
    before = sorted(demo_workspace.runs_folder.iterdir())
    answer = command(*line.split())
    assert answer.code == 2
    assert "nosuch" in answer.err
    assert sorted(demo_workspace.runs_folder.iterdir()) == before


def test_a_result_is_packed_as_it_is(
    command: Callable[..., Answer], demo_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measures and labels are those of the study that was kept."""
    from berdseye.evaluation.studies.result import list_results

    own = shutil.copytree(demo_workspace.folder, tmp_path / "own")
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(own))
    made = command("study", "curves", "--dataset", "debate", "--corpus", "web", "--labels", "gold", "--deepest", "2")
    assert made.code == 0
    [name, *_] = list_results(Workspace.open(own))
    answer = command("bundle", name, "x.zip", "--measures", "MRecall@5")
    assert "--measures has no effect without a stored run" in answer.err


def test_forgetting_a_threshold_is_json_where_json_is_asked_for(command: Callable[..., Answer]) -> None:
    told = json.loads(command("detector", "tune", "--forget", "--detector", "embedded", "--json").out)
    assert (told["detector"], told["forgotten"]) == ("embedded", False)


def test_a_share_moves_the_threshold_of_a_run_alone(
    command: Callable[..., Answer], demo_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--share has no effect without --run" in command("detector", "tune", "x.csv", "--share", "20").err
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(shutil.copytree(demo_workspace.folder, tmp_path / "own")))
    asked = ("detector", "tune", "--run", "debate--web--bm25", "--share", "20")
    told = json.loads(command(*asked, "--json").out)
    assert (told["share"], told["base_rate"]) == (0.2, None)
    assert told["called_after"] == pytest.approx(0.2, abs=0.02)
    again = command(*asked).out
    assert "base rate" not in again
    assert f"threshold {told['value']:.4f} -> {told['value']:.4f}" in again, "the threshold before is the tuned one"
    assert f"supporting {told['called_after']:.1%} -> {told['called_after']:.1%}" in again
    history = command("detector", "tune", "--history").out.splitlines()
    assert len(history) == 2
    assert f"from {told['before']:g}, which called {told['called_before']:.1%} of these pairs supporting" in history[0]
    listed = next(line for line in command("detector", "list").out.splitlines() if line.startswith("* "))
    assert f"threshold {told['value']:g}: reached by 20.0% of {told['n']:,} pairs" in listed
    assert "above 0% and at most 100%" in command(*asked[:-1], "0").err


def test_a_moved_threshold_that_is_implausible_is_stored_only_on_request(
    command: Callable[..., Answer], demo_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For likeness, whose probabilities say little, the estimate for the demo's run calls all pairs supporting."""
    own = shutil.copytree(demo_workspace.folder, tmp_path / "own")
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(own))
    asked = ("detector", "tune", "--run", RUN, "--detector", LIKENESS)
    for refused in (command(*asked), command(*asked, "--json")):
        said = " ".join(refused.err.split())
        assert refused.code == 2
        assert "of them supporting, and the one in use" in said
        assert "It is not stored. Give the share that you expect, such as --share 18" in said
        assert read_threshold(Workspace.open(own), LIKENESS) is None
    told = json.loads(refused.out)
    assert told["called_after"] == 1 > told["called_before"] > 0
    assert (told["stored"], told["judged"] < 30, told["doubt"] in said) == (False, True, True)
    assert command(*asked).out == ""
    accepted = command(*asked, "--yes", "--json")
    assert accepted.code == 0
    assert "It is stored" in accepted.err
    stored = read_threshold(Workspace.open(own), LIKENESS)
    assert stored is not None
    assert (stored.value, json.loads(accepted.out)["stored"]) == (told["value"], True)
    shared = json.loads(command(*asked, "--share", "24", "--json").out)
    assert (shared["stored"], shared["doubt"]) == (True, "")
    assert "--yes has no effect with --share" in command(*asked, "--share", "24", "--yes").err
    assert "--yes has no effect without --run" in command("detector", "tune", "x.csv", "--yes").err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("search x --corpus web --day=", "--day is empty"),
        ("detector list --workspace=", "--workspace is"),
        ("detector score x.csv --threshold nan", "--threshold must be a finite number, got nan"),
        ("perspective accept debate 99999999999999999999", "EDIT is 999999999999…, which is too large"),
        ("batch create --detector=\udce9 x", "is not UTF-8"),
    ],
)
def test_a_value_that_nobody_can_mean_is_refused(command: Callable[..., Answer], line: str, said: str) -> None:
    answer = command(*line.split())
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
