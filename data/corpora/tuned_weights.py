"""Weights that were tuned on a dev split for a pipeline, kept beside the corpus they were tuned over."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from berdseye.data.errors import StaleError
from berdseye.data.files.atomic import write_json

_FILE = "tuned.json"


@dataclass(frozen=True)
class TunedWeight:
    """The weight chosen, by which measure and labels over which data sets, and what each weight of the grid scored.

    `versions` are those of the pipeline's parts, of the questions and of the labels; empty where they were not kept.
    """

    weight: float
    datasets: list[str]
    measure: str
    labels: str
    corpus_hash: str
    scores: dict[str, float]
    created: str
    versions: dict[str, str] = field(default_factory=dict)


def read_tuned(corpus_folder: Path) -> dict[str, TunedWeight]:
    """The tuned weights of a corpus by the pipeline they stand in."""
    path = corpus_folder / _FILE
    try:
        held = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return {pipeline: TunedWeight(**entry) for pipeline, entry in held.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise StaleError(
            "The tuned weights cannot be read.", where=path, hint="Delete the file and tune anew."
        ) from error


def write_tuned(corpus_folder: Path, pipeline: str, tuned: TunedWeight) -> None:
    """Keep a weight, in place of an older one for the same pipeline."""
    held = {**read_tuned(corpus_folder), pipeline: tuned}
    write_json(corpus_folder / _FILE, {name: asdict(entry) for name, entry in held.items()})
