"""The texts that were written or judged for the training of `stance`: their form, their parts, and what they are kept from."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

import pytest

from berdseye.data.demo.content import topics
from berdseye.data.models.static_embedding import static_embedding
from berdseye.detectors.stance.held_out import HeldOut, Split, held_out, written_pairs, written_twins
from berdseye.detectors.stance.written import (
    ALLOWED,
    EXTRACTS,
    JUDGED,
    REMARKS,
    WRITTEN,
    Part,
    WrittenPassage,
    judged_passages,
    written_examples,
    written_extracts,
    written_passages,
    written_remarks,
)
from berdseye.detectors.training_pairs import SAME_DEBATE
from berdseye.evaluation.detection.contrast import contrast_cases

PARTS = get_args(Part)
Read = Callable[[Part], Sequence[WrittenPassage]]
OF_TOPICS: tuple[Read, ...] = (written_passages, written_extracts)
ALL: tuple[Read, ...] = (*OF_TOPICS, judged_passages, written_remarks)
_NEGATED = re.compile(r"\b(not|no|never|nothing|nobody|hardly|without|cannot|\w+n['’]t)\b", re.IGNORECASE)


def has_negation(right: HeldOut, wrong: HeldOut) -> str:
    """Return which of two contraries alone has a word of negation: `right` or `wrong`, or "" if both or neither have one."""
    found = [bool(_NEGATED.search(one.perspective)) for one in (right, wrong)]
    return "" if found[0] == found[1] else ("right" if found[0] else "wrong")


@pytest.mark.parametrize("read", OF_TOPICS)
@pytest.mark.parametrize("part", PARTS)
def test_passages_of_topics_never_support_or_oppose_both_of_two_contraries(part: Part, read: Read) -> None:
    silent = {"neutral", "near miss"} if read is written_extracts else {"neutral"}
    for one in read(part):
        letters = [letter for _, letter in one.perspectives]
        assert len({text for text, _ in one.perspectives}) == len(letters) == 6
        assert set(letters) <= set(ALLOWED)
        for both in zip(letters[::2], letters[1::2], strict=True):
            assert both not in {("S", "S"), ("O", "O")}, one
        assert one.kind not in silent or set(letters) == {"N"}
        assert 40 <= len(one.text.split()) <= 140


@pytest.mark.parametrize("read", OF_TOPICS)
def test_the_two_general_perspectives_are_supported_equally_often(read: Read) -> None:
    firsts = Counter(one.perspectives[0][1] for part in PARTS for one in read(part))
    assert 0.8 < firsts["S"] / firsts["O"] < 1.25
    pairs = [pair for part in PARTS for pair in written_pairs(read(part))]
    assert 0.1 < sum(pair.supports for pair in pairs) / len(pairs) < 0.3


def test_parts_share_no_topic_and_no_passage() -> None:
    for read in ALL:
        found = [{(one.group if read in OF_TOPICS else "", one.text) for one in read(part)} for part in PARTS]
        texts = [{text for _, text in rows} for rows in found]
        groups = [{group for group, _ in rows} for rows in found]
        for first, second in ((0, 1), (0, 2), (1, 2)):
            assert texts[first].isdisjoint(texts[second])
            assert read not in OF_TOPICS or groups[first].isdisjoint(groups[second])


def test_training_reads_its_own_part_alone() -> None:
    examples = written_examples()
    assert {example.passage for example in examples[WRITTEN]} == {one.text for one in written_passages("train")}
    assert {example.passage for example in examples[JUDGED]} == {one.text for one in judged_passages("train")}
    assert {example.passage for example in examples[REMARKS]} == {one.text for one in written_remarks("train")}
    assert {example.passage for example in examples[EXTRACTS]} == {one.text for one in written_extracts("train")}
    one, example = written_passages("train")[0], examples[WRITTEN][0]
    assert [(s.text, s.allowed) for s in example.statements] == [(t, ALLOWED[x]) for t, x in one.perspectives]


@pytest.mark.parametrize("read", [*OF_TOPICS, written_remarks])
def test_twins_are_the_supported_one_of_two_contraries_and_the_other(read: Read) -> None:
    twins = written_twins(read("test"))
    labels = {(p.passage, p.perspective): p.supports for p in written_pairs(read("test"))}
    assert len(twins) > 150
    assert all(labels[r.passage, r.perspective] and not labels[w.passage, w.perspective] for r, w in twins)
    assert {right.passage == wrong.passage and right.kind == wrong.kind for right, wrong in twins} == {True}


@pytest.mark.parametrize("part", PARTS)
def test_remarks_support_one_of_two_contraries_twice_and_never_both(part: Part) -> None:
    for one in written_remarks(part):
        letters = [letter for _, letter in one.perspectives]
        assert len({text for text, _ in one.perspectives}) == len(letters) == 6
        assert [sorted(letters[at : at + 2]) for at in (0, 2, 4)] == [["O", "S"], ["O", "S"], ["N", "N"]], one
        assert 8 <= len(one.text.split()) <= 140


def test_a_negation_does_not_tell_which_perspective_a_remark_supports() -> None:
    supported = [
        s for part in PARTS for r, w in written_twins(written_remarks(part)) for s in [has_negation(r, w)] if s
    ]
    assert 0.35 < supported.count("right") / len(supported) < 0.65


def test_no_topic_is_near_the_demo_or_the_contrasts() -> None:
    embed = static_embedding().encode
    written = sorted({one.group for read in OF_TOPICS for part in PARTS for one in read(part)})
    written += [one.text for part in PARTS for one in written_remarks(part)]
    kept = [topic["question"] for topic in topics()] + [case.pair.perspective for case in contrast_cases()]
    assert float((embed(written) @ embed(kept).T).max()) < SAME_DEBATE


def test_no_topic_is_near_a_held_out_one_and_no_passage_is_held_out(shared_data: Path) -> None:
    embed = static_embedding().encode
    written = sorted({one.group for read in OF_TOPICS for part in PARTS for one in read(part)})
    written += [one.text for part in PARTS for one in written_remarks(part)]
    known = {one.text for part in PARTS for read in ALL for one in read(part)}
    for split in get_args(Split):
        held = held_out(shared_data, split)
        assert all(known.isdisjoint(pair.passage for pair in pairs) for pairs in held.values())
        claims = {pair.perspective for pair in held["debates"] if pair.kind == "claim"}
        claims |= {pair.group for pair in held["articles"]}
        assert float((embed(written) @ embed(sorted(claims)).T).max()) < SAME_DEBATE
