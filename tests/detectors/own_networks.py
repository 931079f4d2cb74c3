"""Networks of a workspace of its own: copies of the shipped one."""

import shutil
from pathlib import Path

from berdseye.data.workspace import Workspace
from berdseye.detectors.stance.network_files import FILES, shipped_folder


def network_of(workspace: Workspace, name: str) -> Path:
    """Copy the shipped network into the workspace, to be used as `stance(NAME)`, and return its folder."""
    folder = workspace.detectors_folder / name
    folder.mkdir(parents=True)
    for file in FILES:
        shutil.copy(shipped_folder() / file, folder)
    return folder
