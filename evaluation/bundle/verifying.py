"""Checking a bundle: is every file the one that was packed, and does every number follow from the runs and labels inside?"""

import csv
import hashlib
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import text_lines
from berdseye.data.records import Question
from berdseye.evaluation.bundle.archive import (
    FORMAT,
    MANIFEST,
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
    rows_of,
    table_files,
    tables_anew,
)
from berdseye.evaluation.bundle.writing import with_averages
from berdseye.evaluation.interchange.ranking import corpus_numbers, labelled, ranked
from berdseye.evaluation.interchange.trec import parse_trec_qrels, parse_trec_run
from berdseye.evaluation.labels.qrels import Qrels
from berdseye.evaluation.labels.sources import LabelSource, parse_label_source
from berdseye.evaluation.measures import Measure, parse_measures
from berdseye.evaluation.scores.scoring import PeopleSample, Score, scores_of
from berdseye.evaluation.studies.result import Table

_TOLERANCE = 1e-9
"""The rounding that another processor or version of NumPy may leave in a mean."""


@dataclass(frozen=True)
class Verdict:
    """What a check found: each mismatch in a sentence, how many files were compared and numbers computed again, and what
    could only be compared with its hash."""

    mismatches: tuple[str, ...]
    files: int
    numbers: int
    only_hashed: tuple[str, ...] = ()


