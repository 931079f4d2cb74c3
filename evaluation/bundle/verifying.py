"""Verification of a bundle: is every file unchanged, and does every number follow from the runs and labels in the bundle?"""

import csv
import hashlib
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import text_lines
from berdseye.data.records import Question
from berdseye.evaluation.bundle.archive import (
    FORMAT,
    MANIFEST,
    OLD_FORMAT,
    labels_file,
    questions_file,
    read_questions,
    run_file,
    unzipped,
)
from berdseye.evaluation.bundle.tables import (
    CSV_FILE,
    JSON_FILE,
    LATEX_FILE,
    NUMBERS,
    PLACE,
    BundledScores,
    cell_mismatches,
    measured_numbers,
    recomputed_tables,
    rows_of,
    table_files,
)
from berdseye.evaluation.bundle.writing import with_averages
from berdseye.evaluation.interchange.ranking import corpus_numbers, labelled, ranked
from berdseye.evaluation.interchange.trec import parse_trec_qrels, parse_trec_run
from berdseye.evaluation.labels.qrels import Qrels
from berdseye.evaluation.labels.sources import LabelSource, parse_label_source
from berdseye.evaluation.measures import Measure, parse_measures
from berdseye.evaluation.scores.score import Score
from berdseye.evaluation.scores.scoring import PeopleSample, scores_of
from berdseye.evaluation.scores.unjudged import Unjudged, parse_unjudged
from berdseye.evaluation.studies.result import Table

_TOLERANCE = 1e-9
"""The largest rounding difference of a mean between processors or versions of NumPy."""
_OLD = (
    "The bundle has format {format}. {numbers} of its numbers are not compared, because their definitions have changed: "
    "judged@k was divided over all questions, which also decided which values were withheld, and the divisor of alpha_nDCG "
    "depended on the system. Tables of studies are compared with their checksums only."
)


