"""Names of encoders to folders of files: local ones first, then the Hugging Face hub or what was downloaded of it."""

import difflib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from berdseye.data.errors import BadInputError, BerdseyeError, UnavailableError, UnknownNameError
from berdseye.data.models.weights import MODELS_VARIABLE, find_model, model_version

REMOTE_CODE_VARIABLE = "BERDSEYE_REMOTE_CODE"
_NEEDED = ["*.json", "*.txt", "*.model", "*.jinja", "*.py", "*.safetensors", "*.bin"]
_UNNEEDED = ["onnx/*", "openvino/*", "training_args.bin", "optimizer.bin"]
_ALIKE = 0.8
_SECONDS = 10.0


@dataclass(frozen=True)
class ModelFolder:
    """The files of one model. `remote_code` says that the person allowed this model to run code of its own."""

    path: Path
    version: str
    remote_code: bool = False

    @property
    def has_modules(self) -> bool:
        """Whether sentence-transformers saved it, and so says itself how it is to be used."""
        return (self.path / "modules.json").is_file()

    def expect(self, kind: str) -> None:
        """Raise `BadInputError` where sentence-transformers saved it as something else than `kind`."""
        path = self.path / "config_sentence_transformers.json"
        held = json.loads(path.read_text(encoding="utf-8")).get("model_type") if path.is_file() else None
        if (held or "SentenceTransformer") != kind:
            raise BadInputError(f"The model is a {held or 'SentenceTransformer'}, not a {kind}.", where=self.path)


def find_folder(name: str, kind: str, known: Sequence[str]) -> ModelFolder:
    """The folder of a model: `name` as a path, `name` or its last part below BERDSEYE_MODELS, then the hub.

    Raises `UnknownNameError` where there is none and the name resembles one of `known`, otherwise `UnavailableError`.
    """
    remote_code = name in os.environ.get(REMOTE_CODE_VARIABLE, "").replace(",", " ").split()
    found = find_model(name)
    root = os.environ.get(MODELS_VARIABLE)
    if isinstance(found, str) and root:
        below = Path(root).expanduser() / name.rpartition("/")[2]
        found = find_model(str(below)) if below.is_dir() else found
    if isinstance(found, Path):
        if found.is_file():
            raise BadInputError("An encoder is a folder, not a file.", where=found)
        return ModelFolder(found, model_version(found), remote_code)
    # Names without an owner are those of sentence-transformers' own models.
    for place in [name] if "/" in name else [f"sentence-transformers/{name}", name]:
        try:
            folder = _downloaded(place)
        except Exception as error:  # every cause has its own class, in several libraries
            reason = error
        else:
            return ModelFolder(folder, folder.name[:12], remote_code)
    raise _missing(name, kind, known, reason) from reason


def _downloaded(name: str) -> Path:
    """The files of a model on the hub at its newest commit, or without a network those downloaded before."""
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    unneeded, cached = list(_UNNEEDED), bool(constants.HF_HUB_OFFLINE)
    if not cached:
        try:
            files = [file.rfilename for file in HfApi().model_info(name, timeout=_SECONDS).siblings or []]
        except HfHubHTTPError:
            raise
        except Exception:  # no network; the HTTP library's own classes are not part of the hub's interface
            cached = True
        else:
            # Many models hold the same weights twice.
            unneeded += ["*.bin"] if any(file.endswith(".safetensors") for file in files) else []
    return Path(snapshot_download(name, allow_patterns=_NEEDED, ignore_patterns=unneeded, local_files_only=cached))


def _missing(name: str, kind: str, known: Sequence[str], reason: Exception) -> BerdseyeError:
    short = [each.rpartition("/")[2] for each in known]
    if name not in known and difflib.get_close_matches(name, [*known, *short], n=1, cutoff=_ALIKE):
        return UnknownNameError(kind, name, [*known, *short])
    root = os.environ.get(MODELS_VARIABLE)
    return UnavailableError(
        f"{kind.capitalize()} '{name}' is no folder, not below {MODELS_VARIABLE} ({root or 'which is not set'}), and the "
        f"Hugging Face hub does not give it ({type(reason).__name__}).",
        hint=f"Check the name and the network, or put its files in a folder below ${MODELS_VARIABLE}.",
    )
