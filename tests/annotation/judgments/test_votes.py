"""From several people's words to one: majority of the sure, silence on a tie, one's own word first."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.annotation.judgments.adjudication import majority_labels
from berdseye.annotation.judgments.log import VERDICTS, Annotator, Judgment, Verdict

YES, NO, UNSURE = VERDICTS


def judgments(*said: tuple[int, str, Verdict]) -> list[Judgment]:
    return [
        Judgment(n, f"uid {n}", "2026", Annotator(who, f"Person {who}", False), pair, verdict, "", "annotate", None)
        for n, (who, pair, verdict) in enumerate(said)
    ]


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ((YES,), {"p": True}),
        ((NO,), {"p": False}),
        ((YES, NO, YES), {"p": True}),
        ((NO, UNSURE, UNSURE), {"p": False}),
        ((YES, NO), {}),
        ((UNSURE,), {}),
        ((), {}),
    ],
)
def test_the_majority_of_those_who_are_sure_decides(verdicts: tuple[Verdict, ...], said: dict[str, bool]) -> None:
    assert majority_labels(judgments(*((who, "p", verdict) for who, verdict in enumerate(verdicts)))) == said


def test_ones_own_word_comes_before_the_majority() -> None:
    held = judgments((1, "p", NO), (2, "p", YES), (3, "p", YES), (1, "tie", YES), (2, "tie", NO), (2, "q", NO))
    assert majority_labels(held) == {"p": True, "q": False}
    assert majority_labels(held, first=1) == {"p": False, "tie": True, "q": False}
    assert majority_labels(held, first=99) == majority_labels(held)


def test_someone_unsure_leaves_the_word_to_the_others() -> None:
    held = judgments((1, "p", UNSURE), (2, "p", YES))
    assert majority_labels(held, first=1) == {"p": True}


@given(
    st.dictionaries(st.tuples(st.integers(1, 5), st.sampled_from("pqr")), st.sampled_from(VERDICTS)),
    st.randoms(use_true_random=False),
)
def test_the_order_of_judgments_is_irrelevant(said: dict[tuple[int, str], Verdict], random: Random) -> None:
    held = judgments(*((who, pair, verdict) for (who, pair), verdict in said.items()))
    shuffled = random.sample(held, len(held))
    assert majority_labels(shuffled, first=1) == majority_labels(held, first=1)
    for pair, supports in majority_labels(held).items():
        verdicts = [verdict for (_, about), verdict in said.items() if about == pair]
        assert (verdicts.count(YES) > verdicts.count(NO)) == supports
        assert verdicts.count(YES) != verdicts.count(NO)
