"""Detectors on held-out data at thresholds from elsewhere."""

import json
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from berdseye.data.errors import BadInputError
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.stance.examples import StancePair, read_stance_pairs, training_examples
from berdseye.detectors.stance.held_out import (
    HeldOut,
    Scored,
    Split,
    article_windows,
    claims_with_reasons,
    generated_answers,
    held_out,
    minimal_edits,
    negations,
    off_topic,
    threshold_from_others,
)
from berdseye.evaluation.detection.transfer import (
    called_supporting,
    carried,
    claims_auroc,
    few,
    figures,
    kinds_table,
    sides_table,
    transfer,
    transfer_table,
)


def scored(positives: list[float], negatives: list[float]) -> Scored:
    pairs = [HeldOut(f"p{n}", "q", True, "own", f"t{n % 7}") for n in range(len(positives))]
    pairs += [
        HeldOut(f"n{n}", "q", False, "claim" if n % 2 else "opposing", f"t{n % 7}") for n in range(len(negatives))
    ]
    return Scored(pairs, np.array([*positives, *negatives], dtype=np.float32))


def test_figures_are_at_the_base_rate() -> None:
    found = figures(scored([0.9] * 60 + [0.2] * 40, [0.9] * 10 + [0.1] * 90), 0.5)
    assert found["auroc"][0] == pytest.approx(0.6 * (0.9 + 0.05) + 0.4 * 0.9, abs=1e-4)
    called = 0.168 * 0.6 + 0.832 * 0.1
    assert found["called_supporting"] == pytest.approx(called, abs=1e-4)
    assert found["f1"][0] == pytest.approx(2 * 0.168 * 0.6 / (called + 0.168), abs=1e-4)
    assert found["f1"][1] < found["f1"][0] < found["f1"][2]
    assert set(found["against"]) == {"claim", "opposing"}
    assert (found["pairs"], found["positives"], found["topics"]) == (200, 100, 7)


def test_a_threshold_that_calls_too_much_is_moved_towards_the_base_rate() -> None:
    generator = np.random.default_rng(0)
    truth = generator.random(4000) < 0.5
    p = 1 / (1 + np.exp(-(2 * generator.normal(np.where(truth, 1, -1), 1) + np.log(0.168 / 0.832) + 1.5)))
    one = scored(p[truth].tolist(), p[~truth].tolist())
    found = carried(one, 0.9, 0.4, 0.2)
    assert found["before"]["called_supporting"] > 0.25
    assert abs(found["judged"]["called_supporting"] - 0.168) < abs(found["before"]["called_supporting"] - 0.168)
    assert found["judged"]["f1"] > found["before"]["f1"]
    assert found["best"]["f1"] >= found["before"]["f1"]
    assert found["own"]["called_supporting"] < found["best"]["called_supporting"] < found["before"]["called_supporting"]
    assert found["share"]["called_supporting"] == pytest.approx(0.2, abs=0.002)
    assert found["before"]["f1"] < found["share"]["f1"] <= found["best"]["f1"]
    # It depends on the order of the pairs alone.
    halved = Scored(one.pairs, one.probabilities / 2)
    assert carried(halved, 0.9, 0.4, 0.2)["share"] == found["share"]


def test_the_share_called_supporting_is_at_the_base_rate() -> None:
    one = scored([0.9] * 3 + [0.1], [0.9] * 10 + [0.1] * 90)
    assert called_supporting(one, 0.5) == pytest.approx(0.168 * 0.75 + 0.832 * 0.1)
    assert called_supporting(one, 0.95) == 0


def test_claims_are_ranked_among_themselves() -> None:
    pairs = [HeldOut(f"p{n}", "q", n < 2, kind, "t") for kind in ("claim", "own") for n in range(4)]
    one = Scored(pairs, np.array([0.3, 0.2, 0.25, 0.1, 0.9, 0.8, 0.0, 0.0], dtype=np.float32))
    assert claims_auroc(one) == 0.75
    assert np.isnan(claims_auroc(Scored(pairs[4:], one.probabilities[4:])))


def test_few_pairs_are_balanced_and_always_the_same() -> None:
    pairs = scored([0.5] * 30, [0.5] * 300).pairs
    found = few(pairs, 40)
    assert (len(found), sum(pair.supports for pair in found)) == (40, 20)
    assert found == few(pairs, 40) != few(pairs, 40, seed=1)
    assert [pairs.index(pair) for pair in found] == sorted(pairs.index(pair) for pair in found)
    assert sum(pair.supports for pair in few(pairs, 100)) == 30
    assert sum(pair.supports for pair in few(pairs, 320)) == 30
    assert few(pairs, None) == few(pairs, 1000) == list(pairs)


