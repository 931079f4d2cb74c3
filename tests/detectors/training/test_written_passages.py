"""Passages that a language model writes to train on: what is asked for, what is rejected, and what the labels are."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from berdseye.data.datasets.labelled_pairs import labelled_pairs_writer, read_labelled_pairs
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.records import Perspective, Question
from berdseye.data.workspace import Workspace
from berdseye.detectors.training.written_passages import (
    MAX_TOKENS,
    TEMPLATES,
    highest_writing_cost,
    other_perspectives,
    passages_to_write,
    write_passages,
    written_table,
)
from tests.data.language_models.scripted import ScriptedModel

ZOOS = Question("zoos", "made", "Should zoos exist?", (Perspective("Zoos protect rare animals.", "supporting"),
                                                       Perspective("Zoos harm their animals.", "opposing")))  # fmt: skip
OPEN = Question("open", "made", "What is good?")


def text(seed: int) -> str:
    """A passage of 40 words that no other seed has."""
    return " ".join(f"word{seed}x{n}" for n in range(40))


def numbered() -> ScriptedModel:
    model = ScriptedModel(lambda _: text(len(model.asked)))
    return model


def test_each_perspective_gets_passages_on_both_sides_and_each_question_neutral_ones() -> None:
    asked = passages_to_write([ZOOS, OPEN], 2)
    assert [(a.kind, a.place, a.number) for a in asked[:5]] == [
        ("for", 0, 0), ("against", 0, 0), ("for", 1, 0), ("against", 1, 0), ("neutral", None, 0)
    ]  # fmt: skip
    assert len(asked) == 10
    assert {a.question.id for a in asked} == {"zoos"}  # nothing can be labelled for a question without perspectives


def test_labels_follow_from_what_was_asked_for(workspace: Workspace) -> None:
    model = numbered()
    found = write_passages(model, CompletionCache(workspace), passages_to_write([ZOOS], 1))
    assert found.rejected == []
    labels = [(p.pair.perspective[:9], p.supports, p.id, p.split) for p in found.pairs]
    assert labels == [
        ("Zoos prot", True, "zoos-1-for-1", "train"),
        ("Zoos harm", True, "zoos-2-for-1", "train"),
        ("Zoos prot", False, "zoos-1-against-1", "train"),
        ("Zoos harm", False, "zoos-2-against-1", "train"),
        ("Zoos prot", False, "zoos-1-neutral-1", "train"),
        ("Zoos harm", False, "zoos-2-neutral-1", "train"),
    ]
    assert {p.question for p in found.pairs} == {ZOOS.text}


def test_a_passage_is_also_read_with_other_perspectives_of_its_question(workspace: Workspace) -> None:
    many = replace(ZOOS, perspectives=tuple(Perspective(f"View {number} of zoos.") for number in range(5)))
    lone = replace(ZOOS, id="lone", text="Why zoos?", perspectives=(Perspective("Zoos teach."),))
    written = write_passages(numbered(), CompletionCache(workspace), passages_to_write([many, lone], 1)).pairs
    labelled = {(p.pair.passage, p.pair.perspective) for p in written}
    others = other_perspectives(written)
    read = {(p.pair.passage, p.pair.perspective) for p in others}
    assert len(read) == len(others)
    assert not read & labelled
    assert {p.pair.perspective for p in others} <= {view.text for view in many.perspectives}
    # Two for each of the five passages for and the five against; the neutral one and those of the lone view have no others.
    assert sorted(Counter(p.pair.passage for p in others).values()) == [2] * 10
    assert {p.question for p in others} == {many.text}
    assert other_perspectives(written) == others


@pytest.mark.parametrize("ending", [".tsv", ".jsonl", ".parquet"])
def test_saved_pairs_are_read_as_they_were_written(workspace: Workspace, tmp_path: Path, ending: str) -> None:
    found = write_passages(numbered(), CompletionCache(workspace), passages_to_write([ZOOS], 1)).pairs
    path = tmp_path / f"written{ending}"
    path.write_bytes(labelled_pairs_writer(path)(written_table(found)))
    assert [pair._replace(file="") for pair in read_labelled_pairs(path)] == found


def test_the_perspective_is_fenced_and_absent_where_no_side_is_taken(workspace: Workspace) -> None:
    model = numbered()
    write_passages(model, CompletionCache(workspace), passages_to_write([ZOOS], 1))
    assert sum("<perspective>\nZoos protect rare animals.\n</perspective>" in prompt for prompt in model.asked) == 2
    assert sum("<perspective>" not in prompt for prompt in model.asked) == 1
    assert all("<question>\nShould zoos exist?\n</question>" in prompt for prompt in model.asked)


def test_unfit_texts_are_rejected_with_their_reason(workspace: Workspace) -> None:
    long = Question("long", "made", "Should zoos exist?", (
        Perspective("Zoos should exist because they protect the rarest animals of all."), Perspective("Zoos harm.")
    ))  # fmt: skip
    answers = iter([
        f"They should exist because they protect the rarest animals of all. {text(1)}",  # for the first: a quotation
        text(2),  # for the second
        "Too short.",  # against the first
        text(2) + " more",  # against the second: nearly the one above
        text(3),  # neutral: judged by people
    ])  # fmt: skip
    model = ScriptedModel(lambda _: next(answers))
    found = write_passages(model, CompletionCache(workspace), passages_to_write([long], 1), [text(3)])
    reasons = {(r.asked.kind, r.asked.place): r.reason for r in found.rejected}
    assert reasons == {
        ("for", 0): "quotes its perspective: should exist because they protect the rarest animals of all",
        ("against", 0): "fewer than 30 words",
        ("against", 1): "repeats another one",
        ("neutral", None): "repeats a passage that people judge",
    }
    assert [p.pair.passage for p in found.pairs] == [text(2)]


def test_stored_passages_are_not_paid_for_again(workspace: Workspace) -> None:
    asked, first, second = passages_to_write([ZOOS], 2), numbered(), numbered()
    before = write_passages(first, CompletionCache(workspace), asked)
    assert len(first.asked) == 10
    assert write_passages(second, CompletionCache(workspace), asked) == before
    assert second.asked == []


def test_an_interrupted_call_resumes(workspace: Workspace) -> None:
    def fails(_: str) -> str:
        if len(model.asked) > 3:
            raise KeyboardInterrupt
        return text(len(model.asked))

    model = ScriptedModel(fails)
    with pytest.raises(KeyboardInterrupt):
        write_passages(model, CompletionCache(workspace), passages_to_write([ZOOS], 1))
    again = numbered()
    write_passages(again, CompletionCache(workspace), passages_to_write([ZOOS], 1))
    assert len(again.asked) == 2


def test_the_estimate_is_the_most_that_writing_can_cost() -> None:
    asked = passages_to_write([ZOOS], 3)
    model = numbered()
    assert highest_writing_cost(model, asked).dollars is None
    model.price = SimpleNamespace(prompt=1.0, completion=2.0)  # type: ignore[attr-defined]
    found = highest_writing_cost(model, asked)
    words = sum(len(TEMPLATES[a.kind].fill(a.slots)[0].content.split()) for a in asked)
    assert (found.calls, found.words, found.tokens) == (15, words, 15 * MAX_TOKENS)
    assert found.dollars == pytest.approx((1.3 * words + 2 * 15 * MAX_TOKENS) / 1e6)
    assert model.asked == []
