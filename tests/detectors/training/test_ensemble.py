"""Several detectors as one."""

import json

import numpy as np
import pytest
from made_training import made_pairs, made_set

from berdseye.data.errors import BadInputError, StaleError, UnavailableError
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.ensemble import STACK_FILE
from berdseye.detectors.training.training import TrainingPlan, train_detector

PAIRS = [p.pair for p in made_pairs()]


def test_the_mean_is_that_of_its_parts_and_its_name_parses_back() -> None:
    mean = parse_detector("mean(embedded, similarity(static),random(seed=3))")
    assert mean.name == "mean(embedded,similarity(static),random(seed=3))"
    parts = [parse_detector(name) for name in ("embedded", "similarity(static)", "random(seed=3)")]
    np.testing.assert_allclose(mean.predict(PAIRS), np.mean([p.predict(PAIRS) for p in parts], axis=0), atol=1e-6)
    assert mean.threshold == pytest.approx(np.mean([p.threshold for p in parts]))
    again = parse_detector(mean.name)
    assert (again.name, again.version) == (mean.name, mean.version)
    assert parse_detector("mean(embedded,random(seed=4))").version != parse_detector("mean(embedded,random)").version
    with pytest.raises(BadInputError, match="at least two detectors"):
        parse_detector("mean(embedded)")


def test_a_stack_learns_which_detector_to_trust(workspace: Workspace) -> None:
    plan = TrainingPlan("stacked", "both", ("random", "embedded"))
    made = train_detector(workspace, plan, made_set(24))
    assert made.detector == "stacked(both)"
    weighed = made.card["coefficients"]
    assert weighed["embedded"] > abs(weighed["random"])
    stacked = parse_detector("stacked(both)", workspace)
    found = stacked.predict(PAIRS)
    assert ((found >= 0) & (found <= 1)).all()
    assert (stacked.threshold, stacked.measured) == (made.card["threshold"], made.card["measured"])
    np.testing.assert_allclose(stacked.predict(PAIRS[:1]), found[:1], atol=1e-5)


def test_a_stack_over_another_version_is_stale_and_a_broken_one_unavailable(workspace: Workspace) -> None:
    folder = train_detector(workspace, TrainingPlan("stacked", "both", ("random", "embedded")), made_set()).folder
    held = json.loads((folder / STACK_FILE).read_text())
    (folder / STACK_FILE).write_text(json.dumps(held | {"versions": ["1", held["versions"][1]]}))
    with pytest.raises(StaleError, match="'random' has changed"):
        parse_detector("stacked(both)", workspace)
    (folder / STACK_FILE).write_text(json.dumps(held | {"coefficients": [1.0]}))
    with pytest.raises(UnavailableError, match="cannot be read"):
        parse_detector("stacked(both)", workspace)
    with pytest.raises(UnavailableError, match="cannot be read"):
        parse_detector("stacked(none)", workspace)
