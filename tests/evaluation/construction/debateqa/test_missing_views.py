"""Views that answers hold and the data set lacks, up to proposals; and people's labels of dispute, up to the study's file."""

import json
from pathlib import Path

import pytest

from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.data.answers import Answer, AnswerSet
from berdseye.data.datasets.stored import save_dataset
from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.records import Perspective, Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answer_measures.people import DisputeLabel, fleiss_kappa, read_dispute_labels
from berdseye.evaluation.construction.debateqa.dispute_labels import (
    DisputeVerdict,
    dispute_items,
    dispute_labels,
    write_dispute_labels,
)
from berdseye.evaluation.construction.debateqa.missing_views import (
    Finding,
    missing_shares,
    missing_views,
    propose_views,
    rating_of,
    write_findings,
)
from tests.data.language_models.scripted import ScriptedModel

ZOOS = Question("zoos", "debate", "Should zoos be banned?", (Perspective("Zoos harm animals."),))
CARS = Question("cars", "debate", "Should cars be banned?", (Perspective("Cars pollute."),))


def answers(name: str, **texts: str) -> AnswerSet:
    return AnswerSet(name, "debate", f"api({name})", {}, [Answer(question, text) for question, text in texts.items()])


@pytest.mark.parametrize(
    ("text", "rating"),
    [
        ("Rating: 5\nPoint-of-View 1: x", 5), ("**Rating:** 4/5", 4), ("3", 3), ("2/5\nnothing", 2), ("rating = 1", 1),
        ("<think>Rating: 5</think>Rating: 2", 2), ("Rating: 15", None), ("Rating: 0", None), ("Rating: 4.5", None),
        ("I cannot.", None), ("", None), ("5 views are missing", None),
    ],
)  # fmt: skip
def test_ratings_are_read(text: str, rating: int | None) -> None:
    assert rating_of(text) == rating


def test_missing_views_become_proposals_once(workspace: Workspace, tmp_path: Path) -> None:
    save_dataset(workspace, "debate", [ZOOS, CARS])

    def judge(asked: str) -> str:
        if "species" in asked:
            return "Rating: 5\nPoint-of-View 1: Zoos save species.\nPoint-of-View 2: Zoos harm animals."
        if "whatever" in asked:
            return "Hm." if "whole number" not in asked else "Still: hm."
        return "Well." if "whole number" not in asked else "Rating: 1"

    model = ScriptedModel(judge)
    sets = [
        answers("one", zoos="They save species.", cars="They pollute."),
        answers("two", zoos="whatever", cars="  ", old="x"),
    ]
    findings = missing_views(workspace, model, [ZOOS, CARS], sets)
    assert [(f.question_id, f.system, f.rating) for f in findings] == [
        ("zoos", "one", 5), ("cars", "one", 1), ("zoos", "two", None),
    ]  # fmt: skip
    assert findings[0].views == ("Zoos save species.", "Zoos harm animals.")
    calls = len(model.asked)
    assert missing_views(workspace, model, [ZOOS, CARS], sets) == findings
    assert len(model.asked) == calls, "completions are stored"
    one, two = missing_shares(findings)
    assert (one.share, one.rated, one.unread) == (0.5, 2, 0)
    assert (str(two.share), two.rated, two.unread) == ("nan", 0, 1)

    path = tmp_path / "views.jsonl"
    assert write_findings(path, findings) == 2
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"id": "gone", "view": "Nobody asks."}) + "\n")
    log = EditLog(workspace, Judgments.open(workspace.judgments_url), "debate")
    ada, ben = log.judgments.sign_in("Ada"), log.judgments.sign_in("Ben")
    first = propose_views(log, ada, path)
    assert first.proposals == 1
    assert [reason.partition(":")[0] for reason in first.skipped] == ["line 2", "line 3"]
    assert propose_views(log, ada, path).proposals == 1
    [edit] = log.edits()
    assert (edit.change.becomes[0].text, edit.comment) == (
        "Zoos save species.", "missing view in an answer of one, rated 5",
    )  # fmt: skip
    log.accept(ben, edit.id)
    assert [p.text for p in log.present().questions[0].perspectives] == ["Zoos harm animals.", "Zoos save species."]


def test_a_line_without_a_view_is_refused_before_anything_is_proposed(workspace: Workspace, tmp_path: Path) -> None:
    save_dataset(workspace, "debate", [ZOOS])
    log = EditLog(workspace, Judgments.open(workspace.judgments_url), "debate")
    path = tmp_path / "views.jsonl"
    path.write_text('{"id": "zoos", "view": "Zoos teach."}\n{"id": "zoos", "view": " "}\n')
    with pytest.raises(BadInputError, match=r"views.jsonl:2: "):
        propose_views(log, log.judgments.sign_in("Ada"), path)
    assert log.edits() == []


def test_only_clear_findings_are_written(tmp_path: Path) -> None:
    found = [Finding("q", "Q?", "s", rating, (f"view {rating}",), "") for rating in (None, 1, 3, 4, 5)]
    assert write_findings(tmp_path / "views.jsonl", found) == 1
    assert write_findings(tmp_path / "views.jsonl", found, least=3) == 3


def test_verdicts_on_answers_become_labels_of_the_study(tmp_path: Path) -> None:
    sets = [answers("a", zoos="People disagree.", cars="Yes."), answers("b", zoos="People disagree.", cars="")]
    items = dispute_items([ZOOS, CARS], sets, seed=1)
    assert sorted((item["read"], item["statement"]) for item in items) == [
        ("Should cars be banned?", "(no answer)"), ("Should cars be banned?", "Yes."),
        ("Should zoos be banned?", "People disagree."),
    ]  # fmt: skip
    assert items == dispute_items([CARS, ZOOS], sets, seed=1)
    verdicts = [
        DisputeVerdict(item["read"], item["statement"], "yes" if "disagree" in item["statement"] else "no", who)
        for item in items
        for who in ("Ana", "Bo", "Cy")
    ]
    verdicts.append(DisputeVerdict(items[0]["read"], items[0]["statement"], "unsure", "Di"))
    labels = dispute_labels([ZOOS, CARS], sets, verdicts)
    assert len(labels) == 12
    assert DisputeLabel("zoos", "b", True, "Ana") in labels
    write_dispute_labels(tmp_path / "labels.jsonl", labels)
    assert sorted(read_dispute_labels(tmp_path / "labels.jsonl")) == sorted(labels)
    assert fleiss_kappa(labels) == (1.0, 4)
    with pytest.raises(StaleError, match="in no set of answers"):
        dispute_labels([ZOOS], sets, [DisputeVerdict(ZOOS.text, "Never.", "no", "Ana")])


def test_answers_of_no_shared_question_are_refused() -> None:
    with pytest.raises(BadInputError, match="every set"):
        dispute_items([ZOOS, CARS], [answers("a", zoos="x"), answers("b", cars="y")])
