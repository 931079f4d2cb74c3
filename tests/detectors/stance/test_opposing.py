"""P(opposes) is calibrated against P(neither), apart from P(supports), on pairs that nobody would call supported."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.records import Pair
from berdseye.detectors.stance.detector import StanceDetector, moved_stances, opposing_odds, supports_odds
from berdseye.detectors.stance.held_out import HeldOut, against
from berdseye.detectors.stance.network_files import CARD_FILE, FILES, card_of, shipped_folder
from berdseye.detectors.stance.publishing import calibrated
from berdseye.detectors.stance.written import EXTRACTS, JUDGED, written_texts

AS_IT_IS = (1.0, 0.0)
SHARES = st.lists(st.floats(0.1, 1), min_size=3, max_size=3)
PAIR = Pair("Zoos breed animals that have died out in the wild.", "Zoos should be closed.")


@given(st.lists(SHARES, min_size=1, max_size=5), st.floats(0.3, 2), st.floats(-2, 2))
def test_either_calibration_moves_its_own_odds_alone(rows: list[list[float]], slope: float, added: float) -> None:
    stances = np.array([[share / sum(row) for share in row] for row in rows], dtype=np.float32)
    assert np.allclose(moved_stances(stances, AS_IT_IS, AS_IT_IS), stances, atol=1e-5)
    support = moved_stances(stances, (slope, added), AS_IT_IS)
    opposition = moved_stances(stances, AS_IT_IS, (slope, added))
    assert np.allclose(support.sum(axis=1), 1, atol=1e-5)
    assert np.allclose(opposition.sum(axis=1), 1, atol=1e-5)
    assert np.allclose(opposing_odds(support), opposing_odds(stances), atol=1e-2)
    assert np.allclose(opposition[:, 0], stances[:, 0], atol=1e-5)
    assert np.allclose(opposing_odds(opposition), slope * opposing_odds(stances) + added, rtol=1e-2, atol=1e-2)
    assert np.allclose(supports_odds(support), slope * supports_odds(stances) + added, rtol=1e-2, atol=1e-2)


def test_a_card_without_it_leaves_the_odds_as_they_are(tmp_path: Path) -> None:
    for name in FILES:
        shutil.copyfile(shipped_folder() / name, tmp_path / name)
    card = json.loads((tmp_path / CARD_FILE).read_text(encoding="utf-8"))
    slope, added = card.pop("opposing_calibration")
    (tmp_path / CARD_FILE).write_text(json.dumps(card), encoding="utf-8")
    assert card_of(tmp_path).opposing_calibration == AS_IT_IS
    assert card_of(tmp_path).version != card_of(shipped_folder()).version
    without_it = card_of(tmp_path).version
    (tmp_path / CARD_FILE).write_text(json.dumps(card | {"opposing_calibration": AS_IT_IS}), encoding="utf-8")
    assert card_of(tmp_path).version == without_it, (
        "networks of earlier versions of Berdseye keep their grades and labels"
    )
    [without], [shipped] = StanceDetector(tmp_path).stances([PAIR]), StanceDetector().stances([PAIR])
    assert without[0] == pytest.approx(shipped[0], abs=1e-6)
    odds = [float(np.log(row[1] / row[2])) for row in (without, shipped)]
    assert odds[1] == pytest.approx(slope * odds[0] + added, abs=1e-3)


def test_a_calibration_is_found_again_from_labels_that_follow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(0)
    odds = chance.normal(0, 3, 20_000)
    opposed = chance.random(len(odds)) < 1 / (1 + np.exp(-(0.5 * odds - 1.6)))  # about the base rate of the weights
    stances = np.column_stack([np.full(len(odds), 0.2), 0.8 / (1 + np.exp(-odds)), 0.8 / (1 + np.exp(odds))])
    detector = StanceDetector()
    monkeypatch.setattr(detector, "stances", lambda _: stances.astype(np.float32))
    pairs = [HeldOut("", "", bool(one), "", "") for one in opposed]
    slope, _ = calibrated(detector, pairs, odds_of=opposing_odds)
    assert slope == pytest.approx(0.5, abs=0.03)


def test_pairs_against_are_those_that_nobody_supports(shared_data: Path) -> None:
    found = against(shared_data, "dev")
    assert set(found) == {"arguments", "debates", JUDGED, EXTRACTS}
    assert {(one.kind, one.supports) for one in found["arguments"]} == {
        ("other side", True),
        ("same side, other point", False),
    }
    assert {one.kind for one in found["debates"] if one.supports} == {"claim", "opposing"}
    assert {one.kind for one in found["debates"] if not one.supports} == {"sibling", "retrieved"}
    for source in (JUDGED, EXTRACTS):
        letters = [letter for one in written_texts(source, "dev") for _, letter in one.perspectives]
        assert sum(one.supports for one in found[source]) == letters.count("O")
        assert len(found[source]) == len(letters) - letters.count("S")
