"""A full pass of `embedded`: the dev questions of BERDS, ten passages each, every perspective, through the label cache."""

from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from berdseye.data.datasets.layouts import read_dataset
from berdseye.data.labels import LabelStore
from berdseye.data.models.static_embedding import static_embedding
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.labelling import label
from berdseye.detectors.training_pairs import read_debates

PASSAGES = 10


@pytest.mark.benchmark
def test_a_full_pass_and_the_same_from_the_cache(shared_data: Path, workspace: Workspace) -> None:
    passages = sorted({p for d in read_debates(shared_data / "perspectrum") for a in d.arguments for p in a.passages})
    files = sorted((shared_data / "berds_dev").glob("*.jsonl"))
    questions = [question for file in files for question in read_dataset(file).questions]
    near = static_embedding().encode([q.text for q in questions]) @ static_embedding().encode(passages).T
    top = np.argsort(-near, axis=1, kind="stable")[:, :PASSAGES]
    pairs = [
        Pair(passages[i], perspective.text)
        for question, ids in zip(questions, top, strict=True)
        for i in ids
        for perspective in question.perspectives
    ]
    detector, store = parse_detector("embedded"), LabelStore(workspace)
    seconds, found = [], []
    for _ in range(2):
        began = perf_counter()
        found.append(label(store, detector, pairs))
        seconds.append(perf_counter() - began)
    assert np.array_equal(*found)
    print(f"\n{len(questions)} questions, {len(pairs):,} pairs: {seconds[0]:.1f} s; from the cache {seconds[1]:.2f} s")
