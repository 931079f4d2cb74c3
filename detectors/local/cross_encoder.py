"""Cross-encoders that were trained to tell support: `crossencoder(PATH)`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.grammar import Call
from berdseye.data.workspace import Workspace
from berdseye.detectors.local.pair_model import PairDetector, Precision, open_pair_model
from berdseye.detectors.local.windows import Title, title_place
from berdseye.detectors.protocol import UNTUNED, Detector, Floats
from berdseye.detectors.trained import find_trained
from berdseye.retrieval.encoders.known_models import CROSS
from berdseye.retrieval.encoders.model_folders import find_folder

MODEL_FOLDER = "model"
_CARD = "card.json"


def cross_encoder_detector(
    path: str,
    workspace: Workspace | None = None,
    *,
    title: Title | None = None,
    windows: str = "max",
    max_length: int | None = None,
    precision: Precision = "auto",
) -> Detector:
    """`crossencoder(PATH)`: a training of the workspace, a folder, or a name on the hub, in this order.

    One output goes through a sigmoid, of two the second one's softmax counts; the card of a training says the temperature
    by which logits are divided, the threshold, the title's place and the length, where they are not given. Raises
    `UnavailableError` where there is no such model or it is damaged, `BadInputError` where it has more than two outputs.
    """
    chosen: dict[str, Any] = {} if title is None else {"title": title}
    chosen |= ({} if windows == "max" else {"windows": windows}) | ({"max_length": max_length} if max_length else {})
    chosen |= {} if precision == "auto" else {"precision": precision}
    trained = find_trained(workspace, path)
    card = read_card(trained) if trained else {}
    folder = find_folder(str(trained / MODEL_FOLDER) if trained else path, "cross-encoder", [row.name for row in CROSS])
    read = title or title_place(str(card.get("title", "none")))
    model = open_pair_model(folder, precision, max_length or card.get("max_length"))
    temperature = float(card.get("temperature", 1.0))
    labels = model.model.num_labels
    if labels > 2:
        raise BadInputError(
            f"The model has {labels} outputs, and one or two tell support.",
            where=folder.path,
            hint=f"For an NLI model write nli({path}).",
        )

    def head(logits: Floats) -> Floats:
        scaled = logits.astype(np.float64) / temperature
        found = expit(scaled[:, 0]) if labels == 1 else softmax(scaled, axis=1)[:, 1]
        return np.asarray(found, dtype=np.float32)

    return PairDetector(
        str(Call("crossencoder", (path,), chosen)),
        model,
        head,
        ("crossencoder", folder.version, precision, temperature),
        title=read,
        windows=windows,
        threshold=float(card.get("threshold", 0.5)),
        threshold_source=str(card.get("threshold_source", UNTUNED)),
        measured=str(card.get("measured", "")),
    )


def read_card(folder: Path) -> dict[str, Any]:
    """The card beside a trained model, empty where there is none; raises `StaleError` for one that cannot be read."""
    path = folder / _CARD
    if not path.is_file():
        return {}
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(card, dict) or float(card.get("temperature", 1.0)) <= 0:
            raise ValueError("no card")
    except (OSError, ValueError, TypeError) as error:
        raise StaleError("The card cannot be read.", where=path, hint="Train anew, or delete the card.") from error
    return card
