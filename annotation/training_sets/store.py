"""Training sets in the workspace: each version is a folder that never changes, with its pairs and a manifest.

`training_sets/NAME-VERSION/pairs.parquet` has the columns of `training_data`; `manifest.json` gives the rules of its creation,
the number of judgments, the excluded pairs, and the SHA-256 of the pairs.
"""

import hashlib
import json
import os
import re
import shutil
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from berdseye.annotation.judgments.adjudication import adjudicated_labels
from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.training_sets.labelling import LabellingRules, decided
from berdseye.annotation.training_sets.leakage import LeakHandling, without_leaks
from berdseye.data.datasets.labelled_pairs import LabelledPair, read_labelled_pairs
from berdseye.data.datasets.stored import SPLITS, same_question
from berdseye.data.errors import BadInputError, StaleError, UnknownNameError
from berdseye.data.files.atomic import sync_folder, write_json, write_parquet
from berdseye.data.files.locks import locked
from berdseye.data.texts.near_duplicates import DEFAULT_THRESHOLD
from berdseye.data.workspace import Workspace, checked_name

PAIRS = "pairs.parquet"
_MANIFEST = "manifest.json"
_ID = re.compile(r"(.+)-([1-9]\d*)")
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("pair", "passage", "title", "perspective", "question", "dataset")),
        *((name, pa.int64()) for name in ("label", "supports", "does_not_support", "unsure")),
        ("annotators", pa.list_(pa.string())),
        *((name, pa.string()) for name in ("split", "question_id", "stance", "corpus", "url", "decided_by")),
    ]
)


@dataclass(frozen=True)
class TrainingSetVersion:
    """A stored version. `hash` (12 hex digits) does not depend on the order of its rows; `manifest` has all its metadata."""

    id: str
    folder: Path
    hash: str
    manifest: dict[str, Any]

    @property
    def path(self) -> Path:
        """The file of labelled pairs, which every command on detectors reads."""
        return self.folder / PAIRS

    @property
    def leakage(self) -> str:
        """The leaks in one sentence; earlier versions used another key."""
        leakage = self.manifest["leakage"]
        return str(leakage.get("summary") or leakage["told"])

    def table(self) -> pd.DataFrame:
        """Return its rows, with the columns of `training_data`; raises `StaleError` if they do not match the manifest."""
        with self.path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != self.manifest["sha256"]:
                raise StaleError(
                    "The pairs do not match the checksum in the manifest.",
                    where=self.path,
                    hint="Create the training set again.",
                )
        frame: pd.DataFrame = pq.read_table(self.path).to_pandas()
        return frame.replace({np.nan: None}) if len(frame) else frame

    def pairs(self) -> list[LabelledPair]:
        """Return its rows as labelled pairs."""
        return read_labelled_pairs(self.path)


def create(
    workspace: Workspace,
    judgments: Judgments,
    name: str = "judged",
    choice: LabellingRules | None = None,
    *,
    handling: LeakHandling = "drop",
    threshold: float = DEFAULT_THRESHOLD,
    made_by: str = "",
) -> TrainingSetVersion:
    """Create the next version of a training set, or return the newest version if the new one would equal it.

    Raises `BadInputError` if no judged pair has a label by the rules.
    """
    choice = choice or LabellingRules()
    name = checked_name("training set", name)
    events, frame = judgments.version(), judgments.frame()
    labelled = decided(frame, choice, adjudicated_labels(judgments) if choice.rule == "adjudicated" else None)
    if labelled.table.empty:
        only_demo = len(frame) and not choice.demo and frame["demo"].astype(bool).all()
        raise BadInputError(
            "Only the demo's simulated annotators have judged."
            if only_demo
            else "No judged pair has a label by these rules.",
            where="the workspace's judgments",
            hint="Judge some pairs, or use --demo to include the simulated annotators."
            if only_demo
            else "Judge more pairs, or choose other rules.",
        )
    table, leakage = without_leaks(labelled.table, handling, threshold)
    rules = {**asdict(choice), "leaks": handling, "near_duplicates_from": threshold}
    digest = _hash(table)
    with locked(workspace.training_sets_folder / ".lock"):
        versions = [s for s in list_sets(workspace) if _name(s.id) == name]
        if versions and versions[-1].hash == digest and versions[-1].manifest["rules"] == rules:
            return versions[-1]
        number = _number(versions[-1].id) + 1 if versions else 1
        voters = frame if choice.demo else frame[~frame["demo"].astype(bool)]
        manifest = {
            "name": name,
            "version": number,
            "hash": digest,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "made_by": made_by,
            "rules": rules,
            "judgment_events": events,
            "judgments": len(voters),
            "judgments_of_made_up_annotators": int(voters["demo"].astype(bool).sum()),
            "splits": balance(table),
            "left_out": labelled.left_out,
            "leakage": asdict(leakage) | {"summary": str(leakage)},
        }
        return _write(workspace, f"{name}-{number}", table, manifest)


