"""`berdseye detector adapt`: what it trains, in which order it checks what it is given, and what it reports beforehand."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer

from berdseye.annotation.judgments.log import VERDICTS, Judgments, PairRecord
from berdseye.app.cli import cli, main
from berdseye.data.datasets.stored import load_dataset, save_dataset, split_of, version_file, write_questions
from berdseye.data.language_models import model_registry
from berdseye.data.records import Perspective, Question
from berdseye.data.workspace import Workspace
from berdseye.detectors.training import cards, training
from berdseye.detectors.training.settings import STANCE_SETTINGS, Settings
from berdseye.detectors.training.written_passages import MAX_TOKENS
from berdseye.evaluation.detection.pairs import learned
from tests.app.command_line import output
from tests.data.language_models.scripted import ScriptedModel
from tests.detectors.training.made_training import WORDS, yes_no_model
from tests.offline_models import offline_models

YES, NO, _ = VERDICTS
QUESTIONS = [f"What of the {word} {number}?" for word in WORDS for number in range(12)]


def passage(number: int) -> str:
    """A passage of 40 words that no other number has."""
    return " ".join(f"word{number}x{place}" for place in range(40))


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """The language model `api(scripted)`, which writes another passage each time."""
    model = ScriptedModel(lambda _: passage(len(model.asked)))
    monkeypatch.setattr(model_registry, "MODELS", {**model_registry.MODELS, "api": lambda *_: model})
    return model


@pytest.fixture
def judged(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A data set `cities` of one question, and judgments of other questions: 12 train pairs and 4 dev pairs."""
    monkeypatch.setattr(cards, "RESAMPLES", 20)
    views = (Perspective("Cars should be banned.", "supporting"), Perspective("Cars are useful.", "opposing"))
    save_dataset(workspace, "cities", [Question("cars", "cities", "Should cars be banned?", views)])
    judgments = Judgments.open(workspace.judgments_url)
    ana = judgments.sign_in("Ana")
    for split, wanted in (("train", 6), ("dev", 2)):
        for question in [q for q in QUESTIONS if split_of(q) == split][:wanted]:
            judge(judgments, ana, question)
    judgments.engine.dispose()
    return workspace


def judge(judgments: Judgments, person: Any, question: str) -> None:
    for verdict in (YES, NO):
        pair = PairRecord("d", question, question, f"{verdict} {question}", "supporting", "c", "", f"On {question}")
        (key,) = judgments.add_pairs([pair])
        judgments.judge(person, key, verdict, source="annotate")


def adapt(workspace: Workspace, *arguments: object) -> dict[str, Any]:
    at = ("--model", "api(scripted)", "--of-each", 1, "--workspace", workspace.folder, "--json")
    found: dict[str, Any] = json.loads(output("detector", "adapt", "cities", *at, *arguments))
    return found


def card_of(workspace: Workspace, name: str) -> dict[str, Any]:
    card: dict[str, Any] = json.loads((workspace.detectors_folder / name / "card.json").read_text(encoding="utf-8"))
    return card


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with offline_models(tmp_path / "models", monkeypatch) as models:
        yes_no_model(models / "tiny")
        yield "tiny"


def test_a_lora_adapter_is_trained_with_the_settings_that_are_given(
    judged: Workspace, writer: ScriptedModel, tiny: str
) -> None:
    lora = ("--kind", "lora", "--base", tiny, "--epochs", 1, "--max-length", 400, "--alpha", 4, "--adopt", "never")
    found = adapt(judged, *lora, "--rank", 2)
    card = card_of(judged, "cities-adapted")
    assert (found["detector"], found["written_pairs"], len(writer.asked)) == ("lora(cities-adapted)", 6, 5)
    assert (card["kind"], card["base"], card["max_length"]) == ("lora", "tiny", 400)
    assert card["splits"]["train"]["pairs"] == 18
    config = json.loads((judged.detectors_folder / "cities-adapted/model/adapter_config.json").read_text())
    assert (config["r"], config["lora_alpha"], config["lora_dropout"]) == (2, 4, Settings().dropout)
    again = adapt(judged, *lora, "--rank", 2)
    assert again["detector"] == "lora(cities-adapted)", "the same plan on the same data is trained once"
    other = adapt(judged, *lora, "--rank", 3)
    assert other["detector"] == "lora(cities-adapted-2)"
    assert card_of(judged, "cities-adapted-2")["settings"]["rank"] == 3
    assert len(writer.asked) == 5, "written passages are used again"


