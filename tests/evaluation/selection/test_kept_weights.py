"""Decision batches keep the weights that they were created with; those of earlier versions renew them."""

import numpy as np
import pytest

from berdseye.annotation.batches.queue import BatchQueue
from berdseye.annotation.batches.stored import FIRST, WEIGHTS, Batch, BatchPlan, create_batch
from berdseye.annotation.judgments.log import Judgments
from berdseye.app.jobs.deciding import EVERY, count_judgment
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.evaluation.measures import parse_measure
from berdseye.evaluation.scores.batch_draws import batch_draws
from berdseye.evaluation.selection.decision import decision_items, decision_standing

RUNS = ("debate--web--bm25", "debate--web--dense(static)")


def deciding(workspace: Workspace, judgments: Judgments, *, earlier: bool) -> Batch:
    detector = parse_detector("random(rate=0.4)", workspace)
    items, recipe = decision_items(workspace, judgments, RUNS, parse_measure("MRecall@3"), detector)
    assert recipe[WEIGHTS] == FIRST
    recipe |= {"detector": detector.name}
    if earlier:
        del recipe[WEIGHTS]
    return create_batch(judgments, BatchPlan("which", order="decision", drawn_by="question", recipe=recipe), items)


@pytest.mark.parametrize("earlier", [False, True])
def test_weights_stay_where_the_recipe_says_so(demo_workspace: Workspace, earlier: bool) -> None:
    judgments = Judgments.open("sqlite://")
    batch = deciding(demo_workspace, judgments, earlier=earlier)
    before = batch_draws(judgments, batch)
    assert (before.changing, before.fixed_weights is None) == (earlier, earlier)
    ana, queue = judgments.sign_in("Ana"), BatchQueue(judgments, batch)
    for _ in range(8):
        key = queue.next(ana)
        assert key is not None
        queue.give(ana, key, "supports")
    standing = decision_standing(demo_workspace, judgments, batch)
    assert standing is not None
    assert "more judgments" in str(standing) or "Settled" in str(standing)
    if not earlier:
        np.testing.assert_array_equal(batch_draws(judgments, batch).weights, before.weights)
        assert [count_judgment(demo_workspace, judgments, batch) for _ in range(EVERY)] == [None] * EVERY
