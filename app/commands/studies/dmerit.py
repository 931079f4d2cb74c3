"""`berdseye study dmerit`: how far evaluation on a partially annotated set can be trusted, after D-MERIT."""

from pathlib import Path
from typing import Annotated

import typer

from berdseye.app.commands.options import MinJudgedOption
from berdseye.app.commands.studies.options import SeedOption, study_command
from berdseye.evaluation.studies.by_name.dmerit import Missing, Part


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(dmerit)


@study_command("dmerit")
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
    part: Annotated[Part, typer.Option(help="The part of the study to compute.", show_choices=True)] = "all",
    trials: Annotated[int, typer.Option(min=2, help="Number of draws of the random selection.")] = 1000,
    depth: Annotated[
        int | None,
        typer.Option(min=2, help="Number of passages read from each list. Default: the length of the shortest list."),
    ] = None,
    missing: Annotated[
        Missing, typer.Option(help="How queries that a run file lacks are handled.", show_choices=True)
    ] = "refuse",
    known: Annotated[
        Path | None,
        typer.Option(help="Qrels known before the pool was judged; figure 6 counts only new relevant passages."),
    ] = None,
    released: Annotated[bool, typer.Option("--released", help="Accept only D-MERIT's release.")] = False,
    seed: SeedOption = 0,
    min_judged: MinJudgedOption = None,
) -> None:
    """Compute D-MERIT's tables 3-5 and 7-9 and figures 2-6, 8 and 9 from run files, an evidence set or stored runs.

    Published figures are in brackets next to the computed ones where data and systems are those of the paper, and otherwise in
    rows of their own.

    Example: `berdseye study dmerit --evidence perspectrum --pipeline bm25 --pipeline "dense(static)" --part selection`
    """
