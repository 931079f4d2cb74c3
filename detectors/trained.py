"""Detectors that were trained in the workspace: where they lie, which one is adopted, and how one is let go."""

import json
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from berdseye.data.errors import BadInputError, StaleError, UnknownNameError
from berdseye.data.files.atomic import write_json
from berdseye.data.workspace import Workspace, checked_name
from berdseye.detectors.protocol import DEFAULT_DETECTOR

CARD = "card.json"
"""The file with which a training counts as finished."""
_ADOPTED = "adopted.json"


@dataclass(frozen=True)
class Trained:
    """A finished training: its folder, the detector's name, such as crossencoder(mine), and its card."""

    name: str
    folder: Path
    detector: str
    card: dict[str, Any]


def new_folder(workspace: Workspace, name: str) -> Path:
    """Where a training of this name is to be written; raises `BadInputError` where a finished one stands."""
    folder = workspace.detectors_folder / checked_name("detector", name)
    if (folder / CARD).exists():
        raise BadInputError(
            f"There is a detector '{name}' already.", where=folder, hint="Choose another name, or discard it first."
        )
    return folder


def finish(folder: Path, card: dict[str, Any]) -> None:
    """Write the card, with which a training counts as finished; `card["detector"]` is the detector's name."""
    write_json(folder / CARD, card)


def list_trained(workspace: Workspace) -> list[Trained]:
    """All finished trainings, the newest first."""
    held = [_read(path.parent) for path in workspace.detectors_folder.glob(f"[!.]*/{CARD}")]
    return sorted(held, key=lambda t: str(t.card.get("created", "")), reverse=True)


def find_trained(workspace: Workspace | None, name: str) -> Path | None:
    """The folder of a training of this name, if there is one."""
    if workspace is None or "/" in name:
        return None
    folder = workspace.detectors_folder / name
    return folder if (folder / CARD).exists() else None


def adopted_detector(workspace: Workspace) -> str:
    """The detector that every page and command uses where none is named."""
    path = workspace.detectors_folder / _ADOPTED
    if not path.exists():
        return DEFAULT_DETECTOR
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["detector"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StaleError("The adopted detector cannot be read.", where=path, hint="Adopt one anew.") from error


def adopt(workspace: Workspace, detector: str, *, made_by: str = "") -> None:
    """Use a detector from now on where none is named; `embedded` brings the shipped one back."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    write_json(
        workspace.detectors_folder / _ADOPTED,
        {"detector": detector, "since": now, "before": adopted_detector(workspace), "made_by": made_by},
    )


def discard(workspace: Workspace, name: str) -> None:
    """Delete a training; labels that it gave stay. Raises `BadInputError` for the adopted one."""
    held = {t.name: t for t in list_trained(workspace)}
    if name not in held:
        raise UnknownNameError("trained detector", name, held)
    if adopted_detector(workspace) == held[name].detector:
        raise BadInputError(f"'{name}' is adopted.", hint="Adopt another first, such as embedded.")
    shutil.rmtree(held[name].folder)


def detector_names(workspace: Workspace) -> list[str]:
    """What a person can choose from without typing: the adopted one first, those trained here, and those that ship."""
    shipped = (DEFAULT_DETECTOR, "similarity(static)", "random")
    return list(dict.fromkeys([adopted_detector(workspace), *(t.detector for t in list_trained(workspace)), *shipped]))


def _read(folder: Path) -> Trained:
    path = folder / CARD
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
        return Trained(folder.name, folder, str(card["detector"]), card)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StaleError("The card cannot be read.", where=path, hint="Delete the folder and train anew.") from error
