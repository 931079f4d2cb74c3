"""The reason that a perspective gives, which `stance` also reads by itself."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.records import Pair
from berdseye.detectors.stance import detector as stance_detector
from berdseye.detectors.stance.detector import StanceDetector, moved_stances
from berdseye.detectors.stance.network_files import CARD_FILE, card_of, shipped_folder
from berdseye.detectors.stance.reasons import claim_and_reason, readings_of

CLAIM = "Zoos should be closed"
REASON = "Animals suffer there"
SUFFERING = (
    "Elephants in captivity develop foot disease and pace back and forth. Most animals of a zoo are ill or distressed."
)
MONEY = "The city pays two million a year for its zoo, which should be shut. The money would build four schools."


@pytest.mark.parametrize(
    "joined",
    [
        f"{CLAIM}, because animals suffer there",
        f"{CLAIM} because animals suffer there",
        f"{CLAIM} because of the fact that animals suffer there",
        f"{CLAIM}, since animals suffer there",
        f"{CLAIM}, so that animals suffer there",
        f"{CLAIM}: animals suffer there",
        f"{CLAIM}; animals suffer there",
        f"{CLAIM}. Animals suffer there",
        f"{CLAIM}, but because animals suffer there",
    ],
)
def test_a_reason_follows_its_claim(joined: str) -> None:
    assert claim_and_reason(joined) == (f"{CLAIM}.", REASON)
    assert readings_of(joined) == [f"{CLAIM}. {REASON}", REASON]


@pytest.mark.parametrize(
    "whole",
    [
        "",
        CLAIM,
        "Because it rains so much, we stay at home.",
        "Rents have risen in most cities, since 1990 in all of them.",
        "Zoos should be closed because of the cruelty in them.",
        "People in the U.S. should not have guns.",
        "The first lesson should begin at 10:30 on weekdays.",
        "Tea: it wakes you up.",
        "I will not marry him because no.",
        "We should not keep a custom just because it is old.",
        "Zoos should be closed not because animals suffer.",
    ],
)
def test_other_perspectives_have_none(whole: str) -> None:
    assert claim_and_reason(whole) is None
    assert readings_of(whole) == [whole]


@given(st.lists(st.sampled_from(["zoos", "because", "since", ":", ";", ",", ".", "of", "Suffer", "U.S.", "1990", "é"])))
def test_a_reason_is_the_end_of_its_perspective(words: list[str]) -> None:
    perspective = " ".join(words).replace(" ,", ",").replace(" :", ":").replace(" .", ".")
    parts = claim_and_reason(perspective)
    if parts is not None:
        claim, reason = parts
        assert claim.rstrip(".") in perspective
        assert perspective.strip().casefold().endswith(reason.casefold())
        assert 3 <= len(reason.split()) <= len(perspective.split()) - 3


def test_the_log_probabilities_are_the_means_of_both_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    joined = f"{CLAIM}, because animals suffer there"
    model = StanceDetector().model
    found = StanceDetector().stances([Pair(SUFFERING, joined)])[0]
    monkeypatch.setattr(stance_detector, "readings_of", lambda text: [text])
    monkeypatch.setattr(model, "_pairs_read", {})
    stances = model.read(SUFFERING, readings_of(joined))
    mean, card = np.exp(np.log(stances).mean(axis=0)), card_of(shipped_folder())
    expected = moved_stances((mean / mean.sum())[None], card.reason_calibration, card.opposing_calibration)
    assert np.allclose(found, expected[0], atol=1e-5)


def test_a_passage_with_another_reason_supports_a_perspective_less() -> None:
    for reason in ("animals suffer there", "they cost the public too much money"):
        pairs = [Pair(passage, f"{CLAIM}, because {reason}") for passage in (SUFFERING, MONEY)]
        suffering, money = StanceDetector().predict(pairs)
        assert (suffering > money) == (reason == "animals suffer there")


def test_a_network_without_a_calibration_of_reasons_uses_the_other_one(tmp_path: Path) -> None:
    for path in shipped_folder().glob("stance*"):
        shutil.copy(path, tmp_path)
    card = json.loads((tmp_path / CARD_FILE).read_text(encoding="utf-8"))
    del card["reason_calibration"]
    (tmp_path / CARD_FILE).write_text(json.dumps(card), encoding="utf-8")
    older, shipped = StanceDetector(tmp_path), StanceDetector()
    plain, joined = (Pair(SUFFERING, text) for text in (CLAIM, f"{CLAIM}, because animals suffer there"))
    assert older.predict([plain]) == shipped.predict([plain])
    assert older.predict([joined]) != shipped.predict([joined])
    assert older.version != shipped.version
