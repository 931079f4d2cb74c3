"""The files of a network of `stance`: which ones a folder must have, what its card says, and its version.

Nothing here opens the network, which may have hundreds of megabytes: a list of detectors needs only the card and a hash.
"""

import json
from collections.abc import Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path

from berdseye.data.errors import UnavailableError
from berdseye.data.grammar import Call
from berdseye.data.workspace import Workspace

MODEL_FILE, TOKENIZER_FILE, CARD_FILE = "stance.onnx", "stance_tokenizer.json", "stance.json"
FILES = (MODEL_FILE, TOKENIZER_FILE, CARD_FILE)
READ_AS = "reasons by themselves, too"
"""How `stance` reads texts; another value makes all of its labels old ones."""
State = tuple[int, ...]
"""When each of `FILES` was written last, in nanoseconds; 0 if it is missing."""
_SHIPPED_AGAIN = "Install Berdseye again, or train it: `python -m berdseye.detectors.stance.train DATA_FOLDER BASE`."
_OWN_AGAIN = "Copy or train the network again, or delete the folder."
_CHUNK = 1 << 20
_AS_IT_IS = (1.0, 0.0)


def shipped_folder() -> Path:
    """Return the folder of the network that ships with Berdseye."""
    return Path(str(files("berdseye.detectors") / "weights"))


def network_folders(workspace: Workspace) -> list[Path]:
    """Return the folders of `WORKSPACE/detectors` with a network of their own, complete or not, sorted by name."""
    found = {path.parent for name in FILES for path in workspace.detectors_folder.glob(f"[!.]*/{name}")}
    return sorted(found)


def network_name(folder: Path) -> str:
    """Return the name of the detector that uses the network of a folder: `stance(NAME)`, where NAME is that of the folder."""
    return str(Call("stance", (folder.name,)))


def has_network(folder: Path) -> bool:
    """Whether a folder has a file of a network, so that it is not an adaptation of the shipped one."""
    return any((folder / name).is_file() for name in FILES)


def missing_files(folder: Path) -> list[str]:
    """Return the names of the files that a folder lacks: a copy or a training has not finished."""
    return [name for name in FILES if not (folder / name).is_file()]


class NetworkCard:
    """What the files of a network say of it: its calibration (the slope and the offset of the log-odds of support), that of
    perspectives with a reason, that of the odds of opposition against neither, threshold, figures and version.

    Raises `UnavailableError` if a file is missing or the card is damaged.
    """

    def __init__(self, folder: Path) -> None:
        if missing := missing_files(folder):
            raise unavailable(folder, f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
        self.folder = folder
        try:
            card = json.loads((folder / CARD_FILE).read_text(encoding="utf-8"))
            self.calibration = _line(card["calibration"])
            self.reason_calibration = _line(card.get("reason_calibration", card["calibration"]))
            self.opposing_calibration = _line(card.get("opposing_calibration", _AS_IT_IS))
            self.threshold = float(card["threshold"])
            self.threshold_source, self.measured = str(card["threshold_source"]), str(card["measured"])
        except KeyError as error:
            raise unavailable(folder, f"{CARD_FILE} has no {error}") from error
        except (OSError, ValueError, TypeError) as error:  # it has another form
            raise unavailable(folder, f"{CARD_FILE} cannot be read: {error}") from error

    @cached_property
    def version(self) -> str:
        """A hash (12 hex digits) of the network, its calibration, and how texts are read."""
        digest = blake2b(digest_size=6)
        with (self.folder / MODEL_FILE).open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
        calibrations: tuple[tuple[float, float], ...] = (self.calibration, self.reason_calibration)
        if (
            self.opposing_calibration != _AS_IT_IS
        ):  # cards of earlier versions of Berdseye have none, and keep their version
            calibrations += (self.opposing_calibration,)
        digest.update(repr((READ_AS, *calibrations)).encode())
        return digest.hexdigest()


def _line(numbers: Sequence[float]) -> tuple[float, float]:
    slope, added = map(float, numbers)
    return slope, added


def unavailable(folder: Path, reason: object) -> UnavailableError:
    """Return the error for a network that cannot be used, in one line."""
    if folder == shipped_folder():
        return UnavailableError(
            f"The detector `stance` cannot be opened ({reason}).", where=folder, hint=_SHIPPED_AGAIN
        )
    return UnavailableError(
        f"The detector `stance` of this folder cannot be opened ({reason}).", where=folder, hint=_OWN_AGAIN
    )


def state_of(folder: Path) -> State:
    """Return the state of the files of a folder; what is read of them is kept as long as it does not change."""
    paths = [folder / name for name in FILES]
    return tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in paths)


def card_of(folder: Path) -> NetworkCard:
    """Return the card of a network, which is read once for each state of its files."""
    return _card(folder, state_of(folder))


@lru_cache(maxsize=32)
def _card(folder: Path, state: State) -> NetworkCard:
    del state
    return NetworkCard(folder)
