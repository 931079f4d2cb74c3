"""D-MERIT's study by name: of run files, of pipelines on an evidence set, or of stored runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from berdseye.data.errors import BadInputError
from berdseye.data.given_options import only_with
from berdseye.data.progress import Progress
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.by_name.options import Between, MinJudged, Names, Seed

if TYPE_CHECKING:
    from berdseye.evaluation.partial.ranked_sets import RankedSet
    from berdseye.evaluation.studies.result import StudyResult

Part = Literal["all", "systems", "selection", "significance", "coverage"]
Missing = Literal["refuse", "zero", "left-out"]
_PIPELINES = (
    "bm25",
    "bm25(k1=0.4,b=0.2)",
    "bm25(k1=2,b=1)",
    "qld",
    "dense(static)",
    "dense(static) >> mmr(0.9)",
    "dense(static) >> mmr(0.5)",
    "bm25 >> mmr(0.9)",
    "bm25 >> mmr(0.5)",
    "hybrid(bm25,dense(static),alpha=0.1)",
    "hybrid(bm25,dense(static),alpha=0.5)",
    "hybrid(qld,dense(static),alpha=0.9)",
)


def dmerit(
    workspace: Workspace,
    progress: Progress,
    *,
    run: Sequence[Path] | None = None,
    qrels: Path | None = None,
    evidence: Path | None = None,
    pipeline: Names = None,
    dataset: str | None = None,
    corpus: str | None = None,
    labels: str | None = None,
    part: Part = "all",
    trials: Annotated[int, Between(2)] = 1000,
    depth: Annotated[int | None, Between(2)] = None,
    missing: Missing = "refuse",
    known: Path | None = None,
    released: bool = False,
    seed: Seed = 0,
    min_judged: MinJudged = None,
) -> "StudyResult":
    """Compute a part of the study. Raises `BadInputError` unless exactly one source of systems is given, and if less than a share
    `min_judged` of the pairs of stored runs have a label."""
    from berdseye.evaluation.partial.ranked_sets import read_qrels_file
    from berdseye.evaluation.studies.dmerit.study import PARTS, dmerit_study

    sources = [run is not None or qrels is not None, evidence is not None, dataset is not None or corpus is not None]
    if sum(sources) != 1:
        raise BadInputError(
            "The study needs exactly one source of systems and relevant passages.",
            hint="Give --run and --qrels, or --evidence, or --dataset and --corpus.",
        )
    if missing != "refuse" and run is None:
        raise BadInputError("--missing requires run files.", hint="Omit it: stored runs and pipelines lack no query.")
    if dataset is not None and depth is not None:
        raise BadInputError(
            "--depth requires run files or an evidence set.", hint="Omit it: stored runs are cut to the shortest."
        )
    only_with("--evidence", evidence is not None, "pipeline", "released")
    only_with("--dataset and --corpus", dataset is not None, "labels", "min_judged")
    only_with("--part coverage, or all", part in ("all", "coverage"), "known")
    only_with("--part selection, or all", part in ("all", "selection"), "trials")
    before = read_qrels_file(known) if known is not None else None
    ranked: RankedSet
    if run is not None or qrels is not None:
        ranked = _from_files(run, qrels, depth, missing)
    elif evidence is not None:
        from berdseye.data.datasets.evidence_sets import read_evidence_set
        from berdseye.evaluation.partial.ranked_sets import from_evidence

        source = read_evidence_set(evidence, released=released)
        ranked = from_evidence(workspace, source, pipeline or _PIPELINES, depth or 100, progress=progress)
    else:
        ranked = _from_runs(workspace, dataset, corpus, labels)
        _refuse_hardly_judged(workspace, ranked, min_judged)
    parts = PARTS if part == "all" else (part,)
    return dmerit_study(ranked, parts, trials=trials, seed=seed, known=before, progress=progress)


def _from_files(runs: Sequence[Path] | None, qrels: Path | None, depth: int | None, missing: Missing) -> "RankedSet":
    from berdseye.evaluation.partial.ranked_sets import from_files

    if not runs or qrels is None:
        raise BadInputError(
            "--run and --qrels require each other.", hint="Give two or more run files and one qrels file."
        )
    return from_files(runs, qrels, depth=depth, missing=missing)


def _from_runs(workspace: Workspace, dataset: str | None, corpus: str | None, labels: str | None) -> "RankedSet":
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.evaluation.labels.sources import default_source, parse_label_source
    from berdseye.evaluation.partial.ranked_sets import from_runs

    if dataset is None or corpus is None:
        raise BadInputError("--dataset and --corpus require each other.", hint="Give both to select stored runs.")
    source = parse_label_source(labels or default_source(workspace))
    return from_runs(workspace, Judgments.open(workspace.judgments_url), dataset, corpus, source)


def _refuse_hardly_judged(workspace: Workspace, ranked: "RankedSet", min_judged: float | None) -> None:
    from berdseye.evaluation.scores.enough_judged import enough_judged, min_judged_of

    floor = min_judged_of(workspace, min_judged)
    if not enough_judged(ranked.judged, floor):
        raise BadInputError(
            f"Only {ranked.judged:.0%} of the pairs of these runs have a label by {ranked.labels}, fewer than {floor:.0%}.",
            hint="Choose other labels, judge more pairs, or give --min-judged off.",
        )
