"""Creation of bundles from stored runs and stored results of studies."""

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from typing import Any

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.errors import BadInputError
from berdseye.data.files.tables import to_csv
from berdseye.data.progress import Progress, silent
from berdseye.data.runs.pairs import fitting_corpus
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.bundle.archive import (
    FORMAT,
    MANIFEST,
    TIE_RULE,
    hashes,
    labels_file,
    questions_file,
    questions_jsonl,
    run_file,
    zipped,
)
from berdseye.evaluation.bundle.tables import cells_json, rows_of, table_files
from berdseye.evaluation.interchange.trec import diversity_qrels, trec_run
from berdseye.evaluation.labels.labelled_runs import labelled_run
from berdseye.evaluation.labels.qrels import UNRANKED, Qrels, pooled_qrels, qrels_of
from berdseye.evaluation.labels.sources import HUMAN, LabelSource, detector_version
from berdseye.evaluation.measures import Measure
from berdseye.evaluation.scores.enough_judged import min_judged_of
from berdseye.evaluation.scores.score import Score, macro_average
from berdseye.evaluation.scores.scoring import PeopleSample, refuse_without_sample, samples_of, scores_of
from berdseye.evaluation.scores.unjudged import unjudged_of
from berdseye.evaluation.studies.result import Stored

_LIBRARIES = ("berdseye", "ir-measures", "numpy", "pandas", "pyndeval", "pytrec-eval-terrier", "statsmodels")