def verify(path: Path) -> Verdict:
    """Compare every file with its hash and compute every number of the table anew, and of studies that follow from the runs.

    Raises `BadInputError` with file and line where the file is no bundle, or where what is inside cannot be read.
    """
    files = unzipped(path)
    if MANIFEST not in files:
        raise BadInputError("The file holds no manifest.", where=path, hint="Is it a bundle of `berdseye bundle`?")
    try:
        manifest = json.loads(files[MANIFEST])
        if manifest["format"] != FORMAT:
            raise BadInputError(
                f"The bundle has format {manifest['format']}.", where=path, hint=f"This version reads format {FORMAT}."
            )
        wrong = _hash_mismatches(files, manifest["files"])
        runs = [_RunEntry(**{name: str(r[name]) for name in _RunEntry.__annotations__}) for r in manifest["runs"]]
        settings = manifest["settings"]
        measures, source = parse_measures(" ".join(settings["measures"])), parse_label_source(settings["labels"])
        version, floor = str(manifest["detector"]["version"]), float(settings["min_judged"])
        samples = {str(n): {int(k): set(map(str, ids)) for k, ids in s.items()} for n, s in manifest["samples"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BadInputError(
            f"The manifest cannot be read: {error}.", where=path, hint="Get the bundle again."
        ) from error
    numbers, studied = 0, dict[str, Table]()
    if runs:
        scores = _scores(files, path, runs, measures, source, version, floor, samples)
        expected = rows_of(with_averages(scores))
        held = _table(_file(files, JSON_FILE, path), path)
        wrong += _row_mismatches(held, expected)
        wrong += _form_mismatches(files, held, path)
        numbers = len(expected) * len(NUMBERS)
        studied = _studied(files, BundledScores.of(scores, source))
        for name, table in studied.items():
            wrong += cell_mismatches(name, _file(files, name, path), table)
            numbers += int(table.cells.select_dtypes("number").size)
    only_hashed = tuple(sorted(n for n in files if n.startswith(("studies/", "passages/")) and n not in studied))
    return Verdict(tuple(wrong), len(files) - 1, numbers, only_hashed)


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
    samples: Mapping[str, Mapping[int, set[str]]],
) -> list[Score]:
    depth = max(m.k for m in measures)
    scores: list[Score] = []
    for place in sorted({(r.dataset, r.corpus) for r in runs}):
        name = questions_file(place[0])
        questions = read_questions(_file(files, name, path), place[0], f"{path}/{name}")
        known = _qrels(files, labels_file(*place), path, questions)
        people = _qrels(files, labels_file(*place, "people"), path, questions) if source.corrected else None
        for run in (r for r in runs if (r.dataset, r.corpus) == place):
            drawn = {
                k: np.array([q.id in ids for q in questions], dtype=np.bool_)
                for k, ids in samples.get(run.name, {}).items()
            }
            name = run_file(run.name)
            rows = parse_trec_run(_lines(files, name, path), f"{path}/{name}", may_be_empty=True)
            top = ranked(rows, [q.id for q in questions], corpus_numbers(rows)).ids[:, :depth]
            said = PeopleSample(people.support(top), drawn) if people is not None else None
            scores += scores_of(
                measures, known.support(top), known.pool(source), said, min_judged=floor,
                dataset=run.dataset, corpus=run.corpus, pipeline=run.pipeline, labels=str(source), detector_version=version,
            )  # fmt: skip
    return scores


def _studied(files: Mapping[str, bytes], scores: BundledScores) -> dict[str, Table]:
    """Tables of studies that follow from the runs inside, computed anew, by the files of their cells."""
    found: dict[str, Table] = {}
    for name, content in files.items():
        if name.startswith("studies/") and name.endswith("/study.json"):
            try:
                held = json.loads(content)
                tables = tables_anew(str(held["study"]), held["settings"], scores)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                continue  # told by its hash
            found |= {name.replace("study.json", f"{table.name}.json"): table for table in tables}
    return found


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
        raise BadInputError("Not UTF-8 text.", where=f"{path}/{name}", hint="Get the bundle again.") from error


def _hash_mismatches(files: Mapping[str, bytes], listed: Mapping[str, Any]) -> list[str]:
    wrong = [f"{name} is listed, but not there" for name in sorted(set(listed) - set(files))]
    wrong += [f"{name} is there, but not listed" for name in sorted(set(files) - set(listed) - {MANIFEST})]
    for name in sorted(set(files) & set(listed)):
        if hashlib.sha256(files[name]).hexdigest() != listed[name]["sha256"]:
            wrong.append(f"{name} is not the file that was packed: its SHA-256 is another")
    return wrong


def _table(content: bytes, path: Path) -> list[dict[str, Any]]:
    try:
        rows = json.loads(content)
        if isinstance(rows, list) and all(isinstance(r, dict) and set(r) == {*PLACE, *NUMBERS} for r in rows):
            return rows
    except (ValueError, RecursionError):
        pass
    raise BadInputError("Not a table of a bundle.", where=f"{path}/{JSON_FILE}", hint="Get the bundle again.")


def _row_mismatches(held: Sequence[Mapping[str, Any]], expected: Sequence[Mapping[str, Any]]) -> list[str]:
    wrong = []
    by_place = {_place(row): row for row in held}
    if len(by_place) < len(held):
        wrong.append(f"{JSON_FILE} has a number twice")
    computed = {_place(row): row for row in expected}
    wrong += [f"{JSON_FILE}, {_said(p)}: computed, but not in the table" for p in computed if p not in by_place]
    wrong += [f"{JSON_FILE}, {_said(p)}: in the table, but of no run inside" for p in by_place if p not in computed]
    for place, row in computed.items():
        for name in NUMBERS if place in by_place else ():
            written = by_place[place][name]
            if not _equal(written, row[name]):
                wrong.append(f"{JSON_FILE}, {_said(place)}: {name} is {written}, computed anew {row[name]}")
    return wrong


def _form_mismatches(files: Mapping[str, bytes], held: list[dict[str, Any]], path: Path) -> list[str]:
    """Where CSV and LaTeX say something else than the JSON."""
    try:
        wanted = table_files(held)
        header, *rows = list(csv.reader(io.StringIO(_file(files, CSV_FILE, path).decode(), newline="")))
        _, *expected = list(csv.reader(io.StringIO(wanted[CSV_FILE].decode(), newline="")))
    except (ValueError, TypeError, csv.Error) as error:
        raise BadInputError(f"The tables cannot be read: {error}.", where=path, hint="Get the bundle again.") from error
    wrong = []
    if len(rows) != len(expected) or header != [*PLACE, *NUMBERS]:
        wrong.append(f"{CSV_FILE} has other rows or columns than {JSON_FILE}")
    for row, right in zip(rows, expected, strict=False):
        for name, written, value in zip([*PLACE, *NUMBERS], row, right, strict=False):
            if written != value:
                wrong.append(f"{CSV_FILE}, {_said(tuple(right[: len(PLACE)]))}: {name} is {written}, in JSON {value}")
    latex, right_latex = (content.decode("utf-8", "replace").split("\n") for content in (
        _file(files, LATEX_FILE, path), wanted[LATEX_FILE]
    ))  # fmt: skip
    if len(latex) != len(right_latex):
        wrong.append(f"{LATEX_FILE} has other rows than {JSON_FILE}")
    for number, (written, value) in enumerate(zip(latex, right_latex, strict=False), start=1):
        if written != value:
            wrong.append(f"{LATEX_FILE}, line {number}: '{written.strip()}', from JSON '{value.strip()}'")
    return wrong


def _place(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in PLACE)


def _said(place: tuple[str, ...]) -> str:
    dataset, corpus, pipeline, measure, labels = place
    return f"{measure} of {pipeline} on {dataset} over {corpus} ({labels})"


def _equal(written: Any, value: Any) -> bool:
    if isinstance(written, float | int) and isinstance(value, float | int):
        return math.isclose(written, value, rel_tol=0, abs_tol=_TOLERANCE)
    return bool(written == value) or (written is None and isinstance(value, float) and np.isnan(value))
