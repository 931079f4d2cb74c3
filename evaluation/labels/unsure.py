"""The share of a run's pairs about which the detector among the label sources is unsure."""

import numpy as np

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.labels import LabelStore
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import share_unsure
from berdseye.evaluation.labels.labelled_runs import keyed_run, with_labels
from berdseye.evaluation.labels.sources import LabelSource


def unsure_in_run(workspace: Workspace, judgments: Judgments, run: Run, source: LabelSource, k: int) -> float | None:
    """Return the share, from 0 to 1, of the pairs of a run's top k labelled by the detector that the detector is unsure about.

    Pairs that a source before the detector labels do not count, nor those that the detector has not labelled yet: it is not run.
    None without a detector or such pairs. Of several corrected detectors it is the first.
    """
    detector = source.detector(workspace)
    if detector is None:
        return None
    keyed = keyed_run(workspace, run, load_dataset(workspace, run.manifest.dataset), k)
    by_detector, before = keyed.keys != b"", LabelSource(source.plain.parts[:-1])
    if before.parts:
        by_detector &= np.isnan(with_labels(workspace, judgments, keyed, before).labels)
    keys = keyed.keys[by_detector].astype(str).tolist()
    return share_unsure(workspace, detector, LabelStore(workspace).get(detector.name, keys, detector.version))
