"""The contrast cases are many, balanced, different from one another, and give nothing away by their surface."""

import re
from collections import Counter, defaultdict

import pytest
from made_detectors import Made
from sklearn.metrics import roc_auc_score

from berdseye.data.texts.near_duplicates import near_duplicates
from berdseye.detectors.detector_registry import parse_detector
from berdseye.evaluation.detection.contrast import (
    ALL,
    ALWAYS_PLAIN,
    ALWAYS_YES,
    MORE_SHARED_WORDS,
    NEGATED,
    categories,
    contrast,
    contrast_cases,
    contrast_references,
    contrast_table,
)

CASES = contrast_cases()
LABELS = {case.pair: case.supports for case in CASES}


def test_there_are_five_categories_of_enough_cases_half_of_them_supported() -> None:
    assert categories() == [
        "negated perspective",
        "opposite stance",
        "superficial overlap",
        "quoted opponents",
        "sarcasm",
    ]
    assert len(CASES) >= 160
    for category in categories():
        labels = [case.supports for case in CASES if case.category == category]
        assert len(labels) >= 32
        assert sum(labels) * 2 == len(labels)


def test_twins_share_a_passage_and_of_their_statements_one_is_supported() -> None:
    by_id = {case.id: case for case in CASES}
    assert len(by_id) == len(CASES)
    for case in CASES:
        twin = by_id[case.twin]
        assert twin.twin == case.id
        assert (twin.category, twin.topic, twin.pair.passage) == (case.category, case.topic, case.pair.passage)
        assert twin.pair.perspective != case.pair.perspective
        assert twin.supports != case.supports


def test_the_order_of_twins_does_not_reveal_the_label() -> None:
    first = [case.supports for case in CASES if case.id < case.twin]
    assert 0.35 < sum(first) / len(first) < 0.65


def test_negated_twins_differ_by_one_word_and_half_of_the_negated_are_supported() -> None:
    by_id = {case.id: case for case in CASES}
    negated = [case for case in CASES if case.category == NEGATED and case.negated]
    for case in negated:
        plain = by_id[case.twin]
        assert plain.negated is False
        assert case.pair.perspective.replace(" not ", " ", 1) == plain.pair.perspective
    assert sum(case.supports for case in negated) * 2 == len(negated)
    assert all(case.negated is None for case in CASES if case.category != NEGATED)


def test_passages_are_as_long_as_passages_are_and_on_many_topics() -> None:
    passages = {case.pair.passage for case in CASES}
    assert len(passages) * 2 == len(CASES)
    assert all(30 <= len(passage.split()) <= 110 for passage in passages)
    topics = Counter(case.topic for case in CASES)
    assert len(topics) >= 10
    assert max(topics.values()) / len(CASES) < 0.25


def test_no_text_repeats_another() -> None:
    passages = list(dict.fromkeys(case.pair.passage for case in CASES))
    statements = list(dict.fromkeys(case.pair.perspective for case in CASES if not case.negated))
    assert near_duplicates(passages, 0.2) == []
    assert len(statements) == sum(1 for case in CASES if not case.negated)
    assert near_duplicates(statements, 0.5) == []


def test_no_opening_is_used_as_a_template() -> None:
    openings = Counter(" ".join(case.pair.passage.split()[:3]).lower() for case in CASES if case.supports)
    assert max(openings.values()) == 1


def test_supported_statements_are_no_longer_and_no_more_negative_than_others() -> None:
    words: dict[bool, list[int]] = defaultdict(list)
    negations: Counter[bool] = Counter()
    for case in CASES:
        words[case.supports].append(len(case.pair.perspective.split()))
        negations[case.supports] += bool(re.search(r"\b(not|no|never|nothing|nobody|\w+n't)\b", case.pair.perspective))
    means = {label: sum(held) / len(held) for label, held in words.items()}
    assert abs(means[True] - means[False]) < 1.5
    assert abs(negations[True] - negations[False]) <= 4


def test_simple_rules_are_at_chance() -> None:
    found = {(r.detector, r.category): r.pairwise.value for r in contrast_references()}
    assert found[ALWAYS_YES, ALL] == 0.5
    assert found[ALWAYS_PLAIN, NEGATED] == 0.5
    assert 0.4 < found[MORE_SHARED_WORDS, ALL] < 0.6
    assert all(0.3 < found[MORE_SHARED_WORDS, category] < 0.7 for category in categories())


def test_a_detector_that_knows_is_right_everywhere() -> None:
    results = contrast(Made(lambda pair: 0.9 if LABELS[pair] else 0.2))
    assert [r.category for r in results] == [*categories(), ALL]
    for result in results:
        assert result.pairwise.value == result.accuracy.value == result.auroc.value == 1.0
        assert result.called == 0.5
    assert sum(r.twins for r in results if r.category != ALL) == len(CASES) / 2


def test_a_detector_of_topic_alone_is_at_chance_and_one_that_is_wrong_at_0() -> None:
    topic = contrast(Made(lambda pair: len(pair.passage) % 97 / 97))
    assert {r.pairwise.value for r in topic} == {r.accuracy.value for r in topic} == {0.5}
    assert topic[-1].auroc.value == pytest.approx(0.5)
    wrong = contrast(Made(lambda pair: 0.2 if LABELS[pair] else 0.9))
    assert {r.pairwise.value for r in wrong} == {r.auroc.value for r in wrong} == {0.0}


def test_accuracy_is_at_the_threshold_and_its_interval_is_over_twins() -> None:
    never = contrast(Made(lambda pair: 0.3 + 0.1 * LABELS[pair]))[-1]
    assert (never.pairwise.value, never.accuracy.value, never.called) == (1.0, 0.5, 0.0)
    assert contrast(Made(lambda pair: 0.3 + 0.1 * LABELS[pair], threshold=0.35))[-1].accuracy.value == 1.0
    category = {case.pair: case.category for case in CASES}
    mixed = contrast(Made(lambda pair: float(LABELS[pair] == (category[pair] != "sarcasm"))))[-1]
    assert mixed.accuracy.value == pytest.approx(70 / 87)
    assert 0.7 < mixed.accuracy.low < 70 / 87 < mixed.accuracy.high < 0.9
    assert mixed.accuracy.n == 87


def test_auroc_is_that_of_scikit_learn() -> None:
    said = {case.pair: (i * 7919 % 23) / 23 for i, case in enumerate(CASES)}
    found = contrast(Made(lambda pair: said[pair]))[-1].auroc
    expected = roc_auc_score([case.supports for case in CASES], [said[case.pair] for case in CASES])
    assert found.value == pytest.approx(expected)
    assert found.low < expected < found.high


def test_the_table_has_a_row_for_each_detector_category_and_reference() -> None:
    table = contrast_table([*contrast(parse_detector("similarity(static)")), *contrast_references()])
    assert len(table) == 6 + 6 + 1 + 6
    assert {"category", "detector", "pairwise", "accuracy_low", "auroc_high", "pct_positive"} <= set(table.columns)
    ours = table[table["detector"] == "similarity(static)"]
    assert ours["pairwise"].between(0, 100).all()
    assert (ours["pairwise_low"] <= ours["pairwise"]).all()
