"""Pipeline weights tuned on a dev split, stored with the corpus they were tuned on."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from berdseye.data.errors import StaleError
from berdseye.data.files.atomic import write_json

_FILE = "tuned.json"


@dataclass(frozen=True)
class TunedWeight:
    """The chosen weight, the measure, labels and data sets it was chosen with, and the score of each weight of the grid.

    `versions` are the versions of the pipeline's parts, the questions and the labels; empty if they were not stored. `unjudged`
    is the rule for questions without a label in the top k.
    """

    weight: float
    datasets: list[str]
    measure: str
    labels: str
    corpus_hash: str
    scores: dict[str, float]
    created: str
    versions: dict[str, str] = field(default_factory=dict)
    unjudged: str = "zero"


def read_tuned(corpus_folder: Path) -> dict[str, TunedWeight]:
    """The tuned weights of a corpus by pipeline; raises `StaleError` if the file cannot be read."""
    path = corpus_folder / _FILE
    try:
        entries = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return {pipeline: TunedWeight(**entry) for pipeline, entry in entries.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise StaleError(
            "The tuned weights cannot be read.", where=path, hint="Delete the file and tune again."
        ) from error


def write_tuned(corpus_folder: Path, pipeline: str, tuned: TunedWeight) -> None:
    """Store a tuned weight, replacing an older one of this pipeline."""
    weights = {**read_tuned(corpus_folder), pipeline: tuned}
    write_json(corpus_folder / _FILE, {name: asdict(entry) for name, entry in weights.items()})
