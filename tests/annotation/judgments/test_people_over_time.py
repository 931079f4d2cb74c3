"""What people say, event by event, and of passages: worked out by hand, and held against the present state."""

from dataclasses import replace
from random import Random

import pytest

from berdseye.annotation.judgments.adjudication import adjudicate, adjudicated_labels, majority_labels
from berdseye.annotation.judgments.log import VERDICTS, Judgments
from berdseye.annotation.judgments.verdict_counts import label_changes, pairs_of_passages, passage_statuses
from tests.annotation.made_pairs import record


def changes(judgments: Judgments, keys: list[str]) -> list[tuple[str, bool | None, str]]:
    return [(change.pair, change.label, change.by) for change in label_changes(judgments, keys)]


def test_each_word_that_changes_something_is_a_change(judgments: Judgments) -> None:
    one, two = judgments.add_pairs([record(1), record(2)])
    ana, bo, cy = (judgments.sign_in(name) for name in ("Ana", "Bo", "Cy"))
    judgments.judge(ana, one, "supports", source="annotate")
    judgments.judge(bo, one, "unsure", source="annotate")
    judgments.judge(bo, one, "does not support", source="annotate")
    judgments.judge(cy, two, "does not support", source="annotate")
    adjudicate(judgments, cy, one, "does not support")
    judgments.flag(ana, one, source="annotate")
    assert changes(judgments, [one, two]) == [
        (one, True, "Ana"),
        (one, None, "Bo"),
        (two, False, "Cy"),
        (one, False, "Cy"),
    ]
    assert changes(judgments, [two]) == [(two, False, "Cy")]
    assert changes(judgments, []) == []


def test_an_undone_word_is_a_change_back(judgments: Judgments) -> None:
    [one] = judgments.add_pairs([record(1)])
    ana = judgments.sign_in("Ana")
    judgments.judge(ana, one, "supports", source="annotate")
    judgments.judge(ana, one, "does not support", source="annotate")
    judgments.undo(ana)
    judgments.withdraw(ana, one, source="annotate")
    assert [said for _, said, _ in changes(judgments, [one])] == [True, False, True, None]


def test_an_imported_verdict_keeps_its_own_time(judgments: Judgments) -> None:
    one, two = judgments.add_pairs([record(1), record(2)])
    ana = judgments.sign_in("Ana")
    judgments.judge(ana, one, "supports", source="annotate", at="2026-02-01T10:00:00+00:00")
    judgments.judge(ana, two, "supports", source="import", at="2026-01-01T12:00:00.500+02:00")
    assert [change.pair for change in label_changes(judgments, [one, two])] == [two, one]


@pytest.mark.parametrize("seed", range(4))
def test_after_all_changes_people_say_what_the_present_state_says(judgments: Judgments, seed: int) -> None:
    random = Random(seed)
    keys = judgments.add_pairs([record(n) for n in range(3)])
    people = [judgments.sign_in(name) for name in ("Ana", "Bo", "Cy")]
    for _ in range(40):
        person, key = random.choice(people), random.choice(keys)
        match random.randrange(8):
            case 0:
                judgments.undo(person)
            case 1:
                judgments.skip(person, key, source="annotate")
            case 2:
                adjudicate(judgments, person, key, random.choice(VERDICTS))
            case _:
                judgments.judge(person, key, random.choice(VERDICTS), source="annotate")
    last = {change.pair: change.label for change in label_changes(judgments, keys)}
    now = majority_labels(judgments.present(keys), gold=adjudicated_labels(judgments, keys))
    assert {key: said for key, said in last.items() if said is not None} == now


def test_words_on_passages_join_all_their_pairs(judgments: Judgments) -> None:
    records = [record(n) for n in range(5)]
    keys = judgments.add_pairs(records)
    ana, bo = judgments.sign_in("Ana"), judgments.sign_in("Bo")
    for number, verdict in enumerate(VERDICTS):
        judgments.judge(ana, keys[number], verdict, source="annotate")
    judgments.judge(bo, keys[0], "does not support", source="annotate")
    texts = [r.passage for r in records]
    found = passage_statuses(judgments, [*texts, "a text nobody knows"])
    assert [found.get(text) for text in texts] == [{"disputed"}, {"does not support"}, {"unsure"}, None, None]
    adjudicate(judgments, bo, keys[0], "supports")
    assert passage_statuses(judgments, texts[:1]) == {texts[0]: {"supports"}}
    assert passage_statuses(judgments, []) == {}
    other = replace(records[1], perspective="Another view.")
    judgments.judge(bo, judgments.add_pairs([other])[0], "supports", source="annotate")
    assert passage_statuses(judgments, texts[1:2]) == {texts[1]: {"supports", "does not support"}}
    assert set(pairs_of_passages(judgments, texts[1:2]).values()) == {records[1], other}
