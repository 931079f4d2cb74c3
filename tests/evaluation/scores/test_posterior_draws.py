"""Measures by the consensus of several people: its labels, and how its uncertainty widens intervals."""

import numpy as np
import pytest

from berdseye.annotation.judgments.adjudication import adjudicate
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.records import Pair
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.agreement.alignment import AGAINST, SUPPORTS, Aligned
from berdseye.evaluation.agreement.label_draws import label_draws
from berdseye.evaluation.agreement.reliability import dawid_skene
from berdseye.evaluation.labels.consensus import DRAWS, consensus_of
from berdseye.evaluation.labels.sources import labels_of, parse_label_source
from berdseye.evaluation.measures import parse_measures
from berdseye.evaluation.scores.posterior_draws import expected_values, mean_of_draws
from berdseye.evaluation.scores.score import without_questions
from berdseye.evaluation.scores.scoring import score_run
from berdseye.evaluation.statistics.intervals import mean_with_interval
from tests.evaluation.small_workspace import QUESTIONS, TEXTS, judge, key

# By (question, perspective, passage): what Ana and Bo say, and Cy, who is alone on the last.
SAID = {
    (0, 0, 0): "yyy", (0, 1, 0): "nnn", (0, 0, 1): "nnn", (0, 1, 1): "yyn", (0, 0, 2): "nnn", (0, 1, 2): "nny",
    (1, 0, 3): "nnn", (1, 0, 2): "yyy",
}  # fmt: skip


@pytest.fixture
def judged(judgments: Judgments) -> Judgments:
    people = [judgments.sign_in(name) for name in ("Ana", "Bo", "Cy")]
    for place, said in SAID.items():
        for person, verdict in zip(people, said, strict=True):
            judge(judgments, person, *place, "supports" if verdict == "y" else "does not support")
    return judgments


@pytest.mark.parametrize("method", ["dawid-skene", "majority"])
def test_the_consensus_of_three_is_what_two_say(small: Workspace, judged: Judgments, method: str) -> None:
    pairs = [Pair(TEXTS[text], QUESTIONS[q].perspectives[p].text) for q, p, text in SAID]
    found = labels_of(small, judged, parse_label_source(f"consensus({method})>embedded"), pairs)
    assert found.tolist() == [float(said.count("y") > 1) for said in SAID.values()]


def test_an_adjudicated_label_is_certain_and_an_unsure_one_is_none(judged: Judgments) -> None:
    before = consensus_of(judged, "majority")
    place = before.places(np.array([key(0, 1, 1)], dtype="S32"))
    assert 0 < before.draws[:, place].mean() < 1
    adjudicate(judged, judged.sign_in("Dee"), key(0, 1, 1), "does not support")
    adjudicate(judged, judged.sign_in("Dee"), key(0, 1, 2), "unsure")
    after = consensus_of(judged, "majority")
    wanted = np.array([key(0, 1, 1), key(0, 1, 2)], dtype="S32")
    assert not after.draws[:, after.places(wanted)[0]].any()
    np.testing.assert_equal(after.labels(wanted), [0, np.nan])


@pytest.mark.parametrize("measure", ["Precision@3", "Recall@3", "nDCG@3"])
def test_the_interval_of_a_run_includes_the_labels(small: Workspace, run: Run, judged: Judgments, measure: str) -> None:
    measures = parse_measures(measure)
    [certain] = score_run(small, judged, run, parse_label_source("human"), measures)
    [score] = score_run(small, judged, run, parse_label_source("consensus"), measures)
    assert score.labels == "consensus(dawid-skene)"
    assert score.estimate.n == certain.estimate.n
    assert score.posterior_draws is not None
    assert score.posterior_draws.shape == (DRAWS, len(QUESTIONS))
    np.testing.assert_allclose(score.values, expected_values(score.posterior_draws))
    alone = mean_with_interval(score.values)
    assert score.estimate.value == pytest.approx(alone.value)
    assert score.estimate.low < alone.low or alone.low == 0
    assert score.estimate.high >= alone.high
    [without] = without_questions([score], [True, False, False])
    assert without.estimate.n == score.estimate.n - 1


def test_labels_that_are_certain_add_nothing() -> None:
    values = np.random.default_rng(0).random(30)
    assert mean_of_draws(np.repeat(values[None], 50, axis=0), (0.0, 1.0)) == pytest.approx(mean_with_interval(values))


def test_the_interval_holds_the_mean_of_the_population() -> None:
    """Questions of 5 pairs each, whose share of positive pairs varies; two or three people of five judge each pair."""
    held = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        share = random.beta(2, 4, size=60)
        truth = random.random((60, 5)) < share[:, None]
        right = random.uniform(0.75, 0.95, (2, 5))
        says = random.random((300, 5)) < np.where(truth.reshape(-1, 1), right[0], 1 - right[1])
        asked = random.random((300, 5)).argsort(axis=1) < random.integers(2, 4, (300, 1))
        codes = np.where(asked, says, -1).astype(np.int16)
        votes = Aligned(tuple(map(str, range(300))), tuple("abcde"), (AGAINST, SUPPORTS), codes)
        draws = label_draws(dawid_skene(votes), seed=seed).draws.reshape(-1, 60, 5).mean(axis=2)
        _, low, high, _ = mean_of_draws(draws, (0.0, 1.0))
        held.append(low <= 1 / 3 <= high)
    assert np.mean(held) >= 0.88  # 95% less two standard errors of simulation


def test_one_judgment_a_pair_is_refused(small: Workspace, run: Run, judgments: Judgments) -> None:
    judge(judgments, judgments.sign_in("Ana"), 0, 0, 0, "supports")
    with pytest.raises(BadInputError, match="at least two people"):
        score_run(small, judgments, run, parse_label_source("consensus"), parse_measures("Precision@3"))


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("consensus(mean)", UnknownNameError, "dawid-skene"),
        ("human>consensus", BadInputError, "must be the first source"),
        ("consensus>human", BadInputError, "takes the place of human"),
        ("corrected(consensus)", BadInputError, "is not a detector"),
    ],
)
def test_what_a_consensus_cannot_be(text: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        parse_label_source(text)
