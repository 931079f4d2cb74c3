"""Each kind reads its sources, rejects what a model writes amiss, and gives the questions that BERDS describes."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.asking import UnreadableError
from berdseye.evaluation.construction.berds.inspection import inspection_items
from berdseye.evaluation.construction.berds.opinionqa import meaningful_options
from berdseye.evaluation.construction.berds.statements import (
    checked_statements,
    copied_words,
    is_bare_negation,
    questions_of,
)
from berdseye.evaluation.construction.completions import labelled_lines
from berdseye.evaluation.construction.reporting import reasons, rejections
from berdseye.evaluation.construction.running import run_construction
from berdseye.evaluation.construction.stored import Construction
from tests.evaluation.construction.constructed import begun, lines, scripted


def ran(workspace: Workspace, kind: str, source: Path) -> Construction:
    construction = begun(workspace, kind, source, kind)
    run_construction(construction)
    return construction


def test_questions_alone_get_two_statements(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, lambda _: "1. Zoos should exist.\n2. Zoos should not exist.")
    source = tmp_path / "typed.txt"
    source.write_text("- Should zoos exist?\n\n2. Should cars be banned?\nNo question\nshould ZOOS exist?\n")
    construction = ran(workspace, "questions", source)
    made = questions_of(construction.kept("perspectives"))
    assert [q.text for q in made] == ["Should zoos exist?", "Should cars be banned?"]
    assert [p.stance for p in made[0].perspectives] == ["supporting", "opposing"]
    assert [(r.row, r.reason) for r in rejections(construction)] == [
        ("4", "has no question mark"),
        ("5", "nearly repeats an earlier question: 1"),
    ]


def test_pairs_are_read_from_the_layout_of_beir(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(
        monkeypatch,
        lambda asked: (
            "Should zoos exist?" if "argue against" in asked else "Supporting: Yes, zoos.\nOpposing: No zoos."
        ),
    )
    folder = tmp_path / "arguana"
    (folder / "qrels").mkdir(parents=True)
    lines(folder / "corpus.jsonl", {"_id": "d1", "title": "Zoos", "text": "Zoos harm."})
    lines(folder / "queries.jsonl", {"_id": "q1", "text": "Zoos help."}, {"_id": "q2", "text": "Cars help."})
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td9\t1\n")
    construction = ran(workspace, "arguana", folder)
    [row] = construction.kept("perspectives")
    assert (row.fields["document1"], row.fields["document2"]) == ("Zoos help.", "Zoos Zoos harm.")
    assert rejections(construction)[0].reason == "cannot be read: a document of the pair is not in the folder"


def test_a_question_may_not_copy_its_documents(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = "Is it true that a pupil who writes by hand remembers more of a lesson?"
    scripted(monkeypatch, lambda _: copied)
    source = lines(
        tmp_path / "pairs.jsonl",
        {"id": "a", "document1": "A pupil who writes by hand remembers more of a lesson, I say.", "document2": "No."},
    )
    assert reasons(ran(workspace, "arguana", source))["questions"] == {"the question copies a document": 1}


def test_kialo_writes_an_opposite_or_a_statement_for_each_answer(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(asked: str) -> str:
        if "other side of the debate" in asked:
            return (
                "Opposing: Zoos should not be closed."
                if "Zoos should be closed" in asked
                else "Opposing: Cars do more good than harm."
            )
        return "Cats make the best pets.\nDogs make the best pets."

    scripted(monkeypatch, answer)
    source = lines(
        tmp_path / "kialo.jsonl",
        {"id": "z", "question": "Should zoos be closed?", "statement": "Zoos should be closed."},
        {"id": "c", "question": "Are cars harmful?", "statement": "Cars do harm."},
        {"id": "p", "question": "Which pets are best?", "answers": ["cats", "dogs"]},
        {"id": "m", "question": "Which meals are best?", "answers": ["soup", "bread"]},
        {"id": "x", "question": "Which?", "answers": ["one"]},
    )
    construction = ran(workspace, "kialo", source)
    made = {q.id: q.perspectives for q in questions_of(construction.kept("answers"))}
    assert [p.text for p in made["c"]] == ["Cars do harm.", "Cars do more good than harm."]
    assert [(p.text, p.stance) for p in made["p"]] == [
        ("Cats make the best pets.", None),
        ("Dogs make the best pets.", None),
    ]
    assert set(made) == {"c", "p"}
    assert {r.row: r.reason for r in rejections(construction)} == {
        "x": "cannot be read: `answers` must be a list of at least two texts",
        "z": "the opposing statement is a bare negation",
        "m": "a line lacks its answer: soup",
    }


def test_opinionqa_leaves_out_questions_about_the_person(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(asked: str) -> str:
        if "Answer with one word" in asked:
            return "Maybe." if "weather" in asked else "Yes" if "you ever" in asked else "No, it asks for an opinion."
        assert "Refused" not in asked
        return "Question: Are jobs safe?\nPositive: Jobs are very safe.\nNegative: Jobs are not safe."

    scripted(monkeypatch, answer)
    options = ["Very safe", "Fairly safe", "Not safe", "Refused"]
    source = lines(
        tmp_path / "poll.jsonl",
        {"id": "a", "question": "How safe are jobs?", "options": options},
        {"id": "b", "question": "Have you ever lost a job?", "options": ["Yes", "No", "Refused"]},
        {"id": "c", "question": "How is the weather?", "options": options},
        {"id": "d", "question": "Only one?", "options": ["Yes", "Refused"]},
    )
    construction = ran(workspace, "opinionqa", source)
    [row] = construction.kept("duplicates")
    assert row.fields["options"] == ["Very safe", "Fairly safe", "Not safe"]
    assert {r.row: r.reason for r in rejections(construction)} == {
        "d": "cannot be read: fewer than two options express an opinion",
        "b": "asks about the person, not for an opinion",
        "c": "neither Yes nor No",
    }
    construction.overrule("personal", {"b": "it may be asked"}, keep=True, made_by="ada")
    run_construction(construction)
    assert [r.reason for r in rejections(construction, "duplicates")] == ["nearly repeats an earlier question: a"]


def test_random_questions_are_inspected_beside_their_sources(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, lambda _: "Opposing: It helps.")
    source = lines(
        tmp_path / "kialo.jsonl",
        *(
            {"id": f"{n}", "question": f"Does {word} harm?", "statement": f"{word} harms."}
            for n, word in enumerate("abcd")
        ),
    )
    construction = ran(workspace, "kialo", source)
    items = inspection_items(construction, 2, 1)
    assert items == inspection_items(construction, 2, 1)
    assert len(items) == 2
    assert len(inspection_items(construction, 9, 1)) == 4
    assert items[0].statement.splitlines()[1:] == [f"+ {items[0].read}", "− It helps."]


@pytest.mark.parametrize(
    ("first", "second", "bare"),
    [
        ("Zoos should exist.", "Zoos should not exist.", True),
        ("Zoos do harm.", "Zoos don't do any harm.", True),
        ("Zoos should exist.", "It is not true that zoos should exist.", True),
        ("Zoos do harm.", "Zoos do more good than harm.", False),
        ("Zoos should not exist.", "Zoos should not exist.", False),
        ("Zoos should exist.", "Animals should not live in zoos.", False),
    ],
)
def test_bare_negations(first: str, second: str, bare: bool) -> None:
    assert is_bare_negation(first, second) is bare
    assert is_bare_negation(second, first) is bare


@given(st.lists(st.sampled_from(["zoos", "help", "rare", "apes", "today", "in", "cities"]), min_size=1, max_size=8))
def test_inserting_not_is_a_bare_negation(words: list[str]) -> None:
    assert is_bare_negation(" ".join(words), " ".join([words[0], "not", *words[1:]]))
    with pytest.raises(UnreadableError, match="bare negation"):
        checked_statements(" ".join(words), " ".join(["Not", *words]), negation_is_enough=False)


@given(st.text(max_size=200), st.text(max_size=200))
def test_readers_survive_any_completion(text: str, document: str) -> None:
    try:
        found = labelled_lines(text, "supporting", "opposing")
    except UnreadableError:
        return
    assert all(found.values())
    assert isinstance(copied_words(text, document), str)


def test_options_without_an_opinion_do_not_count() -> None:
    assert meaningful_options(["A lot", "Not at all", "Refused", "Don't know/Not sure", "No answer"]) == [
        "A lot",
        "Not at all",
    ]


def test_arguments_of_debates_become_a_data_set(
    workspace: Workspace, shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    debates = json.loads((shared_data / "perspectrum" / "debatewise.json").read_text(encoding="utf-8"))
    pairs = []
    for number, debate in enumerate(debates):
        sides = [debate[f"perspectives_{side}"] for side in ("for", "against")]
        if all(sides):
            texts = [" ".join(side[0]["argument"]["description"]) for side in sides]
            if all(text.strip() for text in texts):
                pairs.append({"id": f"d{number}", "document1": texts[0], "document2": texts[1]})
    assert len(pairs) > 300

    def answer(asked: str) -> str:
        if "argue against each other" in asked:
            first = asked.split()[2:5]
            return f"Should people decide {len(asked)} times about {' '.join(first)}?"
        return "Supporting: They should.\nOpposing: They should not."

    scripted(monkeypatch, answer)
    construction = ran(workspace, "arguana", lines(tmp_path / "pairs.jsonl", *pairs))
    assert len(construction.rows("questions")) == len(pairs)
    assert len(construction.kept("perspectives")) > 200
