"""`berdseye detector teach`, and what trains and measures on the file that it writes."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

from berdseye.annotation.batches.stored import batch_pairs, batch_questions, load_batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.app.cli import main
from berdseye.data.datasets.labelled_pairs import read_labelled_pairs
from berdseye.data.datasets.stored import same_question
from berdseye.data.workspace import Workspace
from berdseye.detectors.training import cards
from tests.app.command_line import output
from tests.detectors.training.made_training import yes_no_model
from tests.offline_models import offline_models

RUNS = ("--run", "debate--web--bm25", "--run", "debate--web--dense(static)")


@pytest.fixture
def held(demo_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judgments:
    """A copy of the demo, without judgments, and a current folder to write to."""
    shutil.copytree(demo_workspace.folder, tmp_path / "workspace")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BERDSEYE_WORKSPACE", "workspace")
    url = f"sqlite:///{tmp_path / 'own.db'}"
    monkeypatch.setenv("BERDSEYE_JUDGMENTS_URL", url)
    monkeypatch.setattr(cards, "RESAMPLES", 20)
    return Judgments.open(url)


def taught(*arguments: object) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(output("detector", "teach", *arguments, "--json"))
    return row


def refusal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: object) -> str:
    """The one line that a refused command prints."""
    monkeypatch.setattr("sys.argv", ["berdseye", "detector", "teach", *map(str, arguments)])
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (2, "")
    assert len(printed.err.strip().splitlines()) == 1
    return printed.err


def test_the_recipe_from_two_batches_to_a_detector(held: Judgments) -> None:
    """A test batch, a dev batch that people judge, the teacher's pairs, and a student: no two share a question."""
    recipe = ("--preset", "berds", "--questions", 2)
    output("batch", "create", "test", *RUNS, *recipe)
    output("batch", "create", "dev", *RUNS, *recipe, "--sample", 10, "--without-batch", "test")
    ana = held.sign_in("Ana")
    for place, key in enumerate(batch_pairs(held, load_batch(held, "dev"))):
        held.judge(ana, key, "supports" if place % 2 else "does not support", source="annotate")
    row = taught(
        "taught.tsv", *RUNS, "--teacher", "embedded", "--questions", 4, "--without-batch", "test", "--dev-batch", "dev"
    )
    rows = read_labelled_pairs(Path("taught.tsv"))
    assert Counter(r.split for r in rows) == {"train": row["pairs"], "dev": 10}
    questions = {split: {same_question(r.question) for r in rows if r.split == split} for split in ("train", "dev")}
    assert questions["dev"] <= batch_questions(held, ["dev"])
    assert not questions["train"] & batch_questions(held, ["test", "dev"])
    assert not batch_questions(held, ["dev"]) & batch_questions(held, ["test"])
    assert (len(questions["train"]), row["dev_supporting"], row["teacher"]) == (4, 5, "embedded")
    card = json.loads(output("detector", "train", "taught.tsv", "--kind", "head", "--name", "student", "--json"))
    assert card["splits"]["train"]["pairs"] == row["pairs"]
    assert card["splits"]["dev"]["positives"] == 5


def test_samples_of_each_corpus_and_retriever_are_beside_the_published_ones(held: Judgments) -> None:
    assert held.frame().empty
    report = output("detector", "teach", "out.parquet", *RUNS, "--teacher", "embedded", "--questions", 6, "--pairs", 20)
    assert "40 pairs of 6 questions, labelled by embedded" in report
    assert "web bm25\t20 pairs\t" in report
    table = json.loads(
        output("detector", "table", "out.parquet", "--detector", "embedded", "--part", "domains", "--json")
    )["domains"]
    ours = {row["domain"]: row for row in table if row["source"] == "these files"}
    assert set(ours) == {"web bm25", "web dense(static)"}
    assert all((row["n"], row["accuracy"]) == (20, 100.0) for row in ours.values()), "the teacher agrees with itself"
    assert "wikipedia bm25" in {row["domain"] for row in table}


def test_a_file_is_replaced_only_where_it_is_asked_for(
    held: Judgments, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert held.frame().empty
    asked = ("taught.tsv", *RUNS, "--teacher", "random", "--questions", 2)
    counts = taught(*asked, "--dry-run")
    assert not Path("taught.tsv").exists()
    row = taught(*asked)
    assert counts.pop("cost") is None, "the teacher runs on this machine"
    assert {name: row[name] for name in ("pairs", "questions", "near_duplicates", "dev_pairs")} == counts
    before = Path("taught.tsv").read_bytes()
    assert "taught.tsv: The file exists." in refusal(capsys, monkeypatch, *asked)
    assert Path("taught.tsv").read_bytes() == before
    assert taught(*asked[:-1], 3, "--overwrite")["questions"] == 3
    assert Path("taught.tsv").read_bytes() != before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("x.tsv", "--run", "debate--web--bm26", "--teacher", "random"), "Did you mean debate--web--bm25"),
        (("x.tsv", *RUNS, "--teacher", "randon"), "Did you mean random"),
        (("x.tsv", *RUNS, "--teacher", "random", "--questions", 5000), "but 5000 are to be drawn"),
        (("x.tsv", *RUNS, "--teacher", "random", "--questions", 2, "--pairs", 5000), "but 5000 are to be drawn"),
        (("x.tsv", *RUNS, "--teacher", "random", "--without-batch", "test"), "Unknown batch 'test'"),
        (("x.tsv", *RUNS, "--teacher", "random", "--dev-batch", "dev"), "Unknown batch 'dev'"),
        (("x.csv", *RUNS, "--teacher", "random"), "cannot be written as '.csv' files"),
        (("x.tsv", *RUNS, "--teacher", "random", "--dry-run", "--overwrite"), "--overwrite has no effect"),
    ],
)
def test_what_cannot_be_taught_is_reported(
    held: Judgments,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[object, ...],
    said: str,
) -> None:
    assert held.frame().empty
    assert said in refusal(capsys, monkeypatch, *arguments)
    assert not Path("x.tsv").exists()


def test_a_language_model_teaches_another_one(held: Judgments, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tiny model with BERDS's one worked example labels pairs, and a tiny adapter is trained on them."""
    assert held.frame().empty
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with offline_models(tmp_path / "models", monkeypatch) as models:
        yes_no_model(models / "tiny")
        row = taught("out.tsv", *RUNS, "--teacher", "prompted(tiny,shots=1,max_length=320)", "--questions", 8, "-k", 1)
        assert row["teacher"] == "prompted(tiny,shots=1,max_length=320)"
        assert row["truncated"] > 0, "passages of the demo have about 100 words"
        rows = read_labelled_pairs(Path("out.tsv"))
        lines = ["\t".join(("document", "perspective", "label", "question", "split"))]
        for place, r in enumerate(rows):  # a random teacher's labels may all be equal
            split = "dev" if r.question == rows[0].question else "train"
            lines.append("\t".join((r.pair.passage, r.pair.perspective, str(place % 2), r.question, split)))
        Path("both.tsv").write_text("\n".join(lines), encoding="utf-8")
        given = ("--kind", "lora", "--base", "tiny", "--name", "small", "--epochs", 1, "--rank", 2, "--json")
        card = json.loads(output("detector", "train", "both.tsv", *given))
        assert (card["detector"], card["max_length"]) == ("lora(small)", 512)
    torch.set_num_threads(threads)
