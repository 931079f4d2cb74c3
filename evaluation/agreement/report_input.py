"""The labels and options of an agreement report on a workspace's judgments: all of them, or those of one batch."""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from berdseye.annotation.batches.stored import Batch, batch_pairs
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from berdseye.detectors.protocol import Detector
from berdseye.evaluation.agreement.labels import adjudicated, agreement_labels, check_labels, labels_among
from berdseye.evaluation.agreement.report import Choices, check_choices


class ReportInput(NamedTuple):
    """What `report` takes: the labels, the options, and the adjudicated labels."""

    labels: pd.DataFrame
    choices: Choices
    gold: Mapping[str, bool]


def report_input(
    workspace: Workspace,
    judgments: Judgments,
    detector: Detector | None,
    choices: Choices,
    *,
    batch: Batch | None = None,
    demo: bool = True,
) -> ReportInput:
    """Return everyone's verdicts with the detector's labels, on all pairs or on those of a batch, or the checks of a batch.

    A batch of checks has neither a detector nor simulated annotators, and the paper's figure stands beside ours. Raises
    `BadInputError` for a batch of preferences between answers.
    """
    if batch is not None and batch.check is not None:
        return ReportInput(check_labels(judgments, batch), check_choices(batch.check, choices), {})
    if batch is not None and batch.task == "prefer":
        raise BadInputError(
            f"The batch '{batch.name}' compares answers, which are not labels of pairs.",
            hint="Export its preferences: `berdseye batch preferences`.",
        )
    labels = agreement_labels(workspace, judgments, detector, demo=demo)
    if batch is not None:
        labels = labels_among(labels, batch_pairs(judgments, batch))
    return ReportInput(labels, choices, adjudicated(judgments))
