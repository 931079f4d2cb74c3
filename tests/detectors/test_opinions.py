"""What a page says for a detector's probabilities, and the grades that decide it."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.errors import StaleError
from berdseye.data.labels import LabelStore
from berdseye.data.records import DetectorVersion, Label, Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.baselines import RandomDetector
from berdseye.detectors.labelling import OpinedPair, label, opined, share_unsure
from berdseye.detectors.opinions import Graded, Opinion, grade_of, graded, opinions, unsure_about, write_grade
from berdseye.detectors.protocol import Floats

ROWS = np.array([[0.9, 0.05], [0.45, 0.1], [0.55, 0.1], [0.1, 0.8], [0.1, 0.2]], dtype=np.float32)


def said(grade: str, supporting: Floats, opposing: Floats) -> list[Opinion]:
    return opinions(grade, 0.5, 0.1, supporting, opposing)  # type: ignore[arg-type]


def test_a_detector_of_sides_names_the_side_or_is_unsure() -> None:
    assert said("stance", *ROWS.T) == ["supports", "unsure", "unsure", "opposes", "neither"]


def test_a_detector_without_a_probability_of_opposition_says_no_more_than_it_knows() -> None:
    unknown = np.full(len(ROWS), np.nan, dtype=np.float32)
    assert said("stance", ROWS[:, 0], unknown)[-2:] == ["does not support", "does not support"]


@given(st.lists(st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32)), max_size=20))
def test_a_detector_of_topics_never_names_a_side(rows: list[tuple[float, float]]) -> None:
    table = np.array(rows, dtype=np.float32).reshape(-1, 2)
    assert set(said("topic", table[:, 0], table[:, 1])) <= {"on topic", "off topic", "unsure"}


@given(st.lists(st.floats(0, 1, width=32), max_size=20), st.sampled_from(["topic", "stance"]))
def test_what_counts_as_unsure_is_what_is_said_to_be_unsure(values: list[float], grade: str) -> None:
    p = np.array([*values, np.nan], dtype=np.float32)
    near = unsure_about(0.5, 0.1, p)
    opined = said(grade, p, np.full(len(p), np.nan, np.float32))
    assert near.tolist() == [opinion == "unsure" for opinion in opined]
    detector = DetectorVersion("d", "1", 0.5, grade, 0.1)  # type: ignore[arg-type]
    labels = [detector.says(one, one >= 0.5) for one in p.tolist()[:-1]]
    assert labels == opined[:-1], "tasks and Annotate say what Explore says"


def test_the_share_of_unsure_pairs_leaves_out_pairs_without_a_label(workspace: Workspace) -> None:
    detector = RandomDetector(seed=7)
    p = np.array([0.9, 0.832, 0.75, 0.2, np.nan], dtype=np.float32)
    assert share_unsure(workspace, detector, p) == 3 / 4
    assert share_unsure(workspace, detector, p, threshold=0.25) == 1 / 4
    assert share_unsure(workspace, detector, p[4:]) is None


class Sided(RandomDetector):
    """A detector with fixed stances."""

    name = "sided"

    def stances(self, pairs: Sequence[Pair]) -> Floats:
        return np.tile(np.array([0.05, 0.9, 0.05], dtype=np.float32), (len(pairs), 1))


def test_opinions_come_from_the_label_cache(workspace: Workspace) -> None:
    detector, pair = Sided(), Pair("passage", "perspective")
    detector.name = "sided"
    write_grade(workspace, Graded("sided", detector.version, "stance", 0.9, 0.8, 1.0, 87))
    [first] = opined(workspace, detector, [pair])
    assert (first.opinion, first.label.supports) == ("opposes", False)
    assert first.probability == first.opposing == np.float32(0.9)
    store = LabelStore(workspace)
    assert store.opposing("sided", [pair.key], detector.version) == np.float32(0.9)
    store.put("sided", detector.version, [pair.key], [0.99], [0.01])
    assert opined(workspace, detector, [pair])[0].opinion == "supports"  # the newer of two stored labels
    assert label(store, detector, [pair]) == np.float32(0.99)


@pytest.mark.parametrize(
    ("opinion", "opposing", "expected"),
    [
        ("supports", 0.1, 0.3),
        ("unsure", 0.6, 0.3),
        ("opposes", 0.6, 0.6),
        ("neither", 0.1, 0.6),
        ("does not support", math.nan, 0.7),
        ("on topic", math.nan, 0.3),
        ("off topic", math.nan, 0.7),
        ("neither", 0.71, 0.0),
    ],
)
def test_the_probability_is_that_of_what_the_opinion_says(opinion: Opinion, opposing: float, expected: float) -> None:
    assert OpinedPair(Label(0.3, True), opposing, opinion).probability == pytest.approx(expected)


def test_a_version_without_a_grade_counts_as_topic(workspace: Workspace) -> None:
    detector = RandomDetector(seed=7)
    assert graded(workspace, detector) is None
    assert grade_of(workspace, detector) == "topic"
    one = Graded(detector.name, detector.version, "stance", 0.9, 0.8, 1.0, 87)
    write_grade(workspace, one)
    assert graded(workspace, detector) == one
    assert grade_of(workspace, RandomDetector(seed=8)) == "topic"
    assert str(one) == "stance (90% of 87 contrasts right, 80% to 100%)"


def test_a_damaged_grade_says_how_to_measure_it_again(workspace: Workspace) -> None:
    detector = RandomDetector(seed=7)
    write_grade(workspace, Graded(detector.name, detector.version, "topic", 0.5, 0.4, 0.6, 87))
    [path] = workspace.grades_folder.iterdir()
    path.write_text("{", encoding="utf-8")
    with pytest.raises(StaleError, match="berdseye detector grade"):
        graded(workspace, detector)


def test_labels_without_opposition_are_read_beside_those_with_it(workspace: Workspace) -> None:
    store = LabelStore(workspace)
    store.put("one", "1", ["a", "b"], [0.1, 0.2])
    store.put("one", "1", ["c"], [0.3], [0.6])
    assert np.array_equal(
        store.opposing("one", ["a", "b", "c"], "1"), np.array([np.nan, np.nan, 0.6], dtype=np.float32), equal_nan=True
    )
    assert np.allclose(store.get("one", ["a", "b", "c"], "1"), [0.1, 0.2, 0.3])
    store.put("two", "1", ["a"], [0.1])
    assert np.isnan(store.opposing("two", ["a"], "1")).all()
