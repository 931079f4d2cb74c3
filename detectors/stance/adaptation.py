"""The detector `stance` adapted to labels of a workspace: other biases and norms in the network that ships.

They are 91,000 of its 54 million numbers, and the only weights that its file keeps in full precision (BitFit, Ben Zaken et al.,
ACL 2022, trains biases alone). The matrices stay, so that an adaptation takes .4 MB, and labels take as long as before.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from berdseye.data.errors import StaleError
from berdseye.data.files.atomic import write_bytes, write_json
from berdseye.detectors.protocol import Floats

ADAPTATION_FILE, NUMBERS_FILE = "stance_adaptation.json", "stance_numbers.safetensors"
_FORM = 2
"""The form of the files; the first one had a last layer."""


@dataclass(frozen=True, eq=False)
class Adaptation:
    """The biases and norms that replace those of a network of version `made_for`, by their names in it; and the card of the
    training. Two with the same numbers are equal."""

    made_for: str
    numbers: Mapping[str, Floats]
    threshold: float
    threshold_source: str
    measured: str = ""

    @cached_property
    def version(self) -> str:
        """A hash (12 hex digits) of the numbers."""
        digest = blake2b(self.made_for.encode(), digest_size=6)
        for name, values in sorted(self.numbers.items()):
            digest.update(name.encode() + values.tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Adaptation) and self.version == other.version

    def __hash__(self) -> int:
        return hash(self.version)


def write_numbers(folder: Path, numbers: Mapping[str, Floats]) -> None:
    """Write biases and norms into a folder, by their names in the network."""
    write_bytes(folder / NUMBERS_FILE, save(dict(numbers)))


def write_adaptation(folder: Path, adaptation: Adaptation) -> None:
    """Write an adaptation into the folder of its training."""
    write_numbers(folder, adaptation.numbers)
    card = {
        "form": _FORM,
        "made_for": adaptation.made_for,
        "threshold": adaptation.threshold,
        "threshold_source": adaptation.threshold_source,
        "measured": adaptation.measured,
    }
    write_json(folder / ADAPTATION_FILE, card)


def read_numbers(folder: Path) -> dict[str, Floats]:
    """Read the biases and norms of a folder; raises `OSError` or `SafetensorError` if they cannot be read."""
    numbers: dict[str, Floats] = load_file(folder / NUMBERS_FILE)
    return numbers


def read_adaptation(folder: Path, made_for: str) -> Adaptation:
    """Read an adaptation; raises `StaleError` if it cannot be read or is for other weights than those of version `made_for`."""
    path = folder / ADAPTATION_FILE
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
        current = card["made_for"] == made_for and card.get("form") == _FORM
        if current:
            return Adaptation(
                made_for,
                read_numbers(folder),
                float(card["threshold"]),
                str(card["threshold_source"]),
                str(card["measured"]),
            )
    except (OSError, ValueError, TypeError, KeyError, SafetensorError) as error:
        raise StaleError("The adaptation cannot be read.", where=path, hint="Discard it and train it again.") from error
    raise StaleError(
        "The adaptation is for an earlier version of `stance`.", where=path, hint="Discard it and train it again."
    )
