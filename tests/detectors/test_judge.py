"""What a pipeline asks of detectors."""

from collections.abc import Sequence

import numpy as np
import pytest

from berdseye.data.errors import UnknownNameError
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.baselines import RandomDetector
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.labelling import label_function

PAIRS = [Pair("Zoos protect animals.", "Zoos are good."), Pair("Cars are loud.", "Zoos are good."), Pair("", "x")]


@pytest.mark.parametrize("name", ["embedded", "random", "similarity(static)"])
def test_it_says_what_the_detector_of_the_name_says(workspace: Workspace, name: str) -> None:
    found = label_function(workspace)(name, PAIRS)
    assert found.dtype == np.float32
    assert np.array_equal(found, parse_detector(name).predict(PAIRS))


def test_predictions_are_kept_and_not_asked_again(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pair asked twice is one, and a label of the cache, whoever put it there, is believed."""
    asked: list[int] = []
    predict = RandomDetector.predict

    def counting(self: RandomDetector, pairs: list[Pair]) -> object:
        asked.append(len(pairs))
        return predict(self, pairs)

    monkeypatch.setattr(RandomDetector, "predict", counting)
    detector = parse_detector("random")
    LabelStore(workspace).put("random", detector.version, [PAIRS[1].key], [0.125])
    first = label_function(workspace)("random", [PAIRS[0], PAIRS[1], PAIRS[0]])
    assert asked == [1]
    assert first[1] == 0.125
    assert first[0] == first[2]
    assert np.array_equal(label_function(workspace)("random", [PAIRS[1], PAIRS[0]]), first[[1, 0]])
    assert asked == [1]
    assert label_function(workspace)("random", []).shape == (0,)


def test_texts_that_are_read_in_part_are_reported_for_new_and_for_cached_labels(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def cut(_: RandomDetector, pairs: Sequence[Pair]) -> object:
        return np.array([len(pair.passage) > 20 for pair in pairs])

    monkeypatch.setattr(RandomDetector, "cut", cut, raising=False)
    label_function(workspace)("random", [PAIRS[0], PAIRS[1], PAIRS[0]])
    said = "1 of 2 pairs has a text that is too long for random and was cut."
    assert [record.getMessage() for record in caplog.records] == [said]
    caplog.clear()
    label_function(workspace)("random", PAIRS[:2])
    assert [record.getMessage() for record in caplog.records] == [said], "the cached labels record it"
    caplog.clear()
    label_function(workspace)("random", PAIRS[1:])
    assert caplog.records == [], "no text of these is long"


def test_labels_that_do_not_record_it_are_not_counted_as_cut(workspace: Workspace) -> None:
    store, keys = LabelStore(workspace), [pair.key for pair in PAIRS]
    store.put("random", "1", keys[:2], [0.5, 0.5])
    assert store.count_cut("random", keys, "1") == 0
    store.put("random", "1", keys[1:], [0.5, 0.5], cut=[True, False])
    assert store.count_cut("random", [*keys, *keys], "1") == 1
    assert store.count_cut("random", keys, "2") == 0


def test_a_detector_that_there_is_not(workspace: Workspace) -> None:
    with pytest.raises(UnknownNameError, match="Unknown detector 'embeded'"):
        label_function(workspace)("embeded", PAIRS)
