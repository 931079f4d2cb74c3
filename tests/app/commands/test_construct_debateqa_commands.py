"""DebateQA by commands: from files of questions to data sets, and from answers to proposals and labels."""

import json
from pathlib import Path

import pytest

from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import load_batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.data.answers import Answer, AnswerSet, save_answers
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.language_models import model_registry
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answer_measures.people import read_dispute_labels
from tests.app.command_line import output
from tests.data.language_models.scripted import ScriptedModel
from tests.evaluation.construction.constructed import scripted
from tests.evaluation.construction.debateqa.scripted_debates import CORPUS, answer, debate_workspace, write_files


@pytest.fixture
def held(shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A workspace with debates as documents, beside the files of questions."""
    write_files(tmp_path / "files", shared_data)
    workspace = debate_workspace(tmp_path / "workspace", tmp_path / "files" / "pages.jsonl")
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
    monkeypatch.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
    return workspace


def test_questions_become_a_data_set_and_answers_close_the_loop(
    held: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, answer)
    files = tmp_path / "files"
    sources = ("--source", f"delphi={files / 'delphi.jsonl'}", "--source", f"web={files / 'web.csv'}")
    words = (
        "construct",
        "debateqa",
        "debate",
        *sources,
        "--corpora",
        CORPUS,
        "--model",
        "api(scripted)",
        "--test",
        "5",
    )
    dry = json.loads(output(*words, "--dry-run", "--json"))
    assert [step["name"] for step in dry] == [
        "sources", "duplicates", "queries", "evidence", "views", "points", "distinct", "explanations", "verified",
    ]  # fmt: skip
    shown = output(*words)
    assert "DebateQA, table 7: 3,216" in shown
    report = output("construct", "report", "debate")
    assert "delphi: 16 (DebateQA: 2,281) -> " in report
    assert "(DebateQA: 0.56)" in report
    output("construct", "dataset", "debate")
    test = load_dataset(held, "debate-test")
    assert len(test) == 5
    assert all(question.perspectives for question in test)

    output("construct", "check", "debate", "duplicates", "--size", 12, "--person", "Ana")
    judgments = Judgments.open(held.judgments_url)
    queue, ana = BatchQueue(judgments, load_batch(judgments, "debate-duplicates")), judgments.sign_in("Ana")
    seen = 0
    while (key := queue.next(ana)) is not None:
        texts = (queue.record(key).passage, queue.record(key).perspective)
        queue.give(ana, key, "yes" if any(text.startswith("Is it so") for text in texts) else "no")
        seen += 1
    outcome = output("construct", "outcome", "debate")
    assert f"{seen} items: " in outcome
    assert "Suggested threshold: 0." in outcome
    assert "the construction has 0.78" in outcome

    for system, text in (("one", "People disagree about it. A new view."), ("two", "Yes.")):
        answers = [Answer(question.id, text) for question in test]
        save_answers(held, AnswerSet(system, "debate-test", f"api({system})", {}, answers))
    judge = ScriptedModel(
        lambda asked: "Rating: 5\nPoint-of-View 1: A new view." if "A new view" in asked else "Rating: 1"
    )
    monkeypatch.setattr(model_registry, "open_language_model", lambda *_: judge)
    views = tmp_path / "views.jsonl"
    found = json.loads(output("construct", "missing-views", "debate-test", views, "--json"))
    assert {system["system"]: system["share"] for system in found["systems"]} == {"one": 1.0, "two": 0.0}
    assert (found["views"], found["printed"]) == (5, [0.03, 0.09])
    output("--as", "Ada", "construct", "propose-views", "debate-test", views)
    assert len(EditLog(held, judgments, "debate-test").edits()) == 5

    items, labels = tmp_path / "items.jsonl", tmp_path / "labels.jsonl"
    output("construct", "dispute-items", "debate-test", items, "--questions", 3)
    output("batch", "create", "disputes", "--task", "check", "--check", "dispute", "--file", items)
    queue = BatchQueue(judgments, load_batch(judgments, "disputes"))
    while (key := queue.next(ana)) is not None:
        queue.give(ana, key, "yes" if "disagree" in queue.record(key).perspective else "no")
    output("construct", "dispute-labels", "debate-test", "disputes", labels)
    given = read_dispute_labels(labels)
    assert len(given) == 6
    assert {(label.system, label.names_dispute) for label in given} == {("one", True), ("two", False)}
