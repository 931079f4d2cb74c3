"""A training set in file formats of other tools: JSON Lines, a Hugging Face `datasets` folder, Label Studio's JSON."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from berdseye.annotation.judgments.log import PairRecord, Verdict
from berdseye.annotation.label_studio.form import RecordedVerdict, result_of, task_data
from berdseye.annotation.training_sets.store import SCHEMA, TrainingSetVersion
from berdseye.data.errors import BadInputError
from berdseye.data.files.atomic import write_bytes, write_json, write_parquet
from berdseye.data.files.tables import to_jsonl

LABELS: tuple[Verdict, Verdict] = ("does not support", "supports")
_HUB_SPLITS = {"train": "train", "dev": "validation", "test": "test"}
_HUB_TYPES: Mapping[pa.DataType, Any] = {
    pa.string(): {"dtype": "string", "_type": "Value"},
    pa.int64(): {"dtype": "int64", "_type": "Value"},
    pa.list_(pa.string()): {"feature": {"dtype": "string", "_type": "Value"}, "_type": "List"},
}


def write_jsonl(made: TrainingSetVersion, path: Path) -> list[Path]:
    """Write all pairs into one file, one object per line, as `berdseye detector train` and `score` read it."""
    write_bytes(path, to_jsonl(made.table()))
    return [path]


def write_lines(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write objects as JSON Lines."""
    write_bytes(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode())


def write_hugging_face(made: TrainingSetVersion, folder: Path) -> list[Path]:
    """Write a folder that `datasets.load_dataset(FOLDER)` reads: one Parquet file per split, and a card.

    The split dev is called validation there. The label is a `ClassLabel`; its names and all types are in the Parquet schema,
    as `datasets` itself writes them. Raises `BadInputError` if the folder is not empty.
    """
    empty_folder(folder)
    table = made.table()
    types: dict[str, Any] = {field.name: _HUB_TYPES[field.type] for field in SCHEMA}
    types["label"] = {"names": list(LABELS), "_type": "ClassLabel"}
    schema = SCHEMA.with_metadata({"huggingface": json.dumps({"info": {"features": types}})})
    written = []
    for split, hub in _HUB_SPLITS.items():
        rows = table[table["split"] == split]
        if len(rows):
            path = folder / "data" / f"{hub}-00000-of-00001.parquet"
            write_parquet(path, pa.Table.from_pandas(rows, schema=schema, preserve_index=False))
            written.append(path)
    write_bytes(folder / "README.md", _card(made, [path.name for path in written]).encode())
    write_json(folder / "berdseye.json", made.manifest)  # not .jsonl, which `datasets` would load
    return [*written, folder / "README.md", folder / "berdseye.json"]


def write_label_studio(made: TrainingSetVersion, path: Path) -> list[Path]:
    """Write tasks with their label as a ground-truth annotation, for the labeling interface of Berdseye's own projects."""
    names = list(PairRecord.__dataclass_fields__)
    tasks = []
    for row in made.table().to_dict("records"):
        data = task_data(PairRecord(**{name: row[name] for name in names})) | {"split": row["split"]}
        result = result_of(RecordedVerdict(LABELS[row["label"]], ""))
        tasks.append({"data": data, "annotations": [{"result": result, "ground_truth": True}]})
    write_bytes(path, json.dumps(tasks, ensure_ascii=False, indent=1).encode())
    return [path]


def empty_folder(folder: Path) -> None:
    """Raise `BadInputError` if the folder exists and is not empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInputError("The folder is not empty.", where=folder, hint="Name a new folder.")


def _card(made: TrainingSetVersion, files: list[str]) -> str:
    """Return the card; it contains no text by people, which could be read as YAML or Markdown."""
    manifest = made.manifest
    splits = "".join(f"      - split: {name.partition('-')[0]}\n        path: data/{name}\n" for name in files)
    rows = "\n".join(
        f"| {_HUB_SPLITS[split]} | {n['pairs']} | {n['positives']} | {n['questions']} |"
        for split, n in manifest["splits"].items()
    )
    excluded = sum(manifest["left_out"].values())
    simulated = manifest["judgments_of_made_up_annotators"]
    warning = f"\n{simulated} of the judgments are by simulated annotators of the demo.\n" if simulated else ""
    return f"""---
task_categories:
  - text-classification
configs:
  - config_name: default
    data_files:
{splits}---

# {manifest["name"]}, version {manifest["version"]}

Pairs of a passage and a perspective, labelled 1 if the passage supports the perspective and 0 if not. Created by Berdseye
from {manifest["judgments"]} judgments of people by the rule "{manifest["rules"]["rule"]}"; unsure votes:
{manifest["rules"]["unsure"]}. No question is in two splits. {made.leakage}
{excluded} judged pairs were excluded because they have no label.
{warning}
| split | pairs | supporting | questions |
|---|---|---|---|
{rows}

Hash of the rows: `{manifest["hash"]}`. All other metadata is in `berdseye.json`. The texts of the passages are under the
licences of their corpora.
"""
