"""The labels that agreement is computed over."""

import pandas as pd
import pytest

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.labels import LabelStore
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.evaluation.agreement.alignment import SKIPPED_RULES, UNSURE_RULES, Rule, counted
from berdseye.evaluation.agreement.labels import agreement_labels, labels_among
from berdseye.evaluation.agreement.together import agreement
from tests.evaluation.small_workspace import judge, key


@pytest.fixture
def said(judgments: Judgments) -> Judgments:
    ana, bo = judgments.sign_in("Ana"), judgments.sign_in("Bo")
    judge(judgments, ana, 0, 0, 0, "supports")
    judge(judgments, ana, 0, 1, 0, "unsure")
    judge(judgments, bo, 0, 0, 0, "does not support")
    judge(judgments, bo, 0, 1, 1, "unsure")
    judgments.skip(bo, key(0, 1, 0), source="annotate")
    return judgments


def rows(labels: pd.DataFrame) -> set[tuple[str, str, str]]:
    return set(labels[["item", "annotator", "label"]].itertuples(index=False, name=None))


SURE = {(key(0, 0, 0), "Ana", "supports"), (key(0, 0, 0), "Bo", "does not support")}
UNSURE = {(key(0, 1, 0), "Ana", "unsure"), (key(0, 1, 1), "Bo", "unsure")}


def test_unsure_and_skipped_go_as_the_rule_says_and_are_counted(small: Workspace, said: Judgments) -> None:
    labels = agreement_labels(small, said, None)
    assert rows(labels) == SURE | UNSURE | {(key(0, 1, 0), "Bo", "skipped")}
    found = {(u, s): counted(labels, Rule(u, s)) for u in UNSURE_RULES for s in SKIPPED_RULES}
    assert rows(found["left out", "left out"].labels) == rows(found["left out", "unsure"].labels) == SURE
    assert found["left out", "left out"][1:] == (2, 1)
    assert found["left out", "unsure"][1:] == (3, 0)
    assert rows(found["a third label", "left out"].labels) == SURE | UNSURE
    both = SURE | UNSURE | {(key(0, 1, 0), "Bo", "unsure")}
    assert rows(found["a third label", "unsure"].labels) == both
    against = {(item, who, "does not support" if label == "unsure" else label) for item, who, label in both}
    assert rows(found["does not support", "unsure"].labels) == against


def test_labels_carry_the_fields_of_their_pairs(small: Workspace, said: Judgments) -> None:
    labels = agreement_labels(small, said, None).set_index(["item", "annotator"])
    row = labels.loc[(key(0, 1, 1), "Bo")]
    assert (row["dataset"], row["corpus"], row["stance"], row["question_id"]) == ("made", "web", "opposing", "zoos")
    assert str(row["at"]).startswith("20")


def test_the_detector_labels_every_judged_pair_once(small: Workspace, said: Judgments) -> None:
    random = parse_detector("random")
    labels = counted(agreement_labels(small, said, random), Rule("a third label")).labels
    machine = labels[labels["annotator"] == "detector random"]
    assert sorted(machine["item"]) == sorted({key(0, 0, 0), key(0, 1, 0), key(0, 1, 1)})
    assert set(machine["label"]) <= {"supports", "does not support"}
    assert set(machine["stance"]) == {"supporting", "opposing"}
    assert {(p.a, p.b): p.n for p in agreement(labels).pairs} == {
        ("Ana", "Bo"): 1,
        ("Ana", "detector random"): 2,
        ("Bo", "detector random"): 2,
    }


def test_a_label_that_is_known_is_not_asked_for_again(small: Workspace, said: Judgments) -> None:
    random = parse_detector("random")
    keys = [key(0, 0, 0), key(0, 1, 0), key(0, 1, 1)]
    LabelStore(small).put(random.name, random.version, keys, [1.0, 0.0, 1.0])
    labels = agreement_labels(small, said, random)
    machine = labels[labels["annotator"] == "detector random"].set_index("item")["label"]
    assert machine.reindex(keys).tolist() == ["supports", "does not support", "supports"]


@pytest.mark.parametrize("detector", [None, "random"])
def test_no_judgments_give_no_labels(small: Workspace, judgments: Judgments, detector: str | None) -> None:
    named = None if detector is None else parse_detector(detector)
    labels = agreement_labels(small, judgments, named)
    assert labels.empty
    assert agreement(labels).pairs == []


def test_labels_of_some_people_keep_the_detector_on_their_pairs(small: Workspace, said: Judgments) -> None:
    labels = agreement_labels(small, said, parse_detector("random"))
    of_ana = labels_among(labels, people=("Ana",))
    assert set(of_ana["annotator"]) == {"Ana", "detector random"}
    assert set(of_ana["item"]) == {key(0, 0, 0), key(0, 1, 0)}
    one = labels_among(labels, [key(0, 1, 1)])
    assert sorted(one["annotator"]) == ["Bo", "detector random"]
    assert labels_among(labels, [], ("Ana",)).empty
