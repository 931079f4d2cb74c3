"""`berdseye detector train`."""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from berdseye.annotation.judgments.log import VERDICTS, Judgments, PairRecord
from berdseye.app.cli import cli, main
from berdseye.data.datasets.stored import split_of
from berdseye.data.workspace import Workspace
from berdseye.detectors.training import cards
from tests.detectors.training.made_training import made_pairs


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "RESAMPLES", 20)


def train(workspace: Workspace, *arguments: object) -> str:
    given = ["detector", "train", *map(str, arguments), "--workspace", str(workspace.folder)]
    result = CliRunner().invoke(cli, given, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def written(path: Path, rows: int | None = None) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, delimiter="\t")
        lines.writerow(("document", "perspective", "label", "question", "split"))
        for p in made_pairs()[:rows]:
            lines.writerow((p.pair.passage, p.pair.perspective, int(p.supports), p.question, p.split))
    return path


def test_a_file_makes_a_detector(workspace: Workspace, tmp_path: Path) -> None:
    card = json.loads(train(workspace, written(tmp_path / "pairs.tsv"), "--name", "filed", "--json"))
    assert (card["detector"], card["data"]) == ("stance(filed)", "pairs.tsv")
    assert card["splits"]["dev"]["pairs"] == 8
    again = train(workspace, tmp_path / "pairs.tsv", "--name", "other")
    assert again.startswith("stance(other)\t")
    assert card["measured"] in again


def test_the_workspaces_own_judgments_are_what_is_learned_without_a_file(workspace: Workspace) -> None:
    judgments = Judgments.open(workspace.judgments_url)
    person = judgments.sign_in("Ana")
    questions = {"train": [], "dev": []}
    for n in range(200):
        questions.get(split_of(f"Question {n}?"), []).append(f"Question {n}?")
    for question in (*questions["train"][:6], *questions["dev"][:2]):
        for verdict in VERDICTS[:2]:
            record = PairRecord(
                "d", question, question, f"{verdict} {question}", "supporting", "c", "", f"On {question}", ""
            )
            (key,) = judgments.add_pairs([record])
            judgments.judge(person, key, verdict, source="annotate")
    card = json.loads(train(workspace, "--name", "judged", "--json"))
    assert card["splits"]["train"] == {"pairs": 12, "positives": 6, "questions": 6}
    assert card["splits"]["test"]["pairs"] == 0
    assert "no pairs were held out" in card["measured"]


@pytest.mark.parametrize(
    ("rows", "more", "told"),
    [
        (3, (), "at least 8 pairs in the train split, got 3"),
        (None, ("--kind", "lorra"), "Did you mean lora?"),
        (None, ("--search", "all"), "Unknown search 'all'"),
        (None, ("--kind", "crossencoder", "--base", "/nowhere/at-all"), "/nowhere/at-all"),
    ],
)
def test_what_cannot_be_trained_is_reported_with_the_reason(
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    rows: int | None,
    more: tuple[str, ...],
    told: str,
) -> None:
    file = written(tmp_path / "pairs.tsv", rows)
    given = ["berdseye", "detector", "train", str(file), *more, "--workspace", str(workspace.folder)]
    monkeypatch.setattr("sys.argv", given)
    with pytest.raises(SystemExit) as ended:
        main()
    out = capsys.readouterr()
    assert (ended.value.code, out.out) == (2, "")
    assert told in out.err
    assert len(out.err.strip().splitlines()) == 1
