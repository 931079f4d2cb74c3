"""Runs that were made elsewhere: read, scored against labels from a file or from the workspace, and stored as runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from berdseye.data.corpora import Corpus, open_corpus
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.files.json_files import read_lines
from berdseye.data.records import Question
from berdseye.data.runs.stored import Run, RunManifest, run_name
from berdseye.data.workspace import Workspace
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

_TOLD = 5
IMPORTED = "imported from"
"""Among the versions of a run: the file that it came from."""


class RunFormat(StrEnum):
    """The formats of runs."""

    TREC = "trec"
    BERDS = "berds"
    JSONL = "jsonl"


class Missing(StrEnum):
    """What becomes of a question that a run says nothing of."""

    LEFT_OUT = "left-out"
    ZERO = "zero"


@dataclass(frozen=True)
class Elsewhere:
    """A run from a file with what is known of its passages; `notes` say what was missing or left out."""

    ranked: Ranked
    qrels: Qrels
    tag: str
    notes: tuple[str, ...]


def run_format(path: Path) -> RunFormat:
    """The format of a run file: JSONL where it begins with a brace, BERDS' where that line has ctxs, else TREC."""
    first = next(read_lines(path), (1, ""))[1].lstrip()
    if path.suffix != ".jsonl" and not first.startswith("{"):
        return RunFormat.TREC
    return RunFormat.JSONL if '"ranking"' in first else RunFormat.BERDS


def read_run(path: Path) -> RunRows:
    """The rows of a run in TREC's format or our JSONL; raises `BadInputError` with file and line."""
    form = run_format(path)
    if form is RunFormat.BERDS:
        raise BadInputError(
            "A file in the BERDS form carries its own labels, and no ids of passages.",
            where=path,
            hint="Score it without --qrels and --dataset.",
        )
    return read_trec_run(path) if form is RunFormat.TREC else read_jsonl_run(path)


def read_labels(path: Path) -> LabelRows:
    """The rows of labels in TREC qrels, with or without perspectives, or our JSONL."""
    first = next(read_lines(path), (1, ""))[1].lstrip()
    return read_jsonl_labels(path) if path.suffix == ".jsonl" or first.startswith("{") else read_trec_qrels(path)


def judged_by_file(rows: RunRows, labels: LabelRows, questions: list[Question] | None, missing: Missing) -> Elsewhere:
    """A run against labels from a file.

    The questions are those of the data set where one is given, else those that have labels. A passage without a label counts
    as not relevant, as in trec_eval; judged@k tells how many those are.
    """
    numbers = passage_numbers(rows, labels)
    ids = [q.id for q in questions] if questions is not None else questions_of(labels)
    found = ranked(rows, ids, numbers, strict=questions is not None)
    widths = [len(q.perspectives) for q in questions] if questions is not None else None
    qrels = labelled(labels, ids, numbers, widths)
    notes = [missing_note(found.missing, len(ids), str(rows.where), missing)] if found.missing else []
    others = sorted(set(rows.questions) - {file_name(q) for q in ids} - set(ids))
    if others:
        notes.append(f"{len(others)} questions of the run have no label and are left out: {_some(others)}.")
    if missing is Missing.LEFT_OUT:
        kept = [place for place, q in enumerate(ids) if q not in set(found.missing)]
        if not kept:
            raise BadInputError(
                "The run and the labels share no question.", where=rows.where, hint="Compare their ids."
            )
        found = Ranked(found.ids[kept], found.scores[kept], found.missing)
        qrels = Qrels([ids[p] for p in kept], [qrels.passages[p] for p in kept], [qrels.labels[p] for p in kept])
    bare = sum(not block.shape[1] for block in qrels.labels)
    if bare:
        notes.append(f"{bare} questions have no perspective, and no value.")
    return Elsewhere(found, qrels, rows.tag, tuple(notes))


def as_run(workspace: Workspace, rows: RunRows, dataset: str, corpus: str, name: str = "") -> tuple[Run, list[str]]:
    """A run over a corpus of the workspace from a file, and the questions that the file does not name.

    Raises `BadInputError` with file and line for questions and passages that the data set and the corpus do not hold.
    """
    questions, opened = load_dataset(workspace, dataset), open_corpus(workspace, corpus)
    asked = [q.id for q in questions]
    numbers = corpus_numbers(rows)
    found = ranked(rows, asked, numbers)
    _refuse_unknown(opened, rows, numbers)
    pipeline = name or f"imported({file_name(rows.tag)})"
    manifest = RunManifest(
        run_name(dataset, corpus, pipeline), dataset, corpus, opened.manifest.hash, pipeline, int(found.ids.shape[1]),
        len(asked), 0.0, "", {IMPORTED: Path(rows.where).name},
    )  # fmt: skip
    return Run(manifest, asked, found.ids, found.scores), found.missing


def missing_note(absent: Sequence[str], asked: int, where: str, missing: Missing) -> str:
    """What is told of the questions that a file does not name."""
    become = "are left out" if missing is Missing.LEFT_OUT else "count as finding nothing"
    return f"{len(absent)} of {asked} questions are not in {where}, and {become}: {_some(absent)}."


def _refuse_unknown(opened: Corpus, rows: RunRows, numbers: dict[str, int]) -> None:
    try:
        opened.passages(sorted(set(numbers.values())))
        return
    except StaleError:
        pass  # at least one is unknown: which one, and where it stands, is looked for now
    for name, line in zip(rows.passages, rows.lines.tolist(), strict=True):
        try:
            opened.passages([numbers[name]])
        except StaleError as error:
            raise BadInputError(
                f"Corpus '{opened.name}' holds no passage {name}.",
                where=rows.where,
                line=line,
                hint="Is it the right corpus?",
            ) from error


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_TOLD]) + (", …" if len(names) > _TOLD else "")