def bundle_of(
    workspace: Workspace,
    judgments: Judgments,
    runs: Sequence[Run],
    source: LabelSource,
    measures: Sequence[Measure],
    *,
    results: Sequence[Stored] = (),
    with_passages: bool = False,
    progress: Progress = silent,
) -> bytes:
    """Create the zip file of a bundle: tables, runs, labels, questions, versions and the SHA-256 of every file.

    Equal workspaces give equal bytes. If the labels of the pool decide which questions count (`evaluation.scores.counted`), and
    for measures that need them, the bundle contains the labels of all stored runs on the data set and corpus (`pooled_qrels`);
    otherwise, with a detector, those of the bundle's runs down to the largest cutoff. `with_passages` adds the texts of all
    labelled passages: check their licences. Raises `BadInputError` for pooled measures with a corrected source.
    """
    if any(m.pooled for m in measures) and source.corrected:
        raise BadInputError(
            f"'{source}' cannot correct {next(m for m in measures if m.pooled)}, which depends on the whole pool.",
            hint="Choose measures of the top k, such as MRecall@5, or another label source.",
        )
    if source.consensus is not None:
        raise BadInputError(
            f"A bundle cannot hold the uncertainty of the labels of '{source}'.", hint="Use human in its place."
        )
    files: dict[str, bytes] = {}
    scores: list[Score] = []
    named = [one.detector(workspace) for one in (source.plain, *source.further)]
    detectors = ", ".join(one.name for one in named if one is not None)
    version_of_detector = detector_version(workspace, source)
    known: dict[tuple[str, str], Qrels] = {}
    samples: dict[str, dict[str, list[str]]] = {}
    floor, rule = min_judged_of(workspace), unjudged_of(workspace)
    for place in sorted({(r.manifest.dataset, r.manifest.corpus) for r in runs}):
        here = [r for r in runs if (r.manifest.dataset, r.manifest.corpus) == place]
        questions = load_dataset(workspace, place[0])
        for run in here:
            fitting_corpus(workspace, run, questions)
        files[questions_file(place[0])] = questions_jsonl(questions)
        known[place] = _labels(workspace, judgments, place, here, source.plain, measures, progress)
        files[labels_file(*place)] = _qrels(known[place])
        people, further = None, list[Qrels]()
        if source.corrected:
            people = _labels(workspace, judgments, place, here, LabelSource((HUMAN,)), measures, progress)
            files[labels_file(*place, "people")] = _qrels(people)
            further = [_labels(workspace, judgments, place, here, one, measures, progress) for one in source.further]
            for number, labels in enumerate(further, start=2):
                files[labels_file(*place, f"detector-{number}")] = _qrels(labels)
        depth = max(m.k for m in measures)
        for run in here:
            top = run.ids[:, :depth]
            sample = None
            if people is not None:
                by_people = LabelSource((HUMAN,))
                labelled = labelled_run(workspace, judgments, run, by_people, depth, progress=progress)
                drawn = samples_of(judgments, place[0], labelled, measures)
                sample = PeopleSample(people.support(top), drawn, tuple(labels.support(top) for labels in further))
                samples[run.manifest.name] = {
                    str(k): [q.id for q, kept in zip(questions, rows.tolist(), strict=True) if kept]
                    for k, rows in sorted(drawn.items())
                }
            scores += scores_of(
                measures, known[place].support(top), replace(known[place].pool(source), unjudged=rule), sample, min_judged=floor,
                dataset=place[0], corpus=place[1],
                pipeline=run.manifest.pipeline, labels=str(source), detector_version=version_of_detector,
            )  # fmt: skip
            files[run_file(run.manifest.name)] = trec_run(run.question_ids, run.ids, run.scores, run.manifest.name)
        if with_passages:
            files[f"passages/{place[0]}--{place[1]}.jsonl"] = _passages(workspace, place[1], known[place])
    refuse_without_sample(scores, " and ".join(sorted(samples)), source)
    rows = rows_of(with_averages(scores))
    if rows:
        files |= table_files(rows)
    for result in results:
        files |= _study_files(result)
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "settings": {
            "measures": [str(m) for m in measures],
            "labels": str(source),
            "tie_rule": TIE_RULE,
            "confidence": 0.95,
            "min_judged": floor,
            "unjudged": str(rule),
            "passages": with_passages,
        },
        "detector": {"name": detectors, "version": version_of_detector},
        "versions": {name: version(name) for name in _LIBRARIES} | {"python": platform.python_version()},
        "runs": [asdict(run.manifest) for run in runs],
        "pools": {labels_file(*place): list(qrels.runs) for place, qrels in known.items()},
        "samples": samples,
        "studies": [r.name for r in results],
        "files": hashes(files),
    }
    files[MANIFEST] = (json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()
    return zipped(files)


def with_averages(scores: Sequence[Score]) -> list[Score]:
    """Append the macro-averages to scores of more than one data set."""
    several = len({s.dataset for s in scores}) > 1
    return [*scores, *(macro_average(scores) if several else [])]


def _labels(
    workspace: Workspace,
    judgments: Judgments,
    place: tuple[str, str],
    runs: Sequence[Run],
    source: LabelSource,
    measures: Sequence[Measure],
    progress: Progress,
) -> Qrels:
    if any(m.pooled for m in measures) or not source.asks_detector:
        return pooled_qrels(workspace, judgments, *place, source, others=runs, progress=progress)
    depth = max(m.k for m in measures)
    return qrels_of(workspace, judgments, *place, source, runs, depth=depth, progress=progress)


def _qrels(qrels: Qrels) -> bytes:
    return diversity_qrels(qrels.question_ids, qrels.passages, qrels.labels)


def _passages(workspace: Workspace, corpus: str, qrels: Qrels) -> bytes:
    ids = sorted({int(p) for passages in qrels.passages for p in passages} - {UNRANKED})
    rows = (p._asdict() for p in open_corpus(workspace, corpus).passages(ids))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "replace")


def _study_files(result: Stored) -> dict[str, bytes]:
    """Return the files of a study's tables, settings and versions; charts are not included."""
    folder = f"studies/{result.name}"
    files = {
        f"{folder}/study.json": (
            json.dumps(
                {
                    "study": result.study,
                    "created": result.created,
                    "settings": result.settings,
                    "versions": result.versions,
                    "notes": result.notes,
                },
                indent=1,
                ensure_ascii=False,
                sort_keys=True,
            )
            + "\n"
        ).encode()
    }
    for table in result.tables:
        files[f"{folder}/{table.name}.json"] = cells_json(table)
        files[f"{folder}/{table.name}.csv"] = to_csv(table.cells)
        files[f"{folder}/{table.name}.tex"] = table.latex().encode()
    return files
