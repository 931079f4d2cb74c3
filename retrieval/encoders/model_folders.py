"""Finding the folder of an encoder by its name: local folders first, then the Hugging Face Hub or its local cache."""

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
    """The folder of a model; `remote_code` means that the user allows this model to run code from its repository."""

    path: Path
    version: str
    remote_code: bool = False

    @property
    def has_modules(self) -> bool:
        """Whether sentence-transformers saved the model, in which case its files specify how to use it."""
        return (self.path / "modules.json").is_file()

    def expect(self, kind: str) -> None:
        """Raise `BadInputError` unless sentence-transformers saved the model as a `kind`."""
        path = self.path / "config_sentence_transformers.json"
        saved = json.loads(path.read_text(encoding="utf-8")).get("model_type") if path.is_file() else None
        if (saved or "SentenceTransformer") != kind:
            raise BadInputError(f"The model is a {saved or 'SentenceTransformer'}, not a {kind}.", where=self.path)


def find_folder(name: str, kind: str, known: Sequence[str]) -> ModelFolder:
    """The folder of a model: `name` as a path, `name` or its last part in BERDSEYE_MODELS, then the Hub.

    If there is none, raises `UnknownNameError` if the name is similar to one of `known`, otherwise `UnavailableError`.
    """
    remote_code = name in os.environ.get(REMOTE_CODE_VARIABLE, "").replace(",", " ").split()
    location = find_model(name)
    root = os.environ.get(MODELS_VARIABLE)
    if isinstance(location, str) and root:
        local_folder = Path(root).expanduser() / name.rpartition("/")[2]
        location = find_model(str(local_folder)) if local_folder.is_dir() else location
    if isinstance(location, Path):
        if location.is_file():
            raise BadInputError("An encoder must be a folder, not a file.", where=location)
        return ModelFolder(location, model_version(location), remote_code)
    # Names without an owner are those of sentence-transformers' models.
    for place in [name] if "/" in name else [f"sentence-transformers/{name}", name]:
        try:
            folder = _downloaded(place)
        except Exception as error:  # several libraries raise many different classes
            reason = error
        else:
            return ModelFolder(folder, folder.name[:12], remote_code)
    raise _missing(name, kind, known, reason) from reason


def _downloaded(name: str) -> Path:
    """The files of a model on the Hub at its newest commit, or, without a network, those downloaded before."""
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    unneeded, cached = list(_UNNEEDED), bool(constants.HF_HUB_OFFLINE)
    if not cached:
        try:
            files = [file.rfilename for file in HfApi().model_info(name, timeout=_SECONDS).siblings or []]
        except HfHubHTTPError:
            raise
        except Exception:  # no network; the classes of the HTTP library are not part of the Hub client's interface
            cached = True
        else:
            # Many models contain their weights in two formats.
            unneeded += ["*.bin"] if any(file.endswith(".safetensors") for file in files) else []
    return Path(snapshot_download(name, allow_patterns=_NEEDED, ignore_patterns=unneeded, local_files_only=cached))


def _missing(name: str, kind: str, known: Sequence[str], reason: Exception) -> BerdseyeError:
    short = [each.rpartition("/")[2] for each in known]
    if name not in known and difflib.get_close_matches(name, [*known, *short], n=1, cutoff=_ALIKE):
        return UnknownNameError(kind, name, [*known, *short])
    root = os.environ.get(MODELS_VARIABLE)
    return UnavailableError(
        f"{kind.capitalize()} '{name}' was not found: it is not a folder, not in {MODELS_VARIABLE} "
        f"({root or 'which is not set'}), and not available from the Hugging Face Hub ({type(reason).__name__}).",
        hint=f"Check the name and the network, or put its files in a folder in ${MODELS_VARIABLE}.",
    )
