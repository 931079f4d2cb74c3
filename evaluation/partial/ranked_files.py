"""Systems and relevant passages from files made elsewhere, in any form that `berdseye.evaluation.interchange` reads."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from berdseye.data.errors import BadInputError
from berdseye.evaluation.interchange.made_elsewhere import read_labels, read_run


def read_run_file(path: Path) -> dict[str, list[str]]:
    """Passage ids by query, best first; ties by id, descending, as in trec_eval, whatever the ranks in the file say.

    Raises `BadInputError` with file and line for what is no run, for scores that are no numbers and passages that stand twice.
    """
    rows = read_run(path)
    # Stable sorts, the least important key first: id descending, then score descending.
    by_id = np.array(sorted(range(len(rows.passages)), key=rows.passages.__getitem__, reverse=True), dtype=np.int64)
    order = by_id[np.argsort(-rows.scores[by_id], kind="stable")]
    found: dict[str, list[str]] = {}
    for row in order.tolist():
        found.setdefault(rows.questions[row], []).append(rows.passages[row])
    return found


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
    """Relevant passage ids by query; of labels by perspective, a passage is relevant that supports at least one.

    Queries whose passages are all irrelevant have none.
    """
    rows = read_labels(path)
    found: dict[str, dict[str, None]] = {}
    for query, passage, relevant in zip(rows.questions, rows.passages, rows.labels.tolist(), strict=True):
        held = found.setdefault(query, {})
        if relevant:
            held[passage] = None
    if not any(found.values()):
        raise BadInputError("No passage is relevant.", where=path, hint="Is it the right file?")
    return {query: tuple(held) for query, held in found.items()}