def list_sets(workspace: Workspace) -> list[TrainingSetVersion]:
    """Return all versions, ordered by name and number."""
    folders = [
        p.parent for p in workspace.training_sets_folder.glob(f"[!.]*/{_MANIFEST}") if _ID.fullmatch(p.parent.name)
    ]
    return [_read(f) for f in sorted(folders, key=lambda f: (_name(f.name), _number(f.name)))]


def find_set(workspace: Workspace, wanted: str) -> TrainingSetVersion:
    """Return a version by its id, such as judged-3, or the newest version of a name; raises `UnknownNameError`."""
    versions = {s.id: s for s in list_sets(workspace)}
    newest = {_name(i): s for i, s in versions.items()}
    version = versions.get(wanted) or newest.get(wanted)
    if version is None:
        raise UnknownNameError("training set", wanted, versions)
    return version


class HeldOut(NamedTuple):
    """The pairs of the split test with people's labels, and the number of its other pairs, which no person has labelled."""

    pairs: list[LabelledPair]
    simulated: int


def held_out_by_people(judgments: Judgments, version: TrainingSetVersion) -> HeldOut:
    """Return the pairs of a version's split test for a comparison of detectors, without votes of simulated annotators.

    A version that counts such votes is decided again for these pairs, by its rules and people's present judgments; pairs that an
    adjudicator decided keep their labels.
    """
    rows = [pair for pair in version.pairs() if pair.split == "test"]
    rules = version.manifest["rules"]
    if not rules["demo"]:
        return HeldOut(rows, 0)
    table = version.table()
    labels = {str(row["pair"]): row["label"] for row in table[table["decided_by"] == "adjudicator"].to_dict("records")}
    keys = [pair.pair.key for pair in rows]
    frame = judgments.frame()
    votes = frame[frame["pair"].isin(set(keys) - set(labels)) & ~frame["demo"].astype(bool)]
    if rules["rule"] != "one" or (votes["annotator"] == rules["annotator"]).any():
        decisions = decided(votes, LabellingRules(rules["rule"], rules["unsure"], rules["annotator"])).table
        labels |= dict(zip(decisions["pair"].astype(str), decisions["label"], strict=True))
    kept = [
        pair._replace(supports=bool(labels[key] == 1)) for pair, key in zip(rows, keys, strict=True) if key in labels
    ]
    return HeldOut(kept, len(rows) - len(kept))


def balance(table: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Count the pairs, supporting pairs and questions of each split."""
    return {
        split: {
            "pairs": len(rows),
            "positives": int(rows["label"].sum()),
            "questions": rows["question"].map(same_question).nunique(),
        }
        for split in SPLITS
        for rows in [table[table["split"] == split]]
    }


def _write(workspace: Workspace, wanted: str, table: pd.DataFrame, manifest: dict[str, Any]) -> TrainingSetVersion:
    """Write a version into a temporary folder and rename it, so that there is a complete version or none."""
    folder = workspace.training_sets_folder / wanted
    draft = folder.with_name(f".{wanted}.{uuid4().hex[:8]}.tmp")
    try:
        write_parquet(draft / PAIRS, pa.Table.from_pandas(table, schema=SCHEMA, preserve_index=False))
        with (draft / PAIRS).open("rb") as file:
            manifest = manifest | {"sha256": hashlib.file_digest(file, "sha256").hexdigest()}
        write_json(draft / _MANIFEST, manifest)
        sync_folder(draft)
        os.rename(draft, folder)  # noqa: PTH104 - unlike Path.replace, its name says that the target must not exist
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return _read(folder)


def _read(folder: Path) -> TrainingSetVersion:
    path = folder / _MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        return TrainingSetVersion(folder.name, folder, str(manifest["hash"]), manifest)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StaleError(
            "The manifest of the training set cannot be read.", where=path, hint="Delete the folder."
        ) from error


def _hash(table: pd.DataFrame) -> str:
    """Return 12 hex digits that depend on every row, but not on the order of the rows."""
    rows = sorted(json.dumps(row) for row in table.replace({np.nan: None}).to_numpy(dtype=object).tolist())
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:12]


def _name(wanted: str) -> str:
    return wanted.rpartition("-")[0]


def _number(wanted: str) -> int:
    return int(wanted.rpartition("-")[2])
