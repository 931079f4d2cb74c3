"""A corpus whose passages repeat one another, so that rankings are full of exact ties."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from berdseye.data.corpora import Corpus, Kind, Manifest
from berdseye.data.corpora.corpus import SCHEMA, part_path, write_part
from berdseye.data.workspace import Workspace

_WORDS = [
    "cars",
    "trams",
    "shops",
    "city",
    "centre",
    "air",
    "noise",
    "zoo",
    "elephants",
    "tigers",
    "tortoise",
    "homework",
    "children",
    "school",
    "uniform",
    "blazer",
    "tax",
    "sugar",
    "vaccine",
    "vote",
    "sixteen",
    "nuclear",
    "wind",
    "solar",
    "meat",
    "ticket",
    "museum",
    "language",
    "robot",
    "doctor",
    "nurse",
    "prison",
    "fine",
    "river",
    "dam",
    "forest",
    "fire",
]
QUESTIONS = (
    "Should cars be banned from the city centre?",
    "elephants in the zoo",
    "homework for children at school",
    "a tax on sugar and meat",
    "nuclear or wind or solar",
    "xylophone",
)


def write_tied_corpus(
    workspace: Workspace, count: int, *, distinct: int = 60, name: str = "c", seed: int = 0, kind: Kind = "passages"
) -> Corpus:
    """`count` passages of only `distinct` texts, written directly, since adding a corpus would merge the repeated ones."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(_WORDS, rng.integers(3, 12))) for _ in range(distinct)]
    chosen = rng.integers(0, distinct, count)
    folder = workspace.corpus_folder(name)
    for start in range(0, count, 1000):
        ids = np.arange(start, min(start + 1000, count))
        rows = [(int(i), f"d{i}", f"T{chosen[i] % 3}", texts[chosen[i]], "") for i in ids]
        columns = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), SCHEMA, strict=True)]
        write_part(part_path(folder, start), pa.table(columns, schema=SCHEMA))
    manifest = Manifest(name, kind, count, count, 0, f"tied {count} {distinct} {seed}", "made up", "2026-01-01")
    manifest.write(Path(folder))
    return Corpus(folder)