def test_stance_keeps_its_opinion_of_written_passages_with_other_perspectives(
    judged: Workspace, writer: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "STANCE_SETTINGS", replace(STANCE_SETTINGS, epochs=0.1))
    found = adapt(judged, "--adopt", "never")
    card = card_of(judged, "cities-adapted")
    assert (found["detector"], found["written_pairs"], len(writer.asked)) == ("stance(cities-adapted)", 6, 5)
    assert card["splits"]["train"]["pairs"] == 12 + 6 + 4  # the passages for and against a view, with the other view
    assert (card["written"], card["unlabelled"], card["unlabelled_left_out"]) == (6, 4, 0)
    assert learned(judged, "stance(cities-adapted)").sets == ("judged-1",)
    assert adapt(judged, "--adopt", "never")["detector"] == "stance(cities-adapted)", "it is trained once"


def test_it_can_be_repeated_after_more_judging(judged: Workspace, writer: ScriptedModel) -> None:
    assert adapt(judged, "--kind", "head", "--adopt", "never")["detector"] == "embedded(cities-adapted)"
    judgments = Judgments.open(judged.judgments_url)
    judge(judgments, judgments.sign_in("Ana"), [q for q in QUESTIONS if split_of(q) == "train"][7])
    assert adapt(judged, "--kind", "head", "--adopt", "never")["detector"] == "embedded(cities-adapted-2)"
    assert card_of(judged, "cities-adapted-2")["splits"]["train"]["pairs"] == 20
    assert len(writer.asked) == 5


def test_a_version_of_a_data_set_gives_its_detector_a_valid_name(judged: Workspace, writer: ScriptedModel) -> None:
    file = version_file(judged, "cities@2")
    write_questions(file, "cities@2", load_dataset(judged, "cities"))
    file.with_suffix(".json").write_text("{}", encoding="utf-8")
    at = ("--model", "api(scripted)", "--kind", "head", "--adopt", "never", "--workspace", judged.folder, "--json")
    assert json.loads(output("detector", "adapt", "cities@2", *at))["detector"] == "embedded(cities-2-adapted)"
    assert writer.asked


def test_train_improve_and_adapt_offer_the_same_options() -> None:
    group: Any = typer.main.get_command(cli)
    detector = group.commands["detector"].commands
    of = {name: {p.name: (p.default, p.help) for p in detector[name].params} for name in ("train", "improve", "adapt")}
    shared = {name for name in of["train"] if name in of["adapt"] and name not in ("name", "set_", "demo")}
    assert {"kind", "base", "teacher", "search", "trials", "rank", "alpha", "dropout", "max_length"} <= shared
    for name in sorted(shared):
        assert of["train"][name] == of["improve"][name] == of["adapt"][name], name


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere", "--model", "api("), "Unknown data set 'nowhere'"),
        (("nowhere", "--model", "local(/no/model)", "--kind", "lora"), "Unknown data set 'nowhere'"),
        (("nowhere",), "Unknown data set 'nowhere'"),
        (("cities",), "no default language model"),
        (("cities", "--save", "x.csv"), "cannot be written as '.csv' files"),
        (("cities", "--adopt", "better"), "Did you mean if-better"),
        (("cities", "--model", "api(scripted)", "--kind", "lora"), "requires exactly one base model, got 0"),
        (("cities", "--model", "api(scripted)", "--kind", "lora", "--base", "/no/model"), "no model at '/no/model'"),
        (("cities", "--model", "api(scripted)", "--kind", "head", "--base", "stance"), "cannot start from 'stance'"),
        (("cities", "--model", "api(scripted)", "--kind", "stacked", "--base", "random"), "at least two detectors"),
        (("cities", "--model", "api(scripted)", "--teacher", "randon"), "Did you mean random"),
        (("cities", "--model", "api(scripted)", "--rank", "3"), "--rank has no effect without --kind lora"),
        (("cities", "--model", "api(scripted)", "--kind", "lora", "--base", "/", "--title", "top"), "top"),
        (("cities", "--model", "api(scripted)", "--training-set", "nothing"), "Unknown training set"),
        (("cities", "--model", "api(scripted)", "--training-set", "judged", "--demo"), "--demo has no effect"),
        (("cities", "--model", "api(scripted)", "--name", "No Name"), "No Name"),
    ],
)
def test_what_is_wrong_is_reported_before_a_passage_is_written(
    judged: Workspace,
    writer: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    said: str,
) -> None:
    line = refusal(judged, monkeypatch, capsys, *arguments)
    assert said in line
    assert writer.asked == []
    assert not judged.training_sets_folder.exists()


