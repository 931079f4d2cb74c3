"""`berdseye batch`: from runs and files to batches, and what is shown and exported of them."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from berdseye.annotation.batches.dealing import arm
from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.runs_queue import pairs_of_runs
from berdseye.annotation.batches.stored import WEIGHTS, Batch, load_batch
from berdseye.annotation.judgments.adjudication import adjudicate
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.judgments.recorded import JudgmentDetails
from berdseye.annotation.judgments.schema import batch_items
from berdseye.app.cli import cli
from berdseye.app.jobs.deciding import EVERY, count_judgment
from berdseye.data.errors import BerdseyeError
from berdseye.data.workspace import Workspace
from tests.app.command_line import output

RUN = "debate--web--bm25"


@pytest.fixture
def held(demo_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judgments:
    """The demo's runs with judgments of their own."""
    url = f"sqlite:///{tmp_path / 'own.db'}"
    monkeypatch.setenv("BERDSEYE_JUDGMENTS_URL", url)
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(demo_workspace.folder))
    return Judgments.open(url)


def test_a_batch_of_random_questions_is_served_question_by_question_and_corrects_a_detector(held: Judgments) -> None:
    asked = ("--run", RUN, "-k", 2, "--preset", "random-questions", "--questions", 3, "--seed", 7)
    made = json.loads(output("batch", "create", "drawn", *asked, "--json"))
    drawn = made["recipe"]["drawn"]["debate"]
    assert (made["recipe"]["preset"], made["order"], made["seed"], len(drawn)) == ("random-questions", "batch", 7, 3)
    queue, ana = BatchQueue(held, load_batch(held, "drawn")), held.sign_in("Ana")
    measured = ("evaluate", "--run", RUN, "--labels", "corrected(embedded)", "--measures", "MRecall@2", "--json")
    with pytest.raises(BerdseyeError, match="--preset random-questions"):
        CliRunner().invoke(cli, list(measured), catch_exceptions=False, standalone_mode=False)
    served: list[str] = []
    while (key := queue.next(ana)) is not None and len(set(served)) < 3:
        served.append(queue.record(key).question_id)
        queue.give(ana, key, "supports")
    assert list(dict.fromkeys(served)) == drawn
    [row] = json.loads(output(*measured))
    assert (row["n"], row["withheld"]) == (2, ""), "the third question is not finished"
    deeper = [w if w != "MRecall@2" else "MRecall@3" for w in measured]
    with pytest.raises(BerdseyeError, match="--preset random-questions"):  # its top 3 was not sent out
        CliRunner().invoke(cli, deeper, catch_exceptions=False, standalone_mode=False)


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
    queue.give(ana, key, "supports", JudgmentDetails(seconds=3.0))
    held.flag(ana, key, source="annotate", comment="two views in one")
    assert queue.next(bo) == key
    queue.give(bo, key, "does not support")
    adjudicate(held, held.sign_in("Judge"), key, "supports")
    shown = json.loads(output("batch", "show", "first", "--json"))
    numbers = shown["progress"]
    assert (numbers["judgments"], numbers["finished"], numbers["disputed"], numbers["decided"]) == (2, 1, 1, 1)
    assert [(p["name"], p["judgments"], p["flagged"], p["seconds"]) for p in numbers["people"]] == [
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


def test_a_batch_settles_which_of_two_runs_is_better(held: Judgments) -> None:
    """The dense run's pairs are all said to support nothing: it falls behind, and the rest need not be judged."""
    made = json.loads(
        output(
            "batch",
            "create",
            "which",
            "--decide",
            RUN,
            "debate--web--dense(static)",
            "--measure",
            "Precision@3",
            "--json",
        )
    )
    assert (made["order"], made["blind"]) == ("decision", True)
    expected = made["recipe"]["expected"]
    assert 0 < expected["low"] <= expected["median"] <= expected["high"] <= expected["all"]
    before = json.loads(output("batch", "show", "which", "--json"))["decision"]
    assert before["needed"] == expected  # nobody has said anything yet
    assert "more judgments settle this (80% interval" in output("batch", "show", "which")
    batch, person = load_batch(held, "which"), held.sign_in("Ana")
    queue = BatchQueue(held, batch)
    of_dense = set(pairs_of_runs(Workspace.open(Workspace.default_folder()), ["debate--web--dense(static)"], 3))
    given = 0
    while (key := queue.next(person)) is not None:
        queue.give(person, key, "does not support" if key in of_dense else "supports")
        given += 1
        if given % 12 == 0 and "Settled" in (told := output("batch", "show", "which")):
            break
    told = output("batch", "show", "which")
    assert "Settled: bm25 is ahead of dense(static) on Precision@3" in told
    assert given <= json.loads(output("batch", "show", "which", "--json"))["progress"]["pairs"]


@pytest.mark.parametrize("earlier", [False, True])
def test_the_order_of_a_batch_of_an_earlier_version_is_computed_again(held: Judgments, earlier: bool) -> None:
    output("batch", "create", "anew", "--decide", RUN, "debate--web--dense(static)", "--measure", "Precision@3")
    batch, person = load_batch(held, "anew"), held.sign_in("Ana")
    if earlier:
        batch = replace(batch, recipe={key: value for key, value in batch.recipe.items() if key != WEIGHTS})
    queue, workspace = BatchQueue(held, batch), Workspace.open(Workspace.default_folder())
    before = priorities(held, batch)
    threads = []
    for _ in range(EVERY):
        key = queue.next(person)
        assert key is not None
        assert before[key] == min(
            before[k] for k in before if k not in held.judged_pairs(person)
        )  # the most telling first
        queue.give(person, key, "supports")
        threads.append(count_judgment(workspace, held, batch))
    assert threads[:-1] == [None] * (EVERY - 1)
    if not earlier:
        assert threads[-1] is None
        assert priorities(held, batch) == before
        return
    assert threads[-1] is not None
    threads[-1].join()
    assert priorities(held, batch) != before


def priorities(held: Judgments, batch: Batch) -> dict[str, float]:
    with held.reading() as connection:
        query = select(batch_items.c.pair, batch_items.c.priority).where(batch_items.c.batch_id == batch.id)
        return {row.pair: row.priority for row in connection.execute(query)}


def test_an_experiment_shows_the_label_to_the_share_asked_for(held: Judgments) -> None:
    made = json.loads(
        output("batch", "create", "try", "--run", RUN, "--experiment", 0.5, "--detector", "random", "--json")
    )
    assert (made["shown_share"], made["blind"], made["recipe"]["detector"]) == (0.5, False, "random")
    assert made["recipe"]["grade"] == "topic"
    assert "an experiment, the detector's label shown for 50%" in output("batch", "show", "try")
    batch = load_batch(held, "try")
    queue, person = BatchQueue(held, batch), held.sign_in("Ana")
    shown = {}
    while (key := queue.next(person)) is not None:
        queue.give(person, key, "supports")
        [event] = held.history(key)
        shown[key] = event["shown"]
        assert event["shown"] == (arm(batch, key, person) == "shown")
    assert 0.35 < sum(shown.values()) / len(shown) < 0.65
    other = held.sign_in("Bo")
    assert {arm(batch, key, other) == "shown" for key, said in shown.items() if said} == {True, False}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--run", RUN, "--experiment", "1"), "below 1, got 1"),
        (("--run", RUN, "--experiment", "0.5", "--task", "verify"), "task `judge`"),
        (("--decide", RUN, RUN), "two different runs"),
        (("--decide", RUN, "policy--web--bm25"), "one data set"),
        (
            ("--decide", RUN, "debate--web--dense(static)", "--measure", "nDCG@5"),
            "cannot be computed from drawn labels",
        ),
        (("--run", RUN, "--decide", RUN, "debate--web--dense(static)"), "one source"),
        (("--run", RUN, "--order", "decision"), "--decide"),
        (("--run", "debate--web--bm2"), "Did you mean"),
        ((), "one source"),
        (("--run", RUN, "--task", "prefer"), "--answers"),
        (("--run", RUN, "--sample", "5", "--by", "colour"), "colour"),
        (("--run", RUN, "--sample", "100000"), "sample of 100000"),
        (("--run", RUN, "--preset", "berds"), "two retrievers"),
        (("--run", RUN, "--preset", "random-questions", "--order", "uncertainty"), "Omit --order"),
        (("--run", RUN, "--preset", "random-questions", "--questions", "99"), "cannot be drawn"),
        (("--run", RUN, "--per-pair", "2", "--person", "Ana"), "names only 1"),
    ],
)
@pytest.mark.usefixtures("held")
def test_what_cannot_be_sent_out_is_reported(arguments: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(cli, ["batch", "create", "x", *arguments])
    assert isinstance(result.exception, BerdseyeError)
    assert said in str(result.exception)
    assert output("batch", "list") == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--decide", RUN, "debate--web--dense(static)", "--order", "uncertainty"), "use --order decision"),
        (("--decide", RUN, "debate--web--dense(static)", "--order", "batch"), "use --order decision"),
        (("--decide", RUN, "debate--web--dense(static)", "-k", "3"), "--k has no effect without --run"),
        (("--run", RUN, "--measure", "Precision@3"), "--measure has no effect without --decide"),
        (("--run", RUN, "--questions", "3"), "--questions has no effect without --preset berds"),
        (("--run", RUN, "--by", "stance"), "--by has no effect without --sample"),
        (("--run", RUN, "--shown", "--experiment", "0.5"), "--shown has no effect with --experiment"),
        (("--answers", "a.jsonl", "--task", "prefer", "--shown"), "--shown has no effect with --task prefer"),
        (("--answers", "a.jsonl", "--task", "prefer", "--detector", "random"), "--detector has no effect with"),
        (
            ("--run", RUN, "--hold", "5", "--reservation-minutes", "6"),
            "--hold is the former name of --reservation-minutes",
        ),
        (("--run", RUN, "--detector", ""), "--detector is empty"),
    ],
)
@pytest.mark.usefixtures("held")
def test_an_option_without_effect_is_refused(arguments: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(cli, ["batch", "create", "x", *arguments])
    assert isinstance(result.exception, BerdseyeError), result.output
    assert said in str(result.exception)
    assert output("batch", "list") == ""


def test_the_order_of_a_decision_may_be_written_out(held: Judgments) -> None:
    made = json.loads(
        output(
            "batch", "create", "which", "--decide", RUN, "debate--web--dense(static)", "--order", "decision", "--json"
        )
    )
    assert made["order"] == load_batch(held, "which").order == "decision"


@pytest.mark.parametrize("option", ["--reservation-minutes", "--hold"])
def test_a_reservation_is_in_minutes_on_both_sides(held: Judgments, option: str) -> None:
    result = CliRunner().invoke(cli, ["batch", "create", "mine", "--run", RUN, option, "7", "--json"])
    made = json.loads(result.stdout)
    assert (
        made["reservation_minutes"] == json.loads(output("batch", "show", "mine", "--json"))["reservation_minutes"] == 7
    )
    assert "hold" not in made
    assert load_batch(held, "mine").hold == 7 * 60
    assert ("--hold is now called --reservation-minutes" in result.stderr) == (option == "--hold")


def test_labels_that_are_to_be_shown_are_there(held: Judgments) -> None:
    """Without a detector's name the adopted one is asked, as for every other use of labels."""
    made = json.loads(output("batch", "create", "seen", "--run", RUN, "--shown", "--json"))
    assert (made["blind"], made["recipe"]["detector"]) == (False, "stance")
    queue = BatchQueue(held, load_batch(held, "seen"))
    key = queue.next(held.sign_in("Ana"))
    assert key is not None
    assert queue.item(key).decision is not None
