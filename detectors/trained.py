"""Detectors trained in the workspace: their folders, the adopted one, and discarding."""

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
from berdseye.detectors.stance.network_files import missing_files, network_folders, network_name

CARD = "card.json"
"""The file that marks a training as finished."""
_ADOPTED = "adopted.json"


@dataclass(frozen=True)
class Trained:
    """A finished training: its name, its folder, the detector's full name, such as crossencoder(mine), and its card."""

    name: str
    folder: Path
    detector: str
    card: dict[str, Any]


def new_folder(workspace: Workspace, name: str) -> Path:
    """Return the folder for a training of this name; raises `BadInputError` if a finished training has this name."""
    folder = workspace.detectors_folder / checked_name("detector", name)
    if (folder / CARD).exists():
        raise BadInputError(
            f"A detector '{name}' already exists.", where=folder, hint="Choose another name, or discard it first."
        )
    return folder


def finish(folder: Path, card: dict[str, Any]) -> None:
    """Write the card, which marks a training as finished; `card["detector"]` is the detector's name."""
    write_json(folder / CARD, card)


def list_trained(workspace: Workspace, faults: list[StaleError] | None = None) -> list[Trained]:
    """Return all finished trainings, the newest first.

    Raises `StaleError` for a card that cannot be read; with `faults`, the error is added to it instead, and that training is left
    out.
    """
    trainings = []
    for path in sorted(workspace.detectors_folder.glob(f"[!.]*/{CARD}")):
        try:
            trainings.append(_read(path.parent))
        except StaleError as error:
            if faults is None:
                raise
            faults.append(error)
    return sorted(trainings, key=lambda t: str(t.card.get("created", "")), reverse=True)


def find_trained(workspace: Workspace | None, name: str) -> Path | None:
    """Return the folder of a finished training of this name, or None."""
    if workspace is None or "/" in name:
        return None
    folder = workspace.detectors_folder / name
    return folder if (folder / CARD).exists() else None


def adopted_detector(workspace: Workspace) -> str:
    """Return the detector that every page and command uses by default."""
    path = workspace.detectors_folder / _ADOPTED
    if not path.exists():
        return DEFAULT_DETECTOR
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["detector"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StaleError(
            "The file of the adopted detector cannot be read.",
            where=path,
            hint="Adopt a detector again: `berdseye detector adopt NAME`.",
        ) from error


def adopt(workspace: Workspace, detector: str, *, made_by: str = "") -> None:
    """Make a detector the default of every page and command; `stance` restores the one that ships."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    write_json(
        workspace.detectors_folder / _ADOPTED,
        {"detector": detector, "since": now, "before": adopted_detector(workspace), "made_by": made_by},
    )


def discard(workspace: Workspace, name: str) -> None:
    """Delete a training; its labels stay. Raises `BadInputError` for the adopted one, `UnknownNameError` for another name."""
    trainings = {t.name: t for t in list_trained(workspace, [])}
    if name not in trainings:
        raise UnknownNameError("trained detector", name, trainings)
    if adopted_detector(workspace) == trainings[name].detector:
        raise BadInputError(
            f"'{name}' is the adopted detector and cannot be discarded.",
            hint="Adopt another one first: `berdseye detector adopt stance`.",
        )
    shutil.rmtree(trainings[name].folder)


def detector_names(workspace: Workspace) -> list[str]:
    """Return the detectors to offer in a menu: the adopted one first, then those trained here, networks of the workspace, and the
    shipped ones.

    Trainings and networks with missing or damaged files are left out; `berdseye.detectors.listing` reports them.
    """
    networks = [network_name(folder) for folder in network_folders(workspace) if not missing_files(folder)]
    trained = [t.detector for t in list_trained(workspace, [])]
    shipped = (DEFAULT_DETECTOR, "embedded", "similarity(static)", "random")
    return list(dict.fromkeys([adopted_detector(workspace), *trained, *networks, *shipped]))


def _read(folder: Path) -> Trained:
    path = folder / CARD
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
        return Trained(folder.name, folder, str(card["detector"]), card)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StaleError(
            "The card of the detector cannot be read.", where=path, hint="Delete the folder and train again."
        ) from error
