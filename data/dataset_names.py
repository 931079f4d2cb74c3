"""Names of data sets and of their versions: `debate` is a data set as it was added, `debate@2` its second version."""

import re
from pathlib import Path

from berdseye.data.workspace import Workspace

BASE = 1
_VERSIONED = re.compile(r"(.+)@([1-9][0-9]{0,5})")


def split_version(name: str) -> tuple[str, int]:
    """The data set that a name is of, and the number of the version: 1 for the data set as it was added."""
    found = _VERSIONED.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, BASE)


def version_name(dataset: str, number: int) -> str:
    """The canonical name of a version; the first is the data set's own."""
    return dataset if number == BASE else f"{dataset}@{number}"


def versions_folder(workspace: Workspace, dataset: str) -> Path:
    """Where the versions after the first of a known data set are kept: out of sight of whatever goes over all data sets."""
    return workspace.folder / "datasets" / "versions" / dataset


def version_file(workspace: Workspace, name: str) -> Path:
    """The Parquet file of a data set or of a version of it."""
    dataset, number = split_version(name)
    if number == BASE:
        return workspace.dataset_file(dataset)
    return versions_folder(workspace, dataset) / f"{number}.parquet"


def version_numbers(workspace: Workspace, dataset: str) -> list[int]:
    """The versions there are, ascending from 1; one without its manifest was not finished, and is none."""
    found = (p.stem for p in versions_folder(workspace, dataset).glob("[1-9]*.json"))
    return [BASE, *sorted(int(stem) for stem in found if stem.isdecimal())]


def dataset_names(workspace: Workspace) -> list[str]:
    """Every data set by name, each followed by its versions."""
    return [version_name(d, n) for d in workspace.datasets() for n in version_numbers(workspace, d)]
