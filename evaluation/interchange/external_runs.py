"""External runs: reading them, scoring them against labels of a file or the workspace, and storing them as runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from berdseye.data.corpora import Corpus, open_corpus
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.files.json_files import read_lines
from berdseye.data.records import Question
from berdseye.data.runs.stored import Run, RunManifest, run_name
from berdseye.data.workspace import Workspace
from berdseye.evaluation.interchange.choices import Missing, RunFormat
from berdseye.evaluation.interchange.jsonl import read_jsonl_labels, read_jsonl_run
from berdseye.evaluation.interchange.ranking import (
    LabelRows,
    Ranked,
    RunRows,
    corpus_numbers,
    file_name,
    labelled,
    passage_numbers,
    questions_of,
    ranked,
)
from berdseye.evaluation.interchange.trec import read_trec_qrels, read_trec_run
from berdseye.evaluation.labels.qrels import Qrels

_LISTED = 5
IMPORTED = "imported from"
"""The key, among the versions of a run, of the file from which it was imported."""


@dataclass(frozen=True)
class ExternalRun:
    """A run from a file with the labels of its passages; `notes` say what is missing or left out."""

    ranked: Ranked
    qrels: Qrels
    tag: str
    notes: tuple[str, ...]


def run_format(path: Path) -> RunFormat:
    """Detect the format of a run file: a first line with a brace is JSONL if it has a ranking, otherwise BERDS; any
    other file is TREC."""
    first = next(read_lines(path), (1, ""))[1].lstrip()
    if path.suffix != ".jsonl" and not first.startswith("{"):
        return RunFormat.TREC
    return RunFormat.JSONL if '"ranking"' in first else RunFormat.BERDS


def read_run(path: Path) -> RunRows:
    """Read a run in TREC format or in Berdseye's JSONL; raises `BadInputError` with file and line."""
    form = run_format(path)
    if form is RunFormat.BERDS:
        raise BadInputError(
            "A file in BERDS format contains its own labels and no passage ids.",
            where=path,
            hint="Score it without --qrels and --dataset.",
        )
    return read_trec_run(path) if form is RunFormat.TREC else read_jsonl_run(path)


def read_labels(path: Path) -> LabelRows:
    """Read labels in TREC qrels, with or without perspectives, or in Berdseye's JSONL; raises `BadInputError` with file and
    line."""
    first = next(read_lines(path), (1, ""))[1].lstrip()
    return read_jsonl_labels(path) if path.suffix == ".jsonl" or first.startswith("{") else read_trec_qrels(path)


def judged_by_file(rows: RunRows, labels: LabelRows, questions: list[Question] | None, missing: Missing) -> ExternalRun:
    """Combine a run with labels from a file.

    The questions are those of the data set if `questions` is given, otherwise those that have labels. A passage without a label
    counts as not relevant, as in trec_eval; judged@k shows the share of labelled pairs. Raises `BadInputError` if the run and the
    labels share no question.
    """
    numbers = passage_numbers(rows, labels)
    ids = [q.id for q in questions] if questions is not None else questions_of(labels)
    run = ranked(rows, ids, numbers, strict=questions is not None)
    widths = [len(q.perspectives) for q in questions] if questions is not None else None
    qrels = labelled(labels, ids, numbers, widths)
    notes = [missing_note(run.missing, len(ids), str(rows.where), missing)] if run.missing else []
    others = sorted(set(rows.questions) - {file_name(q) for q in ids} - set(ids))
    if others:
        notes.append(f"{len(others)} questions of the run have no label and are left out: {_some(others)}.")
    if missing is Missing.LEFT_OUT:
        kept = [place for place, q in enumerate(ids) if q not in set(run.missing)]
        if not kept:
            raise BadInputError(
                "The run and the labels share no question.", where=rows.where, hint="Compare their ids."
            )
        run = Ranked(run.ids[kept], run.scores[kept], run.missing)
        qrels = Qrels([ids[p] for p in kept], [qrels.passages[p] for p in kept], [qrels.labels[p] for p in kept])
    without = sum(not block.shape[1] for block in qrels.labels)
    if without:
        notes.append(f"{without} questions have no perspective and therefore no value.")
    if questions is None and not labels.plain:
        notes.append(
            f"The perspectives of a question are those with a label in {Path(labels.where).name}; name the data set (--dataset) "
            "to count those without a label, too."
        )
    return ExternalRun(run, qrels, rows.tag, tuple(notes))


def as_run(workspace: Workspace, rows: RunRows, dataset: str, corpus: str, name: str = "") -> tuple[Run, list[str]]:
    """Convert the rows of a file to a run on a corpus of the workspace; returns the run and the questions missing in the file.

    Raises `BadInputError` with file and line for questions that are not in the data set and passages that are not in the corpus.
    """
    questions, opened = load_dataset(workspace, dataset), open_corpus(workspace, corpus)
    question_ids = [q.id for q in questions]
    numbers = corpus_numbers(rows)
    rankings = ranked(rows, question_ids, numbers)
    _refuse_unknown(opened, rows, numbers)
    pipeline = name or f"imported({file_name(rows.tag)})"
    manifest = RunManifest(
        run_name(dataset, corpus, pipeline), dataset, corpus, opened.manifest.hash, pipeline,
        int(rankings.ids.shape[1]), len(question_ids), 0.0, "", {IMPORTED: Path(rows.where).name},
    )  # fmt: skip
    return Run(manifest, question_ids, rankings.ids, rankings.scores), rankings.missing


def missing_note(absent: Sequence[str], asked: int, where: str, missing: Missing) -> str:
    """Return the note on questions that are missing in a file."""
    effect = "are left out" if missing is Missing.LEFT_OUT else "count as retrieving nothing"
    return f"{len(absent)} of {asked} questions are not in {where} and {effect}: {_some(absent)}."


def _refuse_unknown(opened: Corpus, rows: RunRows, numbers: dict[str, int]) -> None:
    try:
        opened.passages(sorted(set(numbers.values())))
        return
    except StaleError:
        pass  # at least one passage is unknown: find the first one and its line
    for name, line in zip(rows.passages, rows.lines.tolist(), strict=True):
        try:
            opened.passages([numbers[name]])
        except StaleError as error:
            raise BadInputError(
                f"Corpus '{opened.name}' has no passage {name}.",
                where=rows.where,
                line=line,
                hint="Check that the run was computed on this corpus.",
            ) from error


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_LISTED]) + (", …" if len(names) > _LISTED else "")
