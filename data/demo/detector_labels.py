"""Labels of a detector for the pairs of the demo runs, which come with the program."""

from importlib.resources import files
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from berdseye.data.files.atomic import write_parquet
from berdseye.data.labels import LabelStore
from berdseye.data.workspace import Workspace

_VERSION = b"version"


def add_detector_labels(workspace: Workspace, detector: str) -> None:
    """Store the labels under the version of the detector that computed them; another version does not read them."""
    table = pq.read_table(_file(detector))
    version = table.schema.metadata[_VERSION].decode()
    keys = [key.hex() for key in table["pair"].to_pylist()]
    supporting, opposing, cut = (table[column].to_pylist() for column in ("probability", "opposes", "cut"))
    LabelStore(workspace).put(detector, version, keys, supporting, opposing, cut=cut)


def write_detector_labels(workspace: Workspace, detector: str, version: str) -> None:
    """Write the labels that a workspace has of a version of a detector as the file that `add_detector_labels` reads."""
    table = LabelStore(workspace).table(detector, version).sort_by("pair")
    keys = pa.array([bytes.fromhex(key) for key in table["pair"].to_pylist()], pa.binary(16))
    table = table.set_column(0, "pair", keys).replace_schema_metadata({_VERSION: version.encode()})
    write_parquet(_file(detector), table)


def _file(detector: str) -> Path:
    return Path(str(files("berdseye.data.demo") / f"{detector}.parquet"))
