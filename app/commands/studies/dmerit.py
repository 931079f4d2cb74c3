"""`berdseye study dmerit`: how far evaluation on a partially annotated set can be trusted, after D-MERIT."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from berdseye.app.commands.arguments import only_with
from berdseye.app.commands.console import counting
from berdseye.app.commands.options import WorkspaceOption, open_workspace
from berdseye.app.commands.studies.options import Form, FormOption, SeedOption, finish

if TYPE_CHECKING:
    from berdseye.data.workspace import Workspace
    from berdseye.evaluation.partial.ranked_sets import RankedSet

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


class DmeritPart(StrEnum):
    """The parts of the study."""

    ALL = "all"
    SYSTEMS = "systems"
    SELECTION = "selection"
    SIGNIFICANCE = "significance"
    COVERAGE = "coverage"


class Absent(StrEnum):
    """How a query without a list in a run file is handled."""

    REFUSE = "refuse"
    ZERO = "zero"
    LEFT_OUT = "left-out"


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(dmerit)


def dmerit(
    run: Annotated[
        list[Path] | None, typer.Option(help="A run file (TREC or JSONL) of one system; repeatable, requires --qrels.")
    ] = None,
    qrels: Annotated[Path | None, typer.Option(help="All relevant passages, as qrels.")] = None,
    evidence: Annotated[
        Path | None,
        typer.Option(help="A folder with queries.jsonl and corpus.jsonl, or the release of D-MERIT or Perspectrum."),
    ] = None,
    pipeline: Annotated[
        list[str] | None,
        typer.Option(help="With --evidence: the pipeline of a system; repeatable. Default: twelve systems."),
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="With --corpus: the stored runs of this data set.")] = None,
    corpus: Annotated[str | None, typer.Option(help="The corpus of the stored runs.")] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            help="For stored runs, the label source: human, gold, a detector or human>embedded. "
            "Default: human>gold>DETECTOR with gold labels, otherwise the detector."
        ),
    ] = None,
    part: Annotated[
        DmeritPart, typer.Option(help="The part of the study to compute.", show_choices=True)
    ] = DmeritPart.ALL,
    trials: Annotated[int, typer.Option(min=2, help="Number of draws of the random selection.")] = 1000,
    depth: Annotated[
        int | None,
        typer.Option(min=2, help="Number of passages read from each list. Default: the length of the shortest list."),
    ] = None,
    missing: Annotated[
        Absent, typer.Option(help="How queries that a run file lacks are handled.", show_choices=True)
    ] = Absent.REFUSE,
    known: Annotated[
        Path | None,
        typer.Option(help="Qrels known before the pool was judged; figure 6 counts only new relevant passages."),
    ] = None,
    released: Annotated[bool, typer.Option("--released", help="Accept only D-MERIT's release.")] = False,
    seed: SeedOption = 0,
    form: FormOption = Form.TEXT,
    workspace: WorkspaceOption = None,
) -> None:
    """Compute D-MERIT's tables 3-5 and 7-9 and figures 2-6, 8 and 9 from run files, an evidence set or stored runs.

    Published figures are in brackets next to the computed ones where data and systems are those of the paper, and otherwise in
    rows of their own.

    Example: `berdseye study dmerit --evidence perspectrum --pipeline bm25 --pipeline "dense(static)" --part selection`
    """
    from berdseye.data.errors import BadInputError
    from berdseye.evaluation.partial.ranked_sets import read_qrels_file
    from berdseye.evaluation.studies.dmerit.study import dmerit_study

    ws = open_workspace(workspace)
    sources = [run is not None or qrels is not None, evidence is not None, dataset is not None or corpus is not None]
    if sum(sources) != 1:
        raise BadInputError(
            "The study needs exactly one source of systems and relevant passages.",
            hint="Give --run and --qrels, or --evidence, or --dataset and --corpus.",
        )
    if missing is not Absent.REFUSE and run is None:
        raise BadInputError("--missing requires run files.", hint="Omit it: stored runs and pipelines lack no query.")
    if dataset is not None and depth is not None:
        raise BadInputError(
            "--depth requires run files or an evidence set.", hint="Omit it: stored runs are cut to the shortest."
        )
    only_with("--evidence", evidence is not None, "pipeline", "released")
    only_with("--dataset and --corpus", dataset is not None, "labels")
    only_with("--part coverage, or all", part in (DmeritPart.ALL, DmeritPart.COVERAGE), "known")
    only_with("--part selection, or all", part in (DmeritPart.ALL, DmeritPart.SELECTION), "trials")
    before = read_qrels_file(known) if known is not None else None
    with counting("dmerit") as progress:
        ranked: RankedSet
        if run is not None or qrels is not None:
            ranked = _from_files(run, qrels, depth, missing)
        elif evidence is not None:
            from berdseye.data.datasets.evidence_sets import read_evidence_set
            from berdseye.evaluation.partial.ranked_sets import from_evidence

            source = read_evidence_set(evidence, released=released)
            ranked = from_evidence(ws, source, pipeline or _PIPELINES, depth or 100, progress=progress)
        else:
            ranked = _from_runs(ws, dataset, corpus, labels)
        parts = (
            tuple(p.value for p in DmeritPart if p is not DmeritPart.ALL) if part is DmeritPart.ALL else (part.value,)
        )
        result = dmerit_study(ranked, parts, trials=trials, seed=seed, known=before, progress=progress)
    finish(ws, result, form)


def _from_files(runs: list[Path] | None, qrels: Path | None, depth: int | None, missing: Absent) -> "RankedSet":
    from berdseye.data.errors import BadInputError
    from berdseye.evaluation.partial.ranked_sets import from_files

    if not runs or qrels is None:
        raise BadInputError(
            "--run and --qrels require each other.", hint="Give two or more run files and one qrels file."
        )
    return from_files(runs, qrels, depth=depth, missing=missing.value)


def _from_runs(ws: "Workspace", dataset: str | None, corpus: str | None, labels: str | None) -> "RankedSet":
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.errors import BadInputError
    from berdseye.evaluation.labels.sources import default_source, parse_label_source
    from berdseye.evaluation.partial.ranked_sets import from_runs

    if dataset is None or corpus is None:
        raise BadInputError("--dataset and --corpus require each other.", hint="Give both to select stored runs.")
    source = parse_label_source(labels or default_source(ws))
    return from_runs(ws, Judgments.open(ws.judgments_url), dataset, corpus, source)
