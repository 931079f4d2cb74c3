"""Running a pipeline on a data set, and storing the run."""

import hashlib
import json
import time
from collections.abc import Sequence

from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.language_models.cost import counted
from berdseye.data.models.weights import gpu_allocations
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Question
from berdseye.data.runs.stored import RunManifest, list_runs, run_name, save_run
from berdseye.data.web.days import begin_day
from berdseye.data.workspace import Workspace
from berdseye.retrieval.pipeline import search
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.protocol import LabelFunction, PipelineContext, Searchable, query_of


def run_pipeline(
    workspace: Workspace,
    dataset: str,
    corpus: str,
    pipeline: str,
    k: int,
    *,
    label_function: LabelFunction | None = None,
    day: str | None = None,
    over: Searchable | None = None,
    progress: Progress = silent,
    made_by: str = "",
) -> RunManifest:
    """Rank the corpus for every question of the data set, and store the k best passages of each as a run.

    `made_by` is the person who starts the run; `day` selects the stored searches of a web corpus; `over` is the corpus in
    another searchable form, such as shards on a cluster.
    """
    questions, opened, parsed = (
        load_dataset(workspace, dataset),
        open_corpus(workspace, corpus),
        parse_pipeline(pipeline, PipelineContext(workspace, label_function)),
    )
    parsed = parsed.tuned(opened)
    if opened.manifest.kind == "web":
        day = day or begin_day()
    queries = [query_of(q) for q in questions]
    search(opened, parsed, queries[:1], 1, day=day, over=over)  # so that the time excludes building the index
    allocated, started = gpu_allocations(), time.perf_counter()
    with counted() as usage:
        ids, scores = search(opened, parsed, queries, k, day=day, over=over, progress=progress)
    seconds = time.perf_counter() - started
    return save_run(
        workspace,
        dataset=dataset,
        corpus=corpus,
        corpus_hash=opened.manifest.hash,
        pipeline=str(parsed),
        question_ids=[q.id for q in questions],
        ids=ids,
        scores=scores,
        milliseconds_per_question=1000 * seconds / max(len(queries), 1),
        versions=parsed.versions | questions_version(questions) | ({"web": day} if day else {}),
        costs={
            "gpu_seconds": round(seconds, 6) if gpu_allocations() > allocated else 0.0,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
        },
        made_by=made_by,
    )


def is_up_to_date(
    workspace: Workspace,
    dataset: str,
    corpus: str,
    pipeline: str,
    k: int,
    *,
    label_function: LabelFunction | None = None,
    day: str | None = None,
) -> bool:
    """Whether a run of at least depth k is stored for the current corpus, questions and pipeline."""
    opened = open_corpus(workspace, corpus)
    parsed = parse_pipeline(pipeline, PipelineContext(workspace, label_function)).tuned(opened)
    name = run_name(dataset, corpus, str(parsed))
    current_versions = (
        parsed.versions | questions_version(load_dataset(workspace, dataset)) | ({"web": day} if day else {})
    )
    return any(
        run.name == name
        and run.corpus_hash == opened.manifest.hash
        and run.k >= k
        and current_versions.items() <= run.versions.items()
        for run in list_runs(workspace)
    )


def questions_version(questions: Sequence[Question]) -> dict[str, str]:
    """A hash of the questions as a part of a run's versions, since the texts of question ids may change."""
    digest = hashlib.blake2b(digest_size=8)
    for question in questions:
        digest.update(json.dumps([question.id, *query_of(question)]).encode())
    return {"questions": digest.hexdigest()}
