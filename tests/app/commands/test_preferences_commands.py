"""From answers to blind pairs, to people's preferences, to Elo: DebateQA's table 14 by commands alone."""

import json
from pathlib import Path

import pytest

from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import load_batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.answers import Answer, AnswerSet, save_answers
from berdseye.data.datasets.stored import save_dataset
from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.records import Perspective, Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.selection.answer_pairs import answer_pairs, batch_preferences
from tests.app.command_line import output

VIEWS = (Perspective("a b c", None, "d e"), Perspective("f g", None, "h i j"))
QUESTIONS = [Question(str(n), "debate", f"Question {n}?", VIEWS) for n in range(12)]
TEXTS = {"best": "a b c d e f g h i j", "good": "a b c d e", "poor": "x y"}
ORDER = list(TEXTS)


@pytest.fixture
def held(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Judgments:
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
    save_dataset(workspace, "debate", QUESTIONS)
    for name, text in TEXTS.items():
        answers = [Answer(q.id, f"{text} {q.id}") for q in QUESTIONS]
        save_answers(workspace, AnswerSet(name, "debate", f"api({name})", {}, answers))
    return Judgments.open(workspace.judgments_url)


def better(queue: BatchQueue, key: str) -> str:
    """The verdict of somebody who prefers answers with more of the views."""
    record = queue.record(key)
    first, second = (
        next(n for n, text in enumerate(TEXTS.values()) if shown.startswith(text + " "))
        for shown in (record.passage, record.perspective)
    )
    return "first" if first < second else "second"


def test_answers_become_blind_pairs_preferences_and_elo(held: Judgments, tmp_path: Path) -> None:
    sets = [argument for name in TEXTS for argument in ("--answer-set", name)]
    people = ("--per-pair", 3, "--person", "Ana", "--person", "Bo", "--person", "Cy")
    made = json.loads(
        output("batch", "create", "people", "--preset", "debateqa", *sets, "--questions", 4, *people, "--json")
    )
    assert (made["task"], made["order"]) == ("prefer", "batch")
    assert made["recipe"]["answer_sets"] == ["best", "good", "poor"]
    batch = load_batch(held, "people")
    queue = BatchQueue(held, batch)
    firsts, shown = set(), 0
    for name in ("Ana", "Bo", "Cy"):
        person = held.sign_in(name)
        while (key := queue.next(person)) is not None:
            record = queue.record(key)
            assert not any(system in (record.title, record.corpus, record.dataset) for system in TEXTS), (
                "pairs are blind"
            )
            firsts.add(record.passage.rsplit(" ", 1)[0])
            shown += 1
            queue.give(person, key, "neither" if name == "Cy" else better(queue, key))
    assert shown == 4 * 3 * 3, "4 questions, 3 pairs of 3 systems, 3 people"
    assert len(firsts) == 3, "every system is shown first somewhere"

    path = tmp_path / "people.jsonl"
    output("batch", "preferences", "people", path)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 36
    assert {row["winner"] for row in rows if row["annotator"] != "Cy"} == {"a"}, (
        "best < good < poor in the alphabet too"
    )
    assert {row["winner"] for row in rows if row["annotator"] == "Cy"} == {"tie"}

    tables = json.loads(
        output(
            "study", "debateqa-meta", "--dataset", "debate", "--preferences", path, "--measures", "ROUGE-L",
            "--format", "json",
        )
    )  # fmt: skip
    elo = {row["system"]: row["value"] for row in tables["debateqa-elo"]}
    assert sorted(elo, key=lambda name: -elo[name]) == ORDER
    alignment = {row["figure"]: row["value"] for row in tables["debateqa-alignment"]}
    assert (alignment["rho"], alignment["pairs"]) == (pytest.approx(1.0), 1.0)


def test_texts_that_recur_under_other_questions_are_counted(held: Judgments, workspace: Workspace) -> None:
    """Two systems with one refusal each: 12 questions, but at most two pairs of texts, one for each order."""
    del held
    for name, text in (("sorry", "I cannot say."), ("model", "I have no opinion.")):
        save_answers(workspace, AnswerSet(name, "debate", f"api({name})", {}, [Answer(q.id, text) for q in QUESTIONS]))
    found = answer_pairs(workspace, "debate", ["sorry", "model"])
    assert (len(found.items), found.repeated) == (12, 10)
    assert answer_pairs(workspace, "debate", ORDER).repeated == 0
    made = json.loads(output("batch", "create", "refusals", "--preset", "debateqa", "--answer-set", "sorry",
                             "--answer-set", "model", "--json"))  # fmt: skip
    assert made["recipe"]["repeated"] == 10


def test_every_two_answers_to_a_question_are_a_pair(held: Judgments, workspace: Workspace) -> None:
    del held
    found = answer_pairs(workspace, "debate", ORDER)
    assert (len(found.items), found.questions, found.equal) == (12 * 3, 12, 0), "12 questions, 3 choose 2 pairs"
    again = answer_pairs(workspace, "debate", ["poor", "best", "good", "best"])
    assert again == found, "the order in which sets are named does not matter"
    assert answer_pairs(workspace, "debate", ORDER, seed=1).items != found.items
    first = [item.record.passage.rsplit(" ", 1)[0] for item in found.items]
    assert all(5 < first.count(text) < 19 for text in TEXTS.values()), "no system is always first"


def test_equal_and_empty_answers(held: Judgments, workspace: Workspace) -> None:
    answers = [Answer("0", ""), Answer("1", f"{TEXTS['good']} 1"), Answer("2", "z")]
    save_answers(workspace, AnswerSet("other", "debate", "api(other)", {}, answers))
    found = answer_pairs(workspace, "debate", ["good", "other"])
    assert (len(found.items), found.questions, found.equal) == (2, 3, 1)
    assert {"(no answer)"} == {
        t for i in found.items for t in (i.record.passage, i.record.perspective) if t.startswith("(")
    }
    # At question 1, good and other wrote one text, so that a judgment of it against best counts for both.
    sets = [argument for name in ("best", "good", "other") for argument in ("--answer-set", name)]
    output("batch", "create", "three", "--task", "prefer", *sets)
    batch = load_batch(held, "three")
    queue, ana = BatchQueue(held, batch), held.sign_in("Ana")
    while (key := queue.next(ana)) is not None:
        record = queue.record(key)
        if record.question_id == "1":
            queue.give(ana, key, "first" if record.passage.startswith(TEXTS["best"]) else "second")
        else:
            queue.skip(ana, key)
    preferences = batch_preferences(workspace, held, batch)
    assert sorted((p.question_id, p.a, p.b, p.winner) for p in preferences) == [
        ("1", "best", "good", "a"),
        ("1", "best", "other", "a"),
    ]
    save_answers(workspace, AnswerSet("best", "debate", "api(best)", {}, [Answer("1", "changed")]))
    with pytest.raises(StaleError, match="in no set of answers"):
        batch_preferences(workspace, held, batch)


def test_what_cannot_be_compared(held: Judgments, workspace: Workspace, tmp_path: Path) -> None:
    create = ("batch", "create", "x", "--task", "prefer")
    with pytest.raises(BadInputError, match="two sets of answers with different names, got best"):
        output(*create, "--answer-set", "best")
    with pytest.raises(BadInputError, match="Use --answers or --answer-set"):
        output("batch", "create", "x", "--answer-set", "best", "--answer-set", "good")
    save_dataset(workspace, "other", QUESTIONS[:1])
    save_answers(workspace, AnswerSet("far", "other", "api(far)", {}, [Answer("0", "z")]))
    with pytest.raises(BadInputError, match="2 data sets: debate, other"):
        output(*create, "--answer-set", "best", "--answer-set", "far")
    path = tmp_path / "mine.jsonl"
    path.write_text('{"id": "0", "generation": "mine"}\n')
    output("batch", "create", "files", "--task", "prefer", "--answer-set", "best", "--answer-set", path)
    assert load_batch(held, "files").recipe["questions"] == 1
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"question": "Why?", "first": "Because.", "second": "No reason."}\n')
    output("batch", "create", "made", "--task", "prefer", "--answers", answers)
    with pytest.raises(BadInputError, match="does not compare stored sets of answers"):
        output("batch", "preferences", "made", tmp_path / "out.jsonl")
