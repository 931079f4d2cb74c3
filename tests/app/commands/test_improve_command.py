"""From judgments to a better detector in one command, and the commands on training sets."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from berdseye.annotation.judgments.adjudication import adjudicate
from berdseye.annotation.judgments.log import VERDICTS, Judgments, PairRecord
from berdseye.annotation.training_sets.store import find_set, held_out_by_people
from berdseye.app.cli import cli
from berdseye.app.jobs.improving import read_improvement
from berdseye.data.datasets.stored import split_of
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.trained import Trained, adopted_detector, list_trained
from tests.app.command_line import output

YES, NO, _ = VERDICTS
QUICKLY = ("--kind", "head")


@pytest.fixture
def judged(workspace: Workspace) -> Workspace:
    """90 questions with 4 judged pairs each, whose labels are mostly the opposite of what words suggest: the shipped detector
    fails."""
    judgments = Judgments.open(workspace.judgments_url)
    person = judgments.sign_in("Ana")
    for n in range(90):
        topic = f"topic{n}"
        for kind in range(4):
            text = (
                f"We should support {topic} now." if kind % 2 else f"The weather of day {n} was mild in place {kind}."
            )
            pair = PairRecord(
                "d",
                topic,
                f"Should we support {topic}?",
                f"We should support {topic} {kind}.",
                "supporting",
                "c",
                "",
                text,
            )
            (key,) = judgments.add_pairs([pair])
            surprising = (n + kind) % 11 != 0  # a few labels are as expected, so that no figure is 0 or 1
            judgments.judge(person, key, NO if bool(kind % 2) == surprising else YES, source="annotate")
    judgments.engine.dispose()
    return workspace


def test_what_is_learned_is_compared_adopted_and_used_everywhere(judged: Workspace) -> None:
    at = ("--workspace", judged.folder)
    before = parse_detector(adopted_detector(judged), judged).version
    found = json.loads(output("detector", "improve", *at, "--json"))
    assert (found["detector"], found["training_set"], found["adopted"]) == ("stance(judged-1)", "judged-1", True)
    (trained,) = list_trained(judged)
    assert (trained.card["judgments"], trained.card["simulated_judgments"]) == (360, 0)
    assert "simulated" not in found["measured"]
    compared = found["comparison"]
    assert compared["verdict"] == "better"
    assert compared["questions"] == sum(split_of(f"Should we support topic{n}?") == "test" for n in range(90)) >= 5
    f1 = compared["differences"][0]
    assert 0 < f1["low"] <= f1["difference"] <= f1["high"]
    assert adopted_detector(judged) == "stance(judged-1)"
    now = parse_detector(adopted_detector(judged), judged)
    assert now.version == compared["new_version"] != before == compared["present_version"]
    rows = json.loads(output("detector", "list", *at, "--json"))
    assert [(r["detector"], r["version"]) for r in rows if r["adopted"]] == [("stance(judged-1)", now.version)]
    said = json.loads(
        output("detector", "score", judged.training_sets_folder / "judged-1" / "pairs.parquet", *at, "--json")
    )
    assert (said["detector"], said["version"]) == ("stance(judged-1)", now.version)


def test_nothing_new_is_trained_where_no_judgment_is(judged: Workspace) -> None:
    at = ("--workspace", judged.folder, *QUICKLY)
    output("detector", "improve", *at, "--adopt", "always")
    (trained,) = list_trained(judged)
    again = json.loads(output("detector", "improve", *at, "--json"))
    assert list_trained(judged) == [trained]
    assert (again["adopted"], again["comparison"]["verdict"]) == (False, "no clear difference"), "it is the one in use"
    with_another = json.loads(output("detector", "improve", *at, "--name", "other", "--adopt", "always", "--json"))
    assert with_another["detector"] == "embedded(other)"
    assert with_another["adopted"]
    assert adopted_detector(judged) == "embedded(other)"


def test_never_leaves_the_present_one_in_use(judged: Workspace) -> None:
    output("detector", "improve", "--workspace", judged.folder, "--adopt", "never", *QUICKLY)
    assert adopted_detector(judged) == "stance"
    assert [t.detector for t in list_trained(judged)] == ["embedded(judged-1-head)"]
    with pytest.raises(UnknownNameError, match="Did you mean if-better"):
        output("detector", "improve", "--workspace", judged.folder, "--adopt", "better")


def test_made_up_people_train_nothing_unless_asked(workspace: Workspace) -> None:
    judgments = Judgments.open(workspace.judgments_url)
    person = judgments.sign_in("Noor", demo=True)
    for n in range(120):
        question, verdict = f"Question {n // 2}?", VERDICTS[n % 2]
        pair = PairRecord("d", question, question, f"View {n}", None, "c", "", f"Text {n}")
        (key,) = judgments.add_pairs([pair])
        judgments.judge(person, key, verdict, source="demo")
    for command in ("improve", "train"):
        with pytest.raises(BadInputError, match="Only the demo's simulated annotators have judged"):
            output("detector", command, "--workspace", workspace.folder)
    result = CliRunner().invoke(cli, ["detector", "train", "--demo", "--workspace", str(workspace.folder), *QUICKLY])
    assert result.exit_code == 0, result.output
    assert "120 of 120 judgments are by simulated annotators" in " ".join(result.stderr.split())
    (trained,) = list_trained(workspace)
    assert (trained.card["judgments"], trained.card["simulated_judgments"]) == (120, 120)
    rows = json.loads(output("detector", "list", "--workspace", workspace.folder, "--json"))
    (row,) = [row for row in rows if row["detector"] == trained.detector]
    assert row["measured"].endswith("; 120 of 120 judgments are simulated")


def test_made_up_people_decide_no_comparison(workspace: Workspace) -> None:
    """Noor and Tomas judged every pair, Ana those of every second question, contrary to them; Eve adjudicated one other pair."""
    judgments = Judgments.open(workspace.judgments_url)
    simulated = [judgments.sign_in(name, demo=True) for name in ("Noor", "Tomas")]
    ana = judgments.sign_in("Ana")
    by_ana: dict[str, bool] = {}
    alone: list[str] = []
    for n in range(240):
        question = f"Question {n // 2}?"
        (key,) = judgments.add_pairs([PairRecord("d", question, question, f"View {n}", None, "c", "", f"Text {n}")])
        for person in simulated:
            judgments.judge(person, key, (YES, NO)[n % 2], source="demo")
        if n // 2 % 2:
            judgments.judge(ana, key, (NO, YES)[n % 2], source="annotate")
            by_ana[key] = n % 2 == 1
        elif split_of(question) == "test":
            alone.append(key)
    adjudicate(judgments, judgments.sign_in("Eve"), alone[0], YES)
    at = ("--workspace", workspace.folder)
    found = json.loads(output("detector", "improve", *at, *QUICKLY, "--demo", "--json"))["comparison"]
    version = find_set(workspace, "judged")
    labels = {pair.pair.key: pair.supports for pair in version.pairs() if pair.split == "test"}
    assert {key: not labels[key] for key in labels if key in by_ana} == {k: by_ana[k] for k in labels if k in by_ana}
    held_out = held_out_by_people(judgments, version)
    expected = {key: by_ana[key] for key in labels if key in by_ana} | {alone[0]: True}
    assert {pair.pair.key: pair.supports for pair in held_out.pairs} == expected
    assert (found["pairs"], found["simulated"]) == (len(expected), len(labels) - len(expected))
    assert found["simulated"] > 0
    assert f"{found['simulated']} held-out pairs without a label by people are left out" in found["summary"]
    output("training-set", "create", *at, "--rule", "one", "--annotator", "Noor", "--demo", "--name", "noor")
    assert held_out_by_people(judgments, find_set(workspace, "noor")).pairs == []
    output("training-set", "create", *at, "--name", "people")
    assert held_out_by_people(judgments, find_set(workspace, "people")).simulated == 0


def test_an_adjudicators_word_comes_before_the_majority(judged: Workspace) -> None:
    at = ("--workspace", judged.folder)
    judgments = Judgments.open(judged.judgments_url)
    pair = Pair("We should support topic3 now.", "We should support topic3 1.")
    adjudicate(judgments, judgments.sign_in("Eve"), pair.key, YES)
    made = json.loads(output("training-set", "create", *at, "--json"))
    positives = sum(n["positives"] for n in made["splits"].values())
    plain = json.loads(output("training-set", "create", *at, "--name", "plain", "--rule", "majority", "--json"))
    assert positives == sum(n["positives"] for n in plain["splits"].values()) + 1


def test_sets_are_listed_shown_and_exported(judged: Workspace, tmp_path: Path) -> None:
    at = ("--workspace", judged.folder)
    assert output("training-set", "create", *at, "--rule", "unanimous").startswith("judged-1\t")
    listed = json.loads(output("training-set", "list", *at, "--json"))
    assert [(s["id"], s["rules"]["rule"]) for s in listed] == [("judged-1", "unanimous")]
    assert output("training-set", "list", *at).startswith(f"judged-1\t{listed[0]['hash']}\t360 pairs")
    shown = output("training-set", "show", "judged", *at)
    assert "50% supporting" in shown
    assert "leaks\tNo passage is in two splits" in shown
    for form, path in (("jsonl", "a.jsonl"), ("label-studio", "a.json"), ("chat", "chats"), ("huggingface", "hub")):
        output("training-set", "export", "judged-1", tmp_path / path, *at, "--format", form)
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == 360
    assert len(json.loads((tmp_path / "a.json").read_text())) == 360
    chats = {p.stem: len(p.read_text().splitlines()) for p in (tmp_path / "chats").iterdir()}
    assert chats == {split: n["pairs"] for split, n in listed[0]["splits"].items()}
    card = json.loads(output("detector", "train", tmp_path / "a.jsonl", *at, *QUICKLY, "--json"))
    assert card["splits"] == listed[0]["splits"], "what is exported trains as it is"
    with pytest.raises(UnknownNameError, match="format 'hugging'"):
        output("training-set", "export", "judged-1", tmp_path / "x", *at, "--format", "hugging")


def test_a_comparison_is_read_under_its_earlier_name(tmp_path: Path) -> None:
    trained = Trained("a", tmp_path, "embedded(a)", {})
    assert read_improvement(trained) is None
    for key in ("summary", "told"):
        (tmp_path / "improvement.json").write_text(json.dumps({"comparison": {key: "b against a"}}))
        assert (read_improvement(trained) or {})["comparison"]["summary"] == "b against a"