def test_too_few_judgments_are_reported_before_a_passage_is_written(
    workspace: Workspace, writer: ScriptedModel, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    save_dataset(workspace, "cities", [Question("cars", "cities", "Cars?", (Perspective("Yes.", "supporting"),))])
    judgments = Judgments.open(workspace.judgments_url)
    judge(judgments, judgments.sign_in("Ana"), next(q for q in QUESTIONS if split_of(q) == "train"))
    line = refusal(workspace, monkeypatch, capsys, "cities", "--model", "api(scripted)")
    assert "at least 8 pairs in the train split, got 2" in line
    assert writer.asked == []


def test_a_name_that_another_plan_has_is_reported_before_a_passage_is_written(
    judged: Workspace, writer: ScriptedModel, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output("detector", "train", "--kind", "head", "--name", "taken", "--workspace", judged.folder)
    line = refusal(judged, monkeypatch, capsys, "cities", "--model", "api(scripted)", "--name", "taken")
    assert "A detector 'taken' already exists" in line
    assert writer.asked == []


def refusal(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> str:
    """The line that a refused `berdseye detector adapt` prints last; earlier lines are notes."""
    given = ["berdseye", "detector", "adapt", *arguments, "--workspace", str(workspace.folder)]
    monkeypatch.setattr("sys.argv", given)
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (2, "")
    return printed.err.strip().splitlines()[-1]


def test_a_dry_run_reports_calls_and_cost_without_a_call(
    judged: Workspace, writer: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five passages are asked for: for and against two perspectives, and a neutral one."""
    at = ("--of-each", 1, "--dry-run", "--workspace", judged.folder)
    free = json.loads(output("detector", "adapt", "cities", *at, "--model", "local(/no/model)", "--json"))
    assert (free["calls"], free["tokens"], free["dollars"]) == (5, 5 * MAX_TOKENS, 0.0)
    said = output("detector", "adapt", "cities", *at, "--model", "local(/no/model)")
    assert said.startswith("5 calls of local(/no/model): ")
    assert said.endswith(", at most $0.00\n")
    monkeypatch.undo()  # the real `api`, which is asked nothing
    said = output("detector", "adapt", "cities", *at, "--model", "api(big)")
    assert said.endswith("of unknown price (set it under [language_models.prices] in berdseye.toml)\n")
    settings = "\n[language_models.prices]\nbig = [2000, 10000]\n"
    (judged.folder / "berdseye.toml").write_text(settings, encoding="utf-8")
    priced = json.loads(output("detector", "adapt", "cities", *at, "--model", "api(big)", "--json"))
    assert priced["dollars"] == pytest.approx((2000 * 1.3 * priced["words"] + 10_000 * priced["tokens"]) / 1e6)
    assert writer.asked == []
    assert not judged.detectors_folder.exists()
