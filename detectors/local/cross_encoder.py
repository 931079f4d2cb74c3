"""Cross-encoders trained to detect support: `crossencoder(PATH)`."""

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
    """Open `crossencoder(PATH)`: a training of the workspace, a folder, or a name on the hub, in this order.

    P is the sigmoid of a single output, or the softmax of the second of two outputs. The card of a training gives the
    temperature that divides the logits, the threshold, and the defaults of the title's place and the length. Raises
    `UnavailableError` if the model is missing or damaged, `BadInputError` if it has more than two outputs.
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
            f"The model has {labels} outputs, but a cross-encoder must have one or two.",
            where=folder.path,
            hint=f"If it is an NLI model, use nli({path}).",
        )

    def head(logits: Floats) -> Floats:
        scaled = logits.astype(np.float64) / temperature
        probabilities = expit(scaled[:, 0]) if labels == 1 else softmax(scaled, axis=1)[:, 1]
        return np.asarray(probabilities, dtype=np.float32)

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
    """Read the card beside a trained model, empty if there is none; raises `StaleError` for one that cannot be read."""
    path = folder / _CARD
    if not path.is_file():
        return {}
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(card, dict) or float(card.get("temperature", 1.0)) <= 0:
            raise ValueError("not a card")
    except (OSError, ValueError, TypeError) as error:
        raise StaleError(
            "The card of the model cannot be read.", where=path, hint="Train again, or delete the card."
        ) from error
    return card
