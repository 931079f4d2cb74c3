"""The labels that agreement is computed over."""

import pandas as pd
import pytest
from small_workspace import judge, key

from annotation.agreement import agreement
from annotation.judgments import Judgments
from data.workspace import Workspace
from detectors.registry import parse_detector
from evaluation.agreement_labels import UNSURE_RULES, agreement_labels


@pytest.fixture
def frame(judgments: Judgments) -> pd.DataFrame:
    ana, bo = judgments.sign_in("Ana"), judgments.sign_in("Bo")
    judge(judgments, ana, 0, 0, 0, "supports")
    judge(judgments, ana, 0, 1, 0, "unsure")
    judge(judgments, bo, 0, 0, 0, "does not support")
    judge(judgments, bo, 0, 1, 1, "unsure")
    return judgments.frame()


def test_unsure_is_left_out_or_a_third_label(small: Workspace, frame: pd.DataFrame) -> None:
    left_out, third = (agreement_labels(small, frame, None, rule) for rule in UNSURE_RULES)
    assert set(left_out.itertuples(index=False, name=None)) == {
        (key(0, 0, 0), "Ana", "supports"),
        (key(0, 0, 0), "Bo", "does not support"),
    }
    assert set(third.itertuples(index=False, name=None)) == {
        *left_out.itertuples(index=False, name=None),
        (key(0, 1, 0), "Ana", "unsure"),
        (key(0, 1, 1), "Bo", "unsure"),
    }


def test_the_detector_labels_every_judged_pair_once(small: Workspace, frame: pd.DataFrame) -> None:
    labels = agreement_labels(small, frame, parse_detector("random"), "a third label")
    machine = labels[labels["annotator"] == "detector random"]
    assert sorted(machine["item"]) == sorted({key(0, 0, 0), key(0, 1, 0), key(0, 1, 1)})
    assert set(machine["label"]) <= {"supports", "does not support"}
    assert {(p.a, p.b): p.n for p in agreement(labels).pairs} == {
        ("Ana", "Bo"): 1,
        ("Ana", "detector random"): 2,
        ("Bo", "detector random"): 2,
    }


@pytest.mark.parametrize("detector", [None, "random"])
def test_no_judgments_give_no_labels(small: Workspace, judgments: Judgments, detector: str | None) -> None:
    named = None if detector is None else parse_detector(detector)
    labels = agreement_labels(small, judgments.frame(), named)
    assert labels.empty
    assert agreement(labels).pairs == []
