"""The texts that were written or judged for the training of `stance`: their form, their parts, and what they are kept from."""

import re
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from berdseye.data.demo.content import topics
from berdseye.data.models.static_embedding import static_embedding
from berdseye.detectors.stance.held_out import HeldOut, Split, held_out, written_pairs, written_twins
from berdseye.detectors.stance.written import (
    ALLOWED,
    EXTRACTS,
    INFERENCES,
    OF_TOPICS,
    POINTS,
    REMARKS,
    WITH_CONTRARIES,
    WRITTEN,
    WRITTEN_FILES,
    Part,
    written_examples,
    written_texts,
)
from berdseye.detectors.training_pairs import SAME_DEBATE
from berdseye.evaluation.detection.contrast import contrast_cases

PARTS = get_args(Part)
SILENT = {WRITTEN: {"neutral"}, EXTRACTS: {"neutral", "near miss"}, POINTS: {"description"}}
WORDS = {WRITTEN: (40, 140), EXTRACTS: (40, 140), POINTS: (30, 130)}
_NEGATED = re.compile(r"\b(not|no|never|nothing|nobody|hardly|without|cannot|\w+n['’]t)\b", re.IGNORECASE)


def has_negation(right: HeldOut, wrong: HeldOut) -> str:
    """Return which of two contraries alone has a word of negation: `right` or `wrong`, or "" if both or neither have one."""
    found = [bool(_NEGATED.search(one.perspective)) for one in (right, wrong)]
    return "" if found[0] == found[1] else ("right" if found[0] else "wrong")


def topics_and_short_texts() -> list[str]:
    found = sorted({one.group for source in OF_TOPICS for part in PARTS for one in written_texts(source, part)})
    return found + [
        one.text for source in (REMARKS, INFERENCES) for part in PARTS for one in written_texts(source, part)
    ]


@pytest.mark.parametrize("source", OF_TOPICS)
@pytest.mark.parametrize("part", PARTS)
def test_texts_of_topics_never_support_or_oppose_both_of_two_contraries(part: Part, source: str) -> None:
    fewest, most = WORDS[source]
    for one in written_texts(source, part):
        letters = [letter for _, letter in one.perspectives]
        assert len({text for text, _ in one.perspectives}) == len(letters) == 6
        assert set(letters) <= set(ALLOWED)
        for both in zip(letters[::2], letters[1::2], strict=True):
            assert both not in {("S", "S"), ("O", "O")}, one
        assert one.kind not in SILENT[source] or set(letters) == {"N"}
        assert fewest <= len(one.text.split()) <= most


@pytest.mark.parametrize("source", OF_TOPICS)
def test_the_two_general_perspectives_are_supported_equally_often(source: str) -> None:
    texts = [one for part in PARTS for one in written_texts(source, part)]
    firsts = Counter(one.perspectives[0][1] for one in texts)
    assert 0.8 < firsts["S"] / firsts["O"] < 1.25
    pairs = written_pairs(texts)
    assert 0.1 < sum(pair.supports for pair in pairs) / len(pairs) < 0.3


@pytest.mark.parametrize("source", WRITTEN_FILES)
def test_parts_share_no_topic_and_no_text(source: str) -> None:
    of_topics = source in OF_TOPICS
    found = [{(one.group if of_topics else "", one.text) for one in written_texts(source, part)} for part in PARTS]
    texts = [{text for _, text in rows} for rows in found]
    groups = [{group for group, _ in rows} for rows in found]
    for first, second in ((0, 1), (0, 2), (1, 2)):
        assert texts[first].isdisjoint(texts[second])
        assert not of_topics or groups[first].isdisjoint(groups[second])


def test_training_reads_its_own_part_alone() -> None:
    examples = written_examples()
    for source in WRITTEN_FILES:
        own = written_texts(source, "train")
        assert [example.passage for example in examples[source]] == [one.text for one in own]
        assert [(s.text, s.allowed) for s in examples[source][0].statements] == [
            (text, ALLOWED[letter]) for text, letter in own[0].perspectives
        ]


@pytest.mark.parametrize("source", WITH_CONTRARIES)
def test_twins_are_the_supported_one_of_two_contraries_and_the_other(source: str) -> None:
    texts = written_texts(source, "test")
    twins = written_twins(texts)
    labels = {(p.passage, p.perspective): p.supports for p in written_pairs(texts)}
    assert len(twins) > 150
    assert all(labels[r.passage, r.perspective] and not labels[w.passage, w.perspective] for r, w in twins)
    assert {right.passage == wrong.passage and right.kind == wrong.kind for right, wrong in twins} == {True}


@pytest.mark.parametrize("part", PARTS)
def test_inferences_have_six_statements_of_all_three_kinds(part: Part) -> None:
    for one in written_texts(INFERENCES, part):
        assert len({text for text, _ in one.perspectives}) == len(one.perspectives) == 6
        assert {letter for _, letter in one.perspectives} == set(ALLOWED)
        assert 5 <= len(one.text.split()) <= 80


def test_a_negation_does_not_tell_whether_a_statement_follows() -> None:
    negated: dict[str, list[bool]] = {letter: [] for letter in ALLOWED}
    for one in (one for part in PARTS for one in written_texts(INFERENCES, part)):
        for text, letter in one.perspectives:
            negated[letter].append(bool(_NEGATED.search(text)))
    shares = [sum(found) / len(found) for found in negated.values()]
    assert max(shares) - min(shares) < 0.15


@pytest.mark.parametrize("part", PARTS)
def test_remarks_support_one_of_two_contraries_twice_and_never_both(part: Part) -> None:
    for one in written_texts(REMARKS, part):
        letters = [letter for _, letter in one.perspectives]
        assert len({text for text, _ in one.perspectives}) == len(letters) == 6
        assert [sorted(letters[at : at + 2]) for at in (0, 2, 4)] == [["O", "S"], ["O", "S"], ["N", "N"]], one
        assert 8 <= len(one.text.split()) <= 140


def test_a_negation_does_not_tell_which_perspective_a_remark_supports() -> None:
    supported = [
        s for part in PARTS for r, w in written_twins(written_texts(REMARKS, part)) for s in [has_negation(r, w)] if s
    ]
    assert 0.35 < supported.count("right") / len(supported) < 0.65


def test_no_topic_is_near_the_demo_or_the_contrasts() -> None:
    embed = static_embedding().encode
    written = topics_and_short_texts()
    kept = [topic["question"] for topic in topics()] + [case.pair.perspective for case in contrast_cases()]
    assert float((embed(written) @ embed(kept).T).max()) < SAME_DEBATE


def test_no_topic_is_near_a_held_out_one_and_no_passage_is_held_out(shared_data: Path) -> None:
    embed = static_embedding().encode
    written = topics_and_short_texts()
    known = {one.text for part in PARTS for source in WRITTEN_FILES for one in written_texts(source, part)}
    for split in get_args(Split):
        held = held_out(shared_data, split)
        assert all(known.isdisjoint(pair.passage for pair in pairs) for pairs in held.values())
        claims = {pair.perspective for pair in held["debates"] if pair.kind == "claim"}
        claims |= {pair.group for pair in held["articles"]}
        assert float((embed(written) @ embed(sorted(claims)).T).max()) < SAME_DEBATE