def test_a_threshold_comes_from_the_other_sources() -> None:
    assert threshold_from_others({"a": 0.1, "b": 0.5, "c": 0.7}, "a") == pytest.approx(0.6)


def test_the_tables_have_calibration_kinds_and_cut_texts(shared_data: Path) -> None:
    result = transfer(parse_detector("random"), shared_data, sample=20)
    assert result["truncated"] is None
    assert (transfer_table([result])["ece"] >= 0).all()
    kinds = kinds_table([result])
    assert set(kinds["source"]) == {"articles", "arguments", "debates"}
    assert "on topic, no evidence" in set(kinds["against"])
    assert kinds["auroc"].between(0, 100).all()
    assert sides_table([result | {"truncated": 3}])["truncated"].tolist() == [3]


def test_off_topic_perspectives_are_told_from_supported_ones_by_their_likeness(shared_data: Path) -> None:
    off = off_topic(shared_data)
    debates = {pair.group for pair in held_out(shared_data, "test")["debates"]}
    assert len(off) > 400
    assert {(pair.supports, pair.group in debates) for pair in off} == {(False, True)}
    found = transfer(parse_detector("similarity(static)"), shared_data, sample=40)["sides"]
    assert found["off_topic_auroc"] > 0.9 > found["claims_auroc"]


def test_claims_with_reasons_need_the_reason_too(shared_data: Path) -> None:
    pairs = claims_with_reasons(shared_data, "test")
    debates = {pair.group for pair in held_out(shared_data, "test")["debates"]}
    assert {(pair.kind, pair.supports) for pair in pairs} == {
        ("own", True),
        ("sibling", False),
        ("opposing", False),
        ("retrieved", False),
    }
    assert {pair.group for pair in pairs} <= debates
    assert all(", because " in pair.perspective for pair in pairs)
    claims = {pair.passage: pair.perspective.partition(", because ")[0] for pair in pairs if pair.kind == "own"}
    by_kind = {
        kind: [
            pair.perspective.startswith(f"{claims[pair.passage]}, because ")
            for pair in pairs
            if pair.kind == kind and pair.passage in claims
        ]
        for kind in ("sibling", "opposing")
    }
    assert (all(by_kind["sibling"]), any(by_kind["opposing"])) == (True, False), "the same claim, and the contrary one"


def test_answers_support_the_perspective_that_they_begin_with(tmp_path: Path) -> None:
    assert generated_answers(tmp_path) == []
    (tmp_path / "berds_dev").mkdir()
    file = tmp_path / "berds_dev" / "kialo.jsonl"
    both = ["Zoos are good.", "Zoos are bad."]
    rows = [("Yes, they teach.", both), ("no. they hurt.", both), ("Nobody knows.", both), ("Yes, so.", both[:1])]
    file.write_text("\n".join(json.dumps({"org_q": "Zoos?", "text": t, "perspectives": p}) for t, p in rows))
    found = generated_answers(tmp_path)
    assert [(right.passage, right.perspective, wrong.perspective) for right, wrong in found] == [
        ("They teach.", *both), ("They hurt.", *reversed(both))
    ]  # fmt: skip
    assert [(right.supports, wrong.supports, right.kind) for right, wrong in found] == [
        (True, False, "yes"), (True, False, "no")
    ]  # fmt: skip
    file.write_text('{"org_q": "Zoos?"}')
    with pytest.raises(BadInputError, match=r"cannot be read.*text"):
        generated_answers(tmp_path)


def test_windows_are_five_neighbouring_sentences_of_one_claim() -> None:
    rows = [StancePair(n, "iam-evidence", "test", "evidence" if n == 6 else "on topic, no evidence", "g", f"s{n}.", "claim")
            for n in range(12)]  # fmt: skip
    found = article_windows(rows[::-1])
    assert [w.passage for w in found] == ["s0. s1. s2. s3. s4.", "s5. s6. s7. s8. s9.", "s10. s11."]
    assert [w.supports for w in found] == [False, True, False]


def test_held_out_sources_share_nothing_with_the_training_data(shared_data: Path) -> None:
    examples = training_examples(shared_data)
    passages = {example.passage for rows in examples.values() for example in rows}
    for split in get_args(Split):
        for source, pairs in held_out(shared_data, split).items():
            assert len(pairs) > 1000
            assert passages.isdisjoint(pair.passage for pair in pairs), source
    assert passages.isdisjoint(pair.passage for pair in [*negations(shared_data), *minimal_edits(shared_data)])
    assert min(len(example.statements) for rows in examples.values() for example in rows) > 0


def test_a_folder_without_the_data_is_refused_with_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"Give the folder that contains stance/pairs\.parquet"):
        read_stance_pairs(tmp_path)
