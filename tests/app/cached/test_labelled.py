"""Labelled runs that pages share: the labels are those of `labelled_run`, and nothing is read or asked twice."""

import shutil

import numpy as np
import pytest

from berdseye.annotation.batches.runs_queue import pairs_of_runs
from berdseye.annotation.judgments.log import Judgments
from berdseye.app.access.session import judgments as shared_judgments
from berdseye.app.cached import runs as labelled_runs
from berdseye.app.cached.runs import labelled
from berdseye.data.labels import LabelStore
from berdseye.data.runs.stored import RunManifest, list_runs, load_run
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.evaluation.labels.labelled_runs import LabelledRun, labelled_run
from berdseye.evaluation.labels.sources import parse_label_source

DEPTH = 20


def first(workspace: Workspace) -> RunManifest:
    return next(run for run in list_runs(workspace) if run.name == "debate--web--bm25")


def directly(workspace: Workspace, run: RunManifest, source: str, k: int) -> LabelledRun:
    held = Judgments.open(workspace.judgments_url)
    return labelled_run(workspace, held, load_run(workspace, run.name), parse_label_source(source), k)


@pytest.mark.parametrize("source", ["embedded", "human", "gold", "human>embedded", "human>gold>embedded", "gold>human"])
def test_the_labels_are_those_of_the_run(demo: Workspace, source: str) -> None:
    run = first(demo)
    for k in (3, DEPTH, 5):
        found, expected = labelled(run, source, depth=k), directly(demo, run, source, k)
        np.testing.assert_array_equal(found.labels, expected.labels)
        np.testing.assert_array_equal(found.keys, expected.keys)
        np.testing.assert_array_equal(found.ids, expected.ids)
        assert list(found.questions) == list(expected.questions)


def test_another_depth_or_a_judgment_reads_nothing_again_but_peoples_words(
    demo: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, read = first(demo), list[str]()
    directly(demo, run, "embedded", DEPTH)  # which keeps keys and labels
    real = labelled_runs.with_labels

    def counted(*arguments: object, **options: object) -> LabelledRun:
        read.append(str(arguments[3]))
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(labelled_runs, "with_labels", counted)
    found = labelled(run, "human>embedded", depth=5)
    labelled(run, "embedded", depth=DEPTH)
    labelled(run, "human", depth=7)
    assert sorted(read) == ["embedded", "human"]
    key = found.keys[0, 0, 0].decode()
    held = shared_judgments()
    held.add_pairs(pairs_of_runs(demo, [run.name], 1).values())
    word = "does not support" if found.labels[0, 0, 0] == 1 else "supports"
    for name in ("Ana", "Bo", "Cleo"):
        held.judge(held.sign_in(name), key, word, source="explore")  # type: ignore[arg-type]
    changed = labelled(run, "human>embedded", depth=5)
    assert changed.labels[0, 0, 0] == 1 - found.labels[0, 0, 0]
    assert sorted(read) == ["embedded", "human", "human"]


def test_a_detector_is_asked_no_deeper_than_somebody_looks(demo: Workspace) -> None:
    run, store, detector = first(demo), LabelStore(demo), parse_detector("random", demo)
    keys = directly(demo, run, "human", DEPTH).keys

    def known() -> list[int]:
        flat = [
            store.get(detector.name, keys[:, k].ravel().astype(str).tolist(), detector.version) for k in range(DEPTH)
        ]
        return [k for k, said in enumerate(flat) if not np.isnan(said).all()]

    shutil.rmtree(demo.labels_folder / detector.name, ignore_errors=True)  # what others asked it of the shared demo
    assert known() == []
    assert not np.isnan(labelled(run, "random", depth=3).labels).any()
    assert known() == [0, 1, 2]
    labelled(run, "random", depth=2)
    assert known() == [0, 1, 2]
    np.testing.assert_array_equal(labelled(run, "random", depth=6).labels, directly(demo, run, "random", 6).labels)
    assert known() == [0, 1, 2, 3, 4, 5]
