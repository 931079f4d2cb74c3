"""`berdseye batch`: from runs and files to batches, and what is shown and exported of them."""

import json
from pathlib import Path

import pandas as pd
import pytest
from command_line import output
from typer.testing import CliRunner

from annotation.adjudication import adjudicate
from annotation.batch_queue import BatchQueue
from annotation.batches import load_batch
from annotation.judgments import Judgments
from app.cli import cli
from data.errors import BerdseyeError
from data.workspace import Workspace

RUN = "debate--web--bm25"


@pytest.fixture
def held(demo_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judgments:
    """The demo's runs with judgments of their own."""
    url = f"sqlite:///{tmp_path / 'own.db'}"
    monkeypatch.setenv("BERDSEYE_JUDGMENTS_URL", url)
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(demo_workspace.folder))
    return Judgments.open(url)


def test_a_batch_goes_from_a_run_to_a_gold_label(held: Judgments, tmp_path: Path) -> None:
    made = json.loads(
        output("batch", "create", "first", "--run", RUN, "-k", 2, "--per-pair", 2, "--person", "Ana", "--person", "Bo",
               "--calibration", 1, "--json")
    )  # fmt: skip
    assert (made["blind"], made["people"], made["recipe"]) == (True, ["Ana", "Bo"], {"runs": [RUN], "k": 2})
    batch = load_batch(held, "first")
    queue = BatchQueue(held, batch)
    ana, bo = batch.people
    key = queue.next(ana)
    assert key is not None
    queue.give(ana, key, "supports", seconds=3.0)
    held.flag(ana, key, source="annotate", comment="two views in one")
    assert queue.next(bo) == key
    queue.give(bo, key, "does not support")
    adjudicate(held, held.sign_in("Judge"), key, "supports")
    shown = json.loads(output("batch", "show", "first", "--json"))
    numbers = shown["progress"]
    assert (numbers["given"], numbers["finished"], numbers["disputed"], numbers["decided"]) == (2, 1, 1, 1)
    assert [(p["name"], p["words"], p["flagged"], p["seconds"]) for p in numbers["people"]] == [
        ("Ana", 1, 1, 3.0), ("Bo", 1, 0, None),
    ]  # fmt: skip
    assert [f["comment"] for f in shown["flags"]] == ["two views in one"]
    assert "flagged by Ana" in output("batch", "show", "first")
    output("batch", "export", "first", tmp_path / "first.csv")
    table = pd.read_csv(tmp_path / "first.csv")
    assert table["pair"].nunique() == numbers["pairs"]
    assert table[table["pair"] == key]["adjudicated"].tolist() == ["supports"] * 2
    assert table["verdict"].dropna().tolist() == ["supports", "does not support"]
    output("batch", "close", "first")
    assert "closed" in output("batch", "list")
    assert queue.next(ana) is None


def test_the_same_seed_sends_the_same_pairs(held: Judgments) -> None:
    pairs = {}
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        output("batch", "create", name, "--run", RUN, "--run", "policy--web--bm25", "--sample", 12, "--by",
               "probability,stance,dataset", "--seed", seed)  # fmt: skip
        queue, person = BatchQueue(held, load_batch(held, name)), held.sign_in(f"Reader of {name}")
        seen = []
        while (key := queue.next(person)) is not None:
            queue.skip(person, key)
            seen.append(key)
        pairs[name] = seen
    assert pairs["a"] == pairs["b"] != pairs["c"]
    assert len(pairs["a"]) == 12


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--run", "debate--web--bm2"), "Did you mean"),
        ((), "one place"),
        (("--run", RUN, "--task", "prefer"), "--answers"),
        (("--run", RUN, "--sample", "5", "--by", "colour"), "colour"),
        (("--run", RUN, "--sample", "100000"), "sample of 100000"),
        (("--run", RUN, "--preset", "berds"), "two retrievers"),
        (("--run", RUN, "--per-pair", "2", "--person", "Ana"), "1 are named"),
    ],
)
@pytest.mark.usefixtures("held")
def test_what_cannot_be_sent_out_is_said(arguments: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(cli, ["batch", "create", "x", *arguments])
    assert isinstance(result.exception, BerdseyeError)
    assert said in str(result.exception)
    assert output("batch", "list") == ""
