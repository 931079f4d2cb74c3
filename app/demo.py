"""Builds the demo workspace step by step. Steps that are already complete are skipped.

The labels of the default detector come with the program, since computing them takes minutes. `python -m berdseye.app.demo`
computes them again, which is necessary whenever the weights of the detector or the demo content change.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from berdseye.annotation.judgments.demo import add_demo_judgments
from berdseye.annotation.judgments.log import Judgments
from berdseye.data.demo.content import (
    CORPORA,
    DATASETS,
    add_demo_corpus,
    add_demo_dataset,
    add_demo_gold,
    mark_demo,
)
from berdseye.data.demo.detector_labels import add_detector_labels, write_detector_labels
from berdseye.data.labels import LabelStore
from berdseye.data.runs.stored import list_runs, load_run, run_name
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.protocol import DEFAULT_DETECTOR
from berdseye.detectors.trained import adopted_detector
from berdseye.evaluation.labels.labelled_runs import labelled_run
from berdseye.evaluation.labels.sources import default_source, parse_label_source
from berdseye.evaluation.measures import DEFAULT_MEASURES, parse_measures
from berdseye.evaluation.scores.scoring import score_run
from berdseye.retrieval.pipeline_registry import DEFAULT_PIPELINES
from berdseye.retrieval.running import run_pipeline

RUN_DEPTH = 20
Step = tuple[str, Callable[[], object]]


def build_demo(folder: Path, say: Callable[[str, int, int], None]) -> Workspace:
    """Create or complete the demo workspace. `say` is called with each step's name, its number and the number of steps."""
    workspace = Workspace.create(folder)
    judgments = Judgments.open(workspace.judgments_url)
    try:
        steps = _missing_steps(workspace, judgments)
        for number, (name, take) in enumerate(steps, start=1):
            say(name, number, len(steps))
            take()
    finally:
        judgments.engine.dispose()  # SQLite's side files would go later, while somebody copies the workspace
    mark_demo(workspace.folder)
    return workspace


def _missing_steps(workspace: Workspace, judgments: Judgments) -> list[Step]:
    have_corpora, have_datasets = set(workspace.corpora()), set(workspace.datasets())
    have_runs = {r.name for r in list_runs(workspace)}
    steps: list[Step] = []
    for corpus in CORPORA:
        if corpus not in have_corpora:
            steps.append((f"corpus {corpus}", partial(add_demo_corpus, workspace, corpus)))
    for dataset in DATASETS:
        if dataset not in have_datasets:
            steps.append((f"data set {dataset}", partial(add_demo_dataset, workspace, dataset)))
    if "gold" not in LabelStore(workspace).sources():
        steps.append(("gold labels", partial(add_demo_gold, workspace)))
    if DEFAULT_DETECTOR not in LabelStore(workspace).sources():
        steps.append((f"labels of {DEFAULT_DETECTOR}", partial(add_detector_labels, workspace, DEFAULT_DETECTOR)))
    # Always run: this step adds only what is missing, and an interrupted build may lack some judgments.
    steps.append(("judgments of two demo annotators", partial(add_demo_judgments, judgments)))
    for dataset in DATASETS:
        for corpus in CORPORA:
            for pipeline in DEFAULT_PIPELINES:
                if run_name(dataset, corpus, pipeline) not in have_runs:
                    steps.append(
                        (
                            f"run of {pipeline} on {dataset} over {corpus}",
                            partial(_run_and_label, workspace, judgments, dataset, corpus, pipeline),
                        )
                    )
    return steps


def _run_and_label(workspace: Workspace, judgments: Judgments, dataset: str, corpus: str, pipeline: str) -> None:
    manifest = run_pipeline(workspace, dataset, corpus, pipeline, RUN_DEPTH)
    source, measures = parse_label_source(default_source(workspace)), parse_measures(" ".join(DEFAULT_MEASURES))
    run = load_run(workspace, manifest.name)
    score_run(workspace, judgments, run, source, measures)
    # The pages show the detector's opinion beside gold labels, which `score_run` does not need.
    labelled_run(workspace, judgments, run, parse_label_source(adopted_detector(workspace)), RUN_DEPTH)


def _compute_detector_labels() -> None:
    """Label the pairs of all demo runs, and write the file that comes with the program."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.create(Path(folder) / "workspace")
        judgments = Judgments.open(workspace.judgments_url)
        for name, take in _missing_steps(workspace, judgments):
            if name != f"labels of {DEFAULT_DETECTOR}":
                print(name)
                take()
        judgments.engine.dispose()
        write_detector_labels(workspace, DEFAULT_DETECTOR, parse_detector(DEFAULT_DETECTOR, workspace).version)


if __name__ == "__main__":
    _compute_detector_labels()
