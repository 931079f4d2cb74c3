"""The shipped detector and the two baselines beside it."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from made_debates import FILLER, REAL, SUBJECTS
from sklearn.metrics import roc_auc_score

from berdseye.data.errors import BadInputError, StaleError, UnavailableError
from berdseye.data.records import Pair
from berdseye.detectors import train_embedded
from berdseye.detectors.baselines import RandomDetector, StaticSimilarity, clipped_cosines
from berdseye.detectors.embedded import EmbeddedDetector, Logistic, read_weights, shipped_weights
from berdseye.detectors.protocol import Detector
from berdseye.detectors.quality import best_threshold, precision_recall_f1, rate_weights
from berdseye.detectors.training_pairs import SOURCES, LabelledPair, labelled_pairs, read_debates

DETECTORS: list[Detector] = [EmbeddedDetector(), StaticSimilarity(), RandomDetector()]
PAIRS = [
    Pair(passage, perspective)
    for passage in (
        "Zoos breed rare animals. Many would be extinct without them.",
        "",
        "A tram stop was moved. " * 40,
        "حدائق الحيوان 🦁 \x00 \u202e zoo",
    )
    for perspective in ("Zoos protect rare animals.", "", "Trams should not be free")
]


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: d.name)
def test_predictions_are_probabilities_in_any_order_and_company(detector: Detector) -> None:
    found = detector.predict(PAIRS)
    assert found.dtype == np.float32
    assert found.shape == (len(PAIRS),)
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_allclose(detector.predict(PAIRS[::-1])[::-1], found, atol=1e-5)
    np.testing.assert_allclose([detector.predict([p])[0] for p in PAIRS], found, atol=1e-5)
    assert detector.predict([]).shape == (0,)


def test_names_are_canonical_and_versions_differ() -> None:
    assert [d.name for d in DETECTORS] == ["embedded", "similarity(static)", "random"]
    assert len({d.version for d in DETECTORS}) == 3
    assert all(0 < d.threshold < 1 for d in DETECTORS)


def test_the_detectors_know_the_topic() -> None:
    on, off = PAIRS[0], Pair(PAIRS[0].passage, "Trams should not be free")
    for detector in DETECTORS[:2]:
        high, low = detector.predict([on, off])
        assert high >= detector.threshold > low


def test_a_long_passage_is_judged_fast() -> None:
    start = time.perf_counter()
    found = EmbeddedDetector().predict([Pair("Zoos breed rare animals. " * 4_000, "Zoos protect rare animals.")])
    assert time.perf_counter() - start < 2.0
    assert np.isfinite(found).all()


def test_similarity_rises_with_the_cosine_and_reads_an_empty_text_as_unlike() -> None:
    cosines, found = clipped_cosines(PAIRS), StaticSimilarity().predict(PAIRS)
    order = np.argsort(cosines)
    assert (np.diff(found[order]) >= 0).all()
    assert cosines[1] == 0.0
    assert clipped_cosines([Pair("same text", "same text")])[0] == pytest.approx(1.0, abs=1e-5)


def test_random_calls_its_rate_positive_and_depends_on_seed_and_pair() -> None:
    pairs = [Pair(f"passage {i}", "perspective") for i in range(20_000)]
    for rate in (0.168, 0.5):
        detector = RandomDetector(rate=rate)
        share = float(np.mean(detector.predict(pairs) >= detector.threshold))
        assert share == pytest.approx(rate, abs=0.012)
    assert not np.array_equal(RandomDetector(seed=0).predict(pairs), RandomDetector(seed=1).predict(pairs))
    assert RandomDetector(seed=0).version != RandomDetector(seed=1).version


def test_the_version_follows_every_number() -> None:
    model = Logistic((0.0,), (1.0,), (2.0,), -1.0, 0.5)
    changed = [
        Logistic((0.1,), (1.0,), (2.0,), -1.0, 0.5),
        Logistic((0.0,), (1.1,), (2.0,), -1.0, 0.5),
        Logistic((0.0,), (1.0,), (2.1,), -1.0, 0.5),
        Logistic((0.0,), (1.0,), (2.0,), -1.1, 0.5),
        Logistic((0.0,), (1.0,), (2.0,), -1.0, 0.6),
    ]
    assert len({m.version for m in [model, *changed]}) == 6
    assert Logistic((0.0,), (1.0,), (2.0,), -1.0, 0.5).version == model.version


def test_the_logistic_is_the_textbook_one_and_does_not_overflow() -> None:
    model = Logistic((1.0,), (2.0,), (3.0,), -0.5, 0.5)
    values = np.array([[1.0], [2.0], [1e30], [-1e30]], dtype=np.float32)
    expected = [1 / (1 + np.exp(0.5)), 1 / (1 + np.exp(-1.0)), 1.0, 0.0]
    np.testing.assert_allclose(model.probabilities(values), expected, rtol=1e-6)


def test_weights_survive_the_file_and_bad_files_are_refused() -> None:
    text = shipped_weights().to_json()
    assert read_weights(text, "w.json") == shipped_weights()
    raw = json.loads(text)
    with pytest.raises(UnavailableError, match=r"w\.json"):
        read_weights("{", "w.json")
    with pytest.raises(UnavailableError, match="cannot be read"):
        read_weights(json.dumps(raw | {"embedded": raw["embedded"] | {"mean": [1.0]}}), "w.json")
    with pytest.raises(UnavailableError, match="coefficients, expected"):
        read_weights(json.dumps(raw | {"embedded": raw["similarity"]}), "w.json")
    with pytest.raises(StaleError, match="another version of the features"):
        read_weights(json.dumps(raw | {"made_for": raw["made_for"] | {"features": "0"}}), "w.json")


def test_the_best_threshold_beats_every_other() -> None:
    rng = np.random.default_rng(4)
    truth = rng.random(300) < 0.3
    scores = (np.round(rng.random(300) + 0.3 * truth, 2)).astype(np.float32)
    weights = rate_weights(truth)
    best = best_threshold(truth, scores, weights)
    assert np.average(truth, weights=weights) == pytest.approx(0.168)
    f1 = {float(t): precision_recall_f1(truth, scores >= t, weights)[2] for t in np.unique(scores)}
    reached = precision_recall_f1(truth, scores >= best, weights)[2]
    assert reached == pytest.approx(max(f1.values()))


def test_precision_recall_f1_by_hand() -> None:
    truth = np.array([True, True, False, False])
    chosen = np.array([True, False, True, False])
    weights = np.array([1.0, 3.0, 1.0, 1.0])
    assert precision_recall_f1(truth, chosen, weights) == pytest.approx((1 / 2, 1 / 4, 1 / 3))
    assert precision_recall_f1(truth, np.zeros(4, dtype=bool), weights) == (0.0, 0.0, 0.0)


def small_data(folder: Path) -> None:
    def entry(title: str, text: str) -> dict[str, Any]:
        return {
            "perspective_title": title,
            "argument": {"description": [f"{text} {FILLER}"]},
            "counter_argument": [],
        }

    pages = [
        {
            "claim_title": f"{s} should be banned",
            "perspectives_for": [
                entry(f"{s} cost towns money", f"{s} empty the purse"),
                entry(f"{s} hurt our neighbours", f"{s} are loud and harmful"),
            ],
            "perspectives_against": [entry(f"{s} teach the young", f"{s} open young minds")],
        }
        for s in SUBJECTS
    ]
    for name, part in zip(SOURCES, (pages[:20], pages[20:]), strict=True):
        (folder / name).write_text(json.dumps(part), encoding="utf-8")


def test_training_twice_gives_the_same_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train_embedded, "RESAMPLES", 20)
    small_data(tmp_path)
    outs = [tmp_path / "a" / "one.json", tmp_path / "two.json"]
    assert [train_embedded.main([str(tmp_path), "--out", str(o)]) for o in outs] == [0, 0]
    assert outs[0].read_bytes() == outs[1].read_bytes()
    weights = read_weights(outs[0].read_text(encoding="utf-8"), outs[0])
    assert weights.embedded.version in capsys.readouterr().out
    assert weights.embedded.version != shipped_weights().embedded.version
    assert weights.card["figures"]["embedded"]["test"]["auroc"][0] > 0.5


def test_training_names_a_missing_file_and_too_little_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train_embedded.main([str(tmp_path), "--out", str(tmp_path / "w.json")]) == 2
    assert SOURCES[0] in capsys.readouterr().err
    small_data(tmp_path)
    for name in SOURCES:
        (tmp_path / name).write_text(json.dumps(json.loads((tmp_path / name).read_text())[:1]), encoding="utf-8")
    with pytest.raises(BadInputError, match="pairs of each label"):
        train_embedded.train(tmp_path)
    assert not (tmp_path / "w.json").exists()


needs_real_data = pytest.mark.skipif(not REAL.exists(), reason="the debate pages are not on this machine")


@pytest.fixture(scope="module")
def held_out() -> list[LabelledPair]:
    return [p for p in labelled_pairs(read_debates(REAL), shipped_weights().card["seed"]) if p.split == "test"]


def auroc(detector: Detector, pairs: list[LabelledPair]) -> float:
    scores: npt.NDArray[np.float32] = detector.predict([p.pair for p in pairs])
    return float(roc_auc_score([p.supports for p in pairs], scores))


@needs_real_data
def test_the_shipped_weights_reproduce_their_card(held_out: list[LabelledPair]) -> None:
    for detector in DETECTORS:
        stated = shipped_weights().card["figures"][detector.name]["test"]["auroc"][0]
        assert auroc(detector, held_out) == pytest.approx(stated, abs=5e-4), detector.name


@needs_real_data
def test_embedded_beats_similarity_and_similarity_beats_chance(held_out: list[LabelledPair]) -> None:
    embedded, similarity, chance = (auroc(d, held_out) for d in DETECTORS)
    assert embedded > similarity + 0.02
    assert similarity > chance + 0.1


@needs_real_data
def test_probabilities_are_calibrated_at_the_base_rate(held_out: list[LabelledPair]) -> None:
    truth = np.array([p.supports for p in held_out])
    scores = EmbeddedDetector().predict([p.pair for p in held_out])
    assert np.average(scores, weights=rate_weights(truth)) == pytest.approx(0.168, abs=0.02)
