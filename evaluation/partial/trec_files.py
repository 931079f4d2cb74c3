"""Systems and relevant passages from TREC run and qrels files, read by ir_measures."""

import math
from collections.abc import Sequence
from pathlib import Path

import ir_measures

from data.errors import BadInputError


def read_run_file(path: Path) -> dict[str, list[str]]:
    """Passage ids by query, best first; ties by id, descending, as trec_eval has them, whatever the ranks in the file say.

    Raises `BadInputError` for a file that is none, for scores that are no numbers and passages that stand twice.
    """
    found: dict[str, dict[str, float]] = {}
    try:
        for row in ir_measures.read_trec_run(str(path)):  # type: ignore[no-untyped-call]
            if math.isnan(row.score):
                raise BadInputError(
                    f"Query '{row.query_id}', passage '{row.doc_id}': the score is not a number.",
                    where=path,
                    hint="Write the run again.",
                )
            held = found.setdefault(row.query_id, {})
            if row.doc_id in held:
                raise BadInputError(
                    f"Query '{row.query_id}' ranks passage '{row.doc_id}' twice.",
                    where=path,
                    hint="Each may stand once.",
                )
            held[row.doc_id] = row.score
    except (OSError, EOFError, ValueError) as error:
        raise BadInputError(
            f"Not a TREC run: {error}.", where=path, hint="A line is: query Q0 passage rank score name."
        ) from error
    if not found:
        raise BadInputError("The run is empty.", where=path, hint="Is it the right file?")
    return {
        query: [doc for doc, _ in sorted(held.items(), key=lambda i: (i[1], i[0]), reverse=True)]
        for query, held in found.items()
    }


def read_run_files(paths: Sequence[Path]) -> dict[str, dict[str, list[str]]]:
    """Runs by the names of their files without ending; two files of one name are an error."""
    names = [p.name.split(".gz")[0].rsplit(".", 1)[0] for p in paths]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise BadInputError(
            f"Two run files are called '{twice}'.", hint="A system goes by its file's name; rename one."
        )
    return {name: read_run_file(path) for name, path in zip(names, paths, strict=True)}


def read_qrels_file(path: Path) -> dict[str, tuple[str, ...]]:
    """Relevant passage ids (relevance 1 or more) by query; queries whose passages are all irrelevant have none."""
    found: dict[str, dict[str, None]] = {}
    try:
        for row in ir_measures.read_trec_qrels(str(path)):  # type: ignore[no-untyped-call]
            held = found.setdefault(row.query_id, {})
            if row.relevance > 0:
                held[row.doc_id] = None
    except (OSError, EOFError, ValueError) as error:
        raise BadInputError(
            f"Not a TREC qrels file: {error}.", where=path, hint="A line is: query 0 passage relevance."
        ) from error
    if not any(found.values()):
        raise BadInputError("No passage is relevant.", where=path, hint="Is it the right file?")
    return {query: tuple(held) for query, held in found.items()}
