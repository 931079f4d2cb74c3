"""`berdseye detector teach`: a detector labels pairs of stored runs, for a smaller detector to be trained or measured on."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from berdseye.app.commands.console import counting, note, print_json
from berdseye.app.commands.options import LARGEST_SEED, JsonOption, WorkspaceOption, open_workspace
from berdseye.data.errors import BadInputError
from berdseye.data.given_options import not_with

if TYPE_CHECKING:
    from berdseye.detectors.protocol import Detector
    from berdseye.evaluation.selection.teaching import TeachingPairs


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(teach)


def teach(
    file: Annotated[
        Path,
        typer.Argument(
            dir_okay=False, writable=True, help="The file of labelled pairs to write: .tsv, .jsonl or .parquet."
        ),
    ],
    run: Annotated[list[str], typer.Option(help="A stored run; repeat the option to pool several runs.")],
    teacher: Annotated[
        str,
        typer.Option(help="The detector that labels the pairs at its threshold, such as `prompted(MODEL,shots=1)`."),
    ],
    questions: Annotated[
        int, typer.Option(min=1, help="Questions to draw in total, evenly from the data sets of the runs.")
    ] = 50,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="How many passages of each ranking to take.")] = 5,
    pairs: Annotated[
        int | None,
        typer.Option(min=1, help="Pairs to draw for each corpus and retriever. Default: all pairs, each once."),
    ] = None,
    without_batch: Annotated[
        list[str] | None,
        typer.Option(help="A batch whose questions are left out, such as the test set; repeatable."),
    ] = None,
    dev_batch: Annotated[
        str | None,
        typer.Option(
            help="A batch whose pairs are added with people's labels, as split dev; its questions are not drawn."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The seed of every random choice.")] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing FILE.")] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only report the number of pairs and their highest cost; write nothing."),
    ] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Have a detector, the teacher, label pairs of stored runs, and write a file of labelled pairs.

    Every passage in the top k of the runs is paired with every perspective of its question, without near-duplicate passages.
    `detector train FILE` trains on the file, and `detector table FILE --part domains` compares detectors with its labels by
    corpus and retriever. Labels are stored in the workspace: after an interruption, the same command resumes.

    Example: `berdseye detector teach taught.tsv --run "debate--web--bm25" --teacher stance --questions 5`
    """
    from berdseye.annotation.batches.stored import batch_questions
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.data.datasets.labelled_pairs import labelled_pairs_writer
    from berdseye.data.files.atomic import write_bytes
    from berdseye.detectors.detector_registry import known_detector, parse_detector
    from berdseye.evaluation.detection.teaching import labels_of_batch
    from berdseye.evaluation.detection.teaching import teach as taught_by
    from berdseye.evaluation.selection.teaching import teaching_pairs

    not_with("--dry-run", dry_run, "overwrite", why="which writes nothing")
    writer = labelled_pairs_writer(file)
    if file.exists() and not overwrite and not dry_run:
        raise BadInputError("The file exists.", where=file, hint="Give another name, or --overwrite to replace it.")
    known_detector(teacher)  # report an unknown name before the runs are read
    ws = open_workspace(workspace)
    judgments = Judgments.open(ws.judgments_url)
    batches = [*(without_batch or ()), *([dev_batch] if dev_batch else ())]
    without = batch_questions(judgments, batches)
    dev = None if dev_batch is None else labels_of_batch(judgments, dev_batch)
    selected = teaching_pairs(ws, run, questions=questions, k=k, of_each=pairs, seed=seed, without=without)
    if dry_run:
        _print_plan(parse_detector(teacher, ws), selected, 0 if dev is None else len(dev.table), json=json)
        return
    detector = parse_detector(teacher, ws)
    with counting(detector.name) as progress:
        taught = taught_by(ws, detector, selected, dev, progress=progress)
    write_bytes(file, writer(taught.table))
    row = {"file": str(file), **taught.as_row()}
    if json:
        print_json(row)
        return
    _print_report(row)


def _print_plan(teacher: "Detector", selected: "TeachingPairs", dev_pairs: int, *, json: bool) -> None:
    from berdseye.data.records import Pair
    from berdseye.detectors.protocol import highest_cost_of

    records = {found.record.key: found.record for found in selected.pairs}
    most = highest_cost_of(teacher, [Pair(r.passage, r.perspective, r.title) for r in records.values()])
    if json:
        counts = {"pairs": len(records), "questions": selected.questions, "near_duplicates": selected.near_duplicates}
        print_json({**counts, "dev_pairs": dev_pairs, "cost": None if most is None else most._asdict()})
        return
    print(
        f"{len(records):,} pairs of {selected.questions:,} questions to label; {selected.near_duplicates:,} pairs of "
        "near-duplicate passages dropped"
    )
    if most is not None:
        print(most.described(teacher.name))
    if dev_pairs:
        print(f"{dev_pairs:,} pairs with people's labels as split dev")


def _print_report(row: dict[str, Any]) -> None:
    print(f"{row['file']}: {row['pairs']:,} pairs of {row['questions']:,} questions, labelled by {row['teacher']}")
    print(f"version {row['version']}, threshold {row['threshold']:g}")
    print(f"{row['supporting']:,} supporting ({row['share_supporting']:.1%})")
    print(f"{row['near_duplicates']:,} pairs of near-duplicate passages dropped")
    if row["truncated"] is not None:
        print(f"{row['truncated']:,} pairs with a text that the teacher cut")
    for domain in row["by_corpus_and_retriever"]:
        share = domain["supporting"] / domain["pairs"]
        print(f"{domain['corpus']} {domain['retriever']}\t{domain['pairs']:,} pairs\t{share:.1%} supporting")
    if row["dev_pairs"]:
        print(f"split dev: {row['dev_pairs']:,} pairs with people's labels, {row['dev_supporting']:,} supporting")
    for reason, count in Counter(row["dev_left_out"]).items():
        note(f"Left out of split dev: {count:,} pairs ({reason}).")
