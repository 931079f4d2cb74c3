"""The learning curve: honest splits, a head that learns what it is told, and no more corrections than there are pairs."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from berdseye.app.cli import cli
from berdseye.data.errors import BadInputError
from berdseye.data.records import Pair
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.embedded import EmbeddedDetector, Logistic, Weights, shipped_weights
from berdseye.detectors.protocol import Floats
from berdseye.detectors.stance.detector import StanceDetector
from berdseye.detectors.thresholds import Tuned
from berdseye.detectors.training.settings import STANCE_SETTINGS
from berdseye.detectors.training.stance import StanceLearner
from berdseye.evaluation.detection.learning_curve import (
    ALL,
    RANDOM,
    UNCERTAIN,
    LearningCurve,
    corrections_for_gain,
    learning_curve,
)

TOPICS = (
    "zoos",
    "trams",
    "opera",
    "whaling",
    "algebra",
    "taxis",
    "chess",
    "robots",
    "dams",
    "tattoos",
    "surfing",
    "bees",
)
PLACES = ("Oslo", "Lima", "Cairo", "Delhi", "Quito", "Turin")


def contrary(model: Logistic) -> Logistic:
    """The model with its opinions turned round."""
    return replace(model, coefficients=tuple(-c for c in model.coefficients), intercept=0.0)


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """Pairs of twelve questions whose labels follow the topic: eight questions train, two dev, two test."""
    path = tmp_path / "judged.jsonl"
    splits = ("train",) * 8 + ("dev",) * 2 + ("test",) * 2
    rows = [
        {
            "document": f"In {place} people spoke of {subject} for an hour, and of nothing else.",
            "perspective": f"The people of {place} like {topic}",
            "label": int(subject == topic),
            "question": f"What of {topic}?",
            "split": split,
        }
        for topic, split in zip(TOPICS, splits, strict=True)
        for place in PLACES
        for subject in (topic, *[t for t in TOPICS if t != topic][:3])
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_corrections_teach_a_contrary_detector(judged: Path) -> None:
    shipped = shipped_weights()
    start = EmbeddedDetector(Weights(contrary(shipped.embedded), shipped.similarity, {}), "contrary")
    curve = learning_curve(start, judged, batch=20, rounds=4, seeds=2, prior=1.0).table
    for _, part in curve.groupby("strategy"):
        if part["strategy"].iloc[0] != ALL:
            assert part["auroc"].iloc[0] < 0.2
            assert part["auroc"].iloc[-1] > 0.8
    assert all(count and count <= 80 for count in list(corrections_for_gain(curve, "auroc").values())[:2])


def test_a_curve_starts_at_the_detector_itself_and_ends_where_the_pool_does(judged: Path) -> None:
    curve = learning_curve(parse_detector("embedded"), judged, batch=50, rounds=20, seeds=2).table
    assert list(curve.columns) == [
        "corrections", "strategy", "auroc", "auroc_low", "auroc_high", "f1", "f1_low", "f1_high",
    ]  # fmt: skip
    random, uncertain = (curve[curve["strategy"] == s] for s in (RANDOM, UNCERTAIN))
    pool = 8 * len(PLACES) * 4
    for part in (random, uncertain):
        assert part["corrections"].tolist()[:3] == [0, 50, 100]
        assert part["corrections"].iloc[-1] <= pool * 2 / 3 + 24
        assert (part["auroc_low"] <= part["auroc"]).all()
        assert (part["auroc"] <= part["auroc_high"]).all()
    assert random["auroc"].iloc[0] == uncertain["auroc"].iloc[0]
    assert curve.loc[curve["strategy"] == ALL, "corrections"].tolist() == [pool]


def test_the_same_seeds_give_the_same_curve_and_a_tuned_detector_starts_alike(judged: Path) -> None:
    detector = parse_detector("embedded")
    first = learning_curve(detector, judged, rounds=2, seeds=2).table
    again = learning_curve(Tuned(detector, 0.9, "tuned"), judged, rounds=2, seeds=2).table
    pd.testing.assert_frame_equal(first, again)


def test_test_labels_are_never_learnt_from(judged: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in judged.read_text(encoding="utf-8").splitlines()]
    flipped = [row | {"label": 1 - row["label"]} if row["split"] == "test" else row for row in rows]
    other = tmp_path / "flipped.jsonl"
    other.write_text("".join(json.dumps(row) + "\n" for row in flipped), encoding="utf-8")
    straight, turned = (learning_curve(parse_detector("embedded"), p, rounds=2, seeds=1).table for p in (judged, other))
    np.testing.assert_allclose(straight["auroc"], 1 - turned["auroc"], atol=1e-9)


def test_progress_counts_the_trainings_that_are_left(judged: Path) -> None:
    told: list[tuple[int, int | None]] = []

    def tell(done: int, what: str, total: int | None = None, /) -> None:
        assert what == "trainings"
        told.append((done, total))

    learning_curve(parse_detector("embedded"), judged, batch=60, rounds=10, seeds=3, progress=tell)
    assert told[0] == (0, 6 * 11 + 1)
    assert all(total is not None and done <= total for done, total in told)
    assert told[-1][0] == told[-1][1] == len(told) - 1 < 6 * 11 + 1, "the pool is used up before ten batches"


def test_the_gain_is_counted_from_the_start() -> None:
    curve = pd.DataFrame(
        {"corrections": [0, 50, 100, 0, 50], "strategy": ["a", "a", "a", "b", "b"], "f1": [0.4, 0.49, 0.51, 0.4, 0.45]}
    )
    assert corrections_for_gain(curve, "f1") == {"a": 100, "b": None}
    assert corrections_for_gain(curve, "f1", 0.05) == {"a": 50, "b": 50}


def test_other_detectors_and_files_without_a_test_are_refused(judged: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="similarity"):
        learning_curve(parse_detector("similarity(static)"), judged)
    lines = [line for line in judged.read_text(encoding="utf-8").splitlines() if '"test"' not in line]
    path = tmp_path / "no_test.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(BadInputError, match="test split"):
        learning_curve(parse_detector("embedded"), path)


def test_the_command_prints_the_curve_and_what_ten_points_take(judged: Path) -> None:
    arguments = ["detector", "learning-curve", str(judged), "--batch", "30", "--rounds", "2", "--seeds", "2"]
    arguments += ["--detector", "embedded", "--strategy", "random"]
    found = CliRunner().invoke(cli, [*arguments, "--json"])
    assert found.exit_code == 0, found.output
    said = json.loads(found.stdout)
    assert [row["corrections"] for row in said["curve"] if row["strategy"] == RANDOM] == [0, 30, 60]
    assert {row["strategy"] for row in said["curve"]} == {RANDOM}
    assert set(said["corrections_for_10_points"]) == {"auroc", "f1"}
    assert said["truncated"] is None, "embedded does not report this"
    shown = CliRunner().invoke(cli, arguments)
    assert "Corrections for 10 points of F1" in shown.stdout
    wrong = CliRunner().invoke(cli, [*arguments[:-1], "luck"])
    assert wrong.exit_code != 0
    assert "luck" in f"{wrong.output}{wrong.exception}"


def test_stance_learns_from_corrections_and_from_written_passages(
    judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels that contradict the shipped detector; dev and test are other passages of the same questions."""
    quickly = replace(STANCE_SETTINGS, learning_rate=2e-3, epochs=2.0)
    monkeypatch.setattr("berdseye.detectors.training.stance.STANCE_SETTINGS", quickly)
    rows = [json.loads(line) for line in judged.read_text(encoding="utf-8").splitlines()]
    contrary_rows = [
        row | {"label": 1 - row["label"], "document": row["document"].replace("an hour", f"{n} hours")}
        for row in rows[::2]
        for n in (2, 3, 4)
    ]
    path, written = tmp_path / "contrary.jsonl", tmp_path / "written.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in contrary_rows), encoding="utf-8")
    elsewhere = [row | {"document": row["document"].replace("hours", "days")} for row in contrary_rows[::3]]
    written.write_text("".join(json.dumps(row) + "\n" for row in elsewhere), encoding="utf-8")
    told: list[int] = []

    def tell(done: int, what: str, total: int | None = None, /) -> None:
        del what, total
        told.append(done)

    def measured(written: Path | None) -> LearningCurve:
        return learning_curve(
            parse_detector("stance"), path, batch=80, rounds=1, seeds=1, held_out="passages", written=written,
            strategies=(RANDOM,), progress=tell,
        )  # fmt: skip

    alone, helped = measured(None).table, measured(written).table
    assert alone["strategy"].unique().tolist() == [RANDOM]
    assert alone["auroc"].iloc[1] > alone["auroc"].iloc[0] + 0.1
    assert helped["auroc"].iloc[0] > alone["auroc"].iloc[0] + 0.1
    assert told == [0, 1, 2] * 2