@dataclass(frozen=True)
class Verdict:
    """The result of a verification: one message per mismatch, the number of compared files and of recomputed numbers, and the
    files of which only the checksum could be checked. `notes` say which numbers of an older format are not compared, and why."""

    mismatches: tuple[str, ...]
    files: int
    numbers: int
    only_hashed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def verify(path: Path) -> Verdict:
    """Check the checksum of every file, and recompute every number of the table and of studies that follow from the runs.

    Raises `BadInputError`, with file and line, if the file is not a bundle or its contents cannot be read.
    """
    files = unzipped(path)
    if MANIFEST not in files:
        raise BadInputError("The file has no manifest.", where=path, hint="Use a file written by `berdseye bundle`.")
    try:
        manifest = json.loads(files[MANIFEST])
        if manifest["format"] not in (OLD_FORMAT, FORMAT):
            raise BadInputError(
                f"The bundle has format {manifest['format']}.",
                where=path,
                hint=f"This version reads formats {OLD_FORMAT} and {FORMAT}.",
            )
        old = manifest["format"] == OLD_FORMAT
        wrong = _hash_mismatches(files, manifest["files"])
        runs = [_RunEntry(**{name: str(r[name]) for name in _RunEntry.__annotations__}) for r in manifest["runs"]]
        settings = manifest["settings"]
        measures, source = parse_measures(" ".join(settings["measures"])), parse_label_source(settings["labels"])
        version, floor = str(manifest["detector"]["version"]), float(settings["min_judged"])
        unjudged = parse_unjudged(settings.get("unjudged"))
        samples = {str(n): {int(k): set(map(str, ids)) for k, ids in s.items()} for n, s in manifest["samples"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BadInputError(
            f"The manifest cannot be read: {error}.", where=path, hint="Get the bundle again."
        ) from error
    numbers, studied, notes = 0, dict[str, Table](), list[str]()
    if runs:
        scores = _scores(files, path, runs, measures, source, version, floor, unjudged, samples)
        expected = rows_of(with_averages(scores))
        rows = _table(_file(files, JSON_FILE, path), path)
        changed = [_changed_since(rows, row) if old else set() for row in expected]
        wrong += _row_mismatches(rows, expected, changed)
        wrong += _form_mismatches(files, rows, path)
        numbers = len(expected) * len(NUMBERS) - sum(map(len, changed))
        if old:
            notes.append(_OLD.format(format=OLD_FORMAT, numbers=sum(map(len, changed))))
        studied = {} if old else _studied(files, BundledScores.of(scores, source, floor, unjudged))
        for name, table in studied.items():
            wrong += cell_mismatches(name, _file(files, name, path), table)
            numbers += measured_numbers(table)
    only_hashed = tuple(sorted(n for n in files if n.startswith(("studies/", "passages/")) and n not in studied))
    return Verdict(tuple(wrong), len(files) - 1, numbers, only_hashed, tuple(notes))


@dataclass(frozen=True)
class _RunEntry:
    name: str
    dataset: str
    corpus: str
    pipeline: str


def _scores(
    files: Mapping[str, bytes],
    path: Path,
    runs: Sequence[_RunEntry],
    measures: Sequence[Measure],
    source: LabelSource,
    version: str,
    floor: float,
    unjudged: Unjudged,
    samples: Mapping[str, Mapping[int, set[str]]],
) -> list[Score]:
    depth = max(m.k for m in measures)
    scores: list[Score] = []
    for place in sorted({(r.dataset, r.corpus) for r in runs}):
        name = questions_file(place[0])
        questions = read_questions(_file(files, name, path), place[0], f"{path}/{name}")
        known = _qrels(files, labels_file(*place), path, questions)
        people = _qrels(files, labels_file(*place, "people"), path, questions) if source.corrected else None
        names = [labels_file(*place, f"detector-{number}") for number in range(2, 2 + len(source.further))]
        further = [_qrels(files, name, path, questions) for name in names]
        for run in (r for r in runs if (r.dataset, r.corpus) == place):
            drawn = {
                k: np.array([q.id in ids for q in questions], dtype=np.bool_)
                for k, ids in samples.get(run.name, {}).items()
            }
            name = run_file(run.name)
            rows = parse_trec_run(_lines(files, name, path), f"{path}/{name}", may_be_empty=True)
            top = ranked(rows, [q.id for q in questions], corpus_numbers(rows)).ids[:, :depth]
            others = tuple(labels.support(top) for labels in further)
            sample = PeopleSample(people.support(top), drawn, others) if people is not None else None
            counted = replace(known.pool(source), unjudged=unjudged)
            scores += scores_of(
                measures, known.support(top), counted, sample, min_judged=floor,
                dataset=run.dataset, corpus=run.corpus, pipeline=run.pipeline, labels=str(source), detector_version=version,
            )  # fmt: skip
    return scores


def _studied(files: Mapping[str, bytes], scores: BundledScores) -> dict[str, Table]:
    """Recompute the tables of studies that follow from the runs in the bundle; returns them by the paths of their cells."""
    recomputed: dict[str, Table] = {}
    for name, content in files.items():
        if name.startswith("studies/") and name.endswith("/study.json"):
            try:
                study = json.loads(content)
                tables = recomputed_tables(str(study["study"]), study["settings"], scores)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                continue  # its checksum reports the change
            recomputed |= {name.replace("study.json", f"{table.name}.json"): table for table in tables}
    return recomputed


def _qrels(files: Mapping[str, bytes], name: str, path: Path, questions: Sequence[Question]) -> Qrels:
    rows = parse_trec_qrels(_lines(files, name, path), f"{path}/{name}", may_be_empty=True)
    widths = [len(q.perspectives) for q in questions]
    return labelled(rows, [q.id for q in questions], corpus_numbers(rows), widths)


def _file(files: Mapping[str, bytes], name: str, path: Path) -> bytes:
    if name not in files:
        raise BadInputError(f"The bundle lacks {name}.", where=path, hint="Get the bundle again.")
    return files[name]


def _lines(files: Mapping[str, bytes], name: str, path: Path) -> list[tuple[int, str]]:
    try:
        return list(text_lines(_file(files, name, path).decode()))
    except UnicodeDecodeError as error:
        raise BadInputError(
            "The file is not UTF-8 text.", where=f"{path}/{name}", hint="Get the bundle again."
        ) from error


def _hash_mismatches(files: Mapping[str, bytes], listed: Mapping[str, Any]) -> list[str]:
    wrong = [f"{name} is in the manifest, but missing" for name in sorted(set(listed) - set(files))]
    wrong += [f"{name} is not in the manifest" for name in sorted(set(files) - set(listed) - {MANIFEST})]
    for name in sorted(set(files) & set(listed)):
        if hashlib.sha256(files[name]).hexdigest() != listed[name]["sha256"]:
            wrong.append(f"{name} was changed: its SHA-256 is not that of the manifest")
    return wrong


def _table(content: bytes, path: Path) -> list[dict[str, Any]]:
    try:
        rows = json.loads(content)
        if isinstance(rows, list) and all(isinstance(r, dict) and set(r) == {*PLACE, *NUMBERS} for r in rows):
            return rows
    except (ValueError, RecursionError):
        pass
    raise BadInputError(
        "The file is not a table of a bundle.", where=f"{path}/{JSON_FILE}", hint="Get the bundle again."
    )


def _changed_since(rows: Sequence[Mapping[str, Any]], right: Mapping[str, Any]) -> set[str]:
    """Return the numbers of a row in a bundle of `OLD_FORMAT` whose definitions have changed since."""
    written = next((row for row in rows if _place(row) == _place(right)), right)
    values = {"value", "low", "high"}
    differs = right["measure"].startswith("alpha_nDCG") or (written["value"] is None) != (right["value"] is None)
    return {"judged"} | (values if differs else set())


def _row_mismatches(
    rows: Sequence[Mapping[str, Any]], expected: Sequence[Mapping[str, Any]], changed: Sequence[set[str]]
) -> list[str]:
    """Return one message for each difference of the table from the recomputed rows; `changed` names numbers of each row that are
    not compared."""
    wrong = []
    by_place = {_place(row): row for row in rows}
    if len(by_place) < len(rows):
        wrong.append(f"{JSON_FILE} has duplicate rows")
    computed = {_place(row): row for row in expected}
    wrong += [f"{JSON_FILE}, {_described(p)}: computed, but not in the table" for p in computed if p not in by_place]
    wrong += [f"{JSON_FILE}, {_described(p)}: in the table, but not of a run" for p in by_place if p not in computed]
    skipped = {_place(row): names for row, names in zip(expected, changed, strict=True)}
    for place, row in computed.items():
        for name in NUMBERS if place in by_place else ():
            if name in skipped[place]:
                continue
            written = by_place[place][name]
            if not _equal(written, row[name]):
                wrong.append(f"{JSON_FILE}, {_described(place)}: {name} is {written}, recomputed {row[name]}")
    return wrong


def _form_mismatches(files: Mapping[str, bytes], json_rows: list[dict[str, Any]], path: Path) -> list[str]:
    """Return one message for each difference of CSV or LaTeX from the JSON."""
    try:
        wanted = table_files(json_rows)
        header, *rows = list(csv.reader(io.StringIO(_file(files, CSV_FILE, path).decode(), newline="")))
        _, *expected = list(csv.reader(io.StringIO(wanted[CSV_FILE].decode(), newline="")))
    except (ValueError, TypeError, csv.Error) as error:
        raise BadInputError(f"The tables cannot be read: {error}.", where=path, hint="Get the bundle again.") from error
    wrong = []
    if len(rows) != len(expected) or header != [*PLACE, *NUMBERS]:
        wrong.append(f"{CSV_FILE} does not have the rows and columns of {JSON_FILE}")
    for row, right in zip(rows, expected, strict=False):
        for name, written, value in zip([*PLACE, *NUMBERS], row, right, strict=False):
            if written != value:
                place = _described(tuple(right[: len(PLACE)]))
                wrong.append(f"{CSV_FILE}, {place}: {name} is {written}, in JSON {value}")
    latex, right_latex = (content.decode("utf-8", "replace").split("\n") for content in (
        _file(files, LATEX_FILE, path), wanted[LATEX_FILE]
    ))  # fmt: skip
    if len(latex) != len(right_latex):
        wrong.append(f"{LATEX_FILE} does not have the rows of {JSON_FILE}")
    for number, (written, value) in enumerate(zip(latex, right_latex, strict=False), start=1):
        if written != value:
            wrong.append(f"{LATEX_FILE}, line {number}: '{written.strip()}', from JSON '{value.strip()}'")
    return wrong


def _place(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in PLACE)


def _described(place: tuple[str, ...]) -> str:
    dataset, corpus, pipeline, measure, labels = place
    return f"{measure} of {pipeline} on {dataset} over {corpus} ({labels})"


def _equal(written: Any, value: Any) -> bool:
    if isinstance(written, float | int) and isinstance(value, float | int):
        return math.isclose(written, value, rel_tol=0, abs_tol=_TOLERANCE)
    return bool(written == value) or (written is None and isinstance(value, float) and np.isnan(value))