def test_stance_keeps_its_opinion_of_written_passages_with_other_perspectives(
    judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned: list[tuple[list[Pair], list[float]]] = []

    def untrained(start: StanceDetector, pairs: Sequence[Pair], targets: Floats) -> dict[str, Floats]:
        learned.append((list(pairs), targets.tolist()))
        return StanceLearner(start.folder).numbers()

    monkeypatch.setattr("berdseye.detectors.training.stance.numbers_learned", untrained)
    written = tmp_path / "written.jsonl"
    texts = {
        "Trams are quiet, and few cars are.": "Trams are good.",
        "Cars carry goods that trams cannot.": "Cars are good.",
    }
    rows = [{"question": "Trams?", "document": t, "perspective": p, "label": 1} for t, p in texts.items()]
    written.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    detector = parse_detector("stance")
    learning_curve(detector, judged, batch=4, rounds=0, seeds=1, written=written, strategies=(RANDOM,))
    [(pairs, targets)] = learned
    own = [Pair(text, view) for text, view in texts.items()]
    others = [Pair(text, view) for text, view in zip(texts, reversed(texts.values()), strict=True)]
    assert pairs == own + others
    assert targets == [1.0, 1.0, *detector.predict(others).tolist()]


def test_texts_that_are_cut_are_counted_and_other_detectors_refused(judged: Path, tmp_path: Path) -> None:
    long = tmp_path / "long.jsonl"
    row = json.loads(judged.read_text(encoding="utf-8").splitlines()[0])
    long.write_text(json.dumps(row | {"perspective": "cars " * 65}) + "\n", encoding="utf-8")
    curve = learning_curve(
        parse_detector("stance"), judged, batch=4, rounds=1, seeds=1, written=long, strategies=(RANDOM,)
    )
    assert curve.truncated == 1, "of the written pair, since stance reads 64 tokens of a perspective"
    with pytest.raises(BadInputError, match="from its start"):
        learning_curve(parse_detector("random"), judged)
