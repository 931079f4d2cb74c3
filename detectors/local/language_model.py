"""Language models for detectors: causal or encoder-decoder, with an adapter, quantized to few bits, with or without their chat
template."""

import copy
import json
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.language_models.local import Loaded, LocalModel
from berdseye.data.models.weights import find_model, hub_commit, loading, model_version

Template = Literal["auto", "chat", "none"]
TEMPLATES = ("auto", "chat", "none")
"""`auto` is the model's chat template if it has one, otherwise plain text."""

HALF = 16
"""The bits of a number in half precision (bfloat16)."""

_ADAPTER = "adapter_config.json"
_KEPT_OPEN = 1  # one model may take all the memory


class AnsweringModel(LocalModel):
    """A language model by name. `adapter` is the folder of a PEFT adapter over it.

    `bits` of each weight are 4 or 8 (quantized, which takes a GPU), 16 (bfloat16), or 0 for the usual precision of the device.
    """

    def __init__(self, model: str, *, template: Template = "auto", bits: int = 0, adapter: Path | None = None) -> None:
        super().__init__(model, half=bits == HALF)
        self.template = template
        self.bits = bits
        self.adapter = adapter

    @property
    def made_of(self) -> tuple[object, ...]:
        """Everything that the model's answers depend on, except the prompt."""
        return (self.version, self.template, self.bits, model_version(self.adapter) if self.adapter else "")

    @property
    def encoder_decoder(self) -> bool:
        """Whether an encoder reads the prompt, as in T5."""
        return bool(getattr(self.load().model.config, "is_encoder_decoder", False))

    def load(self) -> Loaded:
        """Load the model, with a tokenizer of its own whose padding and truncation nothing else changes.

        Raises `UnavailableError` if it cannot be loaded, `BadInputError` if it lacks a requested chat template.
        """
        return _load(self.model, self.template, self.bits, self.adapter, self.made_of)

    def reload(self) -> Loaded:
        """Load the model again, with the library that can read it."""
        if self.adapter is None and not self._quantized and not self._is_encoder_decoder():
            return super().load()
        return self._loaded_by_transformers()

    @property
    def _quantized(self) -> bool:
        return self.bits not in (0, HALF)

    def _is_encoder_decoder(self) -> bool:
        source = self.location
        if isinstance(source, Path) and not (source / "config.json").is_file():
            return False
        from transformers import AutoConfig

        with loading(self.model):
            return bool(AutoConfig.from_pretrained(source).is_encoder_decoder)

    def _loaded_by_transformers(self) -> Loaded:
        with loading(self.model):
            import torch
            from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer, BitsAndBytesConfig

            from berdseye.data.models.weights import chosen_device
            from berdseye.retrieval.encoders.running import without_output

            device = chosen_device()
            options: dict[str, Any] = {"dtype": torch.bfloat16 if self.half or device.type != "cpu" else torch.float32}
            if isinstance(self.location, str):
                options["revision"] = hub_commit(self.location)
            if self._quantized:
                _check_bits(self.bits, device.type)
                few_bits: Any = BitsAndBytesConfig
                options["quantization_config"] = few_bits(**{f"load_in_{self.bits}bit": True})
            kind: Any = AutoModelForSeq2SeqLM if self._is_encoder_decoder() else AutoModelForCausalLM
            with without_output():
                model: Any = kind.from_pretrained(self.location, **options)
                own = self.adapter if self.adapter and (self.adapter / "tokenizer_config.json").is_file() else None
                tokenizer = AutoTokenizer.from_pretrained(own or self.location, padding_side="left")
                if self.adapter:
                    model = _adapted(model, self.adapter, merge=not self._quantized)
            if tokenizer.pad_token is None:
                tokenizer.pad_token = tokenizer.eos_token
            return Loaded(tokenizer, (model if self._quantized else model.to(device)).eval())


def adapter_base(folder: Path) -> str:
    """Return the model that an adapter was trained over; raises `BadInputError` if its file does not name it.

    A base given as a path is also searched for beside the adapter.
    """
    path = folder / _ADAPTER
    try:
        base = json.loads(path.read_text(encoding="utf-8"))["base_model_name_or_path"]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BadInputError(
            "The adapter does not name its base model.", where=path, hint="Save it again with PEFT."
        ) from error
    beside = folder.parent / Path(str(base)).name
    return str(beside) if not isinstance(find_or_none(str(base)), Path) and beside.is_dir() else str(base)


def is_adapter(folder: Path) -> bool:
    """Return whether the folder contains a PEFT adapter."""
    return (folder / _ADAPTER).is_file()


def find_or_none(name: str) -> str | Path | None:
    """Return the location of a model, or None if it is not available."""
    try:
        return find_model(name)
    except UnavailableError:
        return None


@lru_cache(maxsize=_KEPT_OPEN)
def _load(model: str, template: Template, bits: int, adapter: Path | None, made_of: tuple[object, ...]) -> Loaded:
    del made_of  # part of the cache's key, so that changed files are loaded again
    tokenizer, opened = AnsweringModel(model, template=template, bits=bits, adapter=adapter).reload()
    tokenizer = copy.deepcopy(tokenizer)
    if template == "none":
        tokenizer.chat_template = None
    elif template == "chat" and tokenizer.chat_template is None:
        raise BadInputError(f"'{model}' has no chat template.", hint="Use template=none for plain text.")
    return Loaded(tokenizer, opened)


def _adapted(model: Any, adapter: Path, *, merge: bool) -> Any:
    from peft import PeftModel

    adapted: Any = PeftModel.from_pretrained(model, str(adapter))
    return adapted.merge_and_unload() if merge else adapted


def _check_bits(bits: int, device: str) -> None:
    if device != "cuda":
        raise UnavailableError(f"bits={bits} requires a CUDA GPU.", hint="Omit bits, or name a GGUF file.")
    if find_spec("bitsandbytes") is None:
        raise UnavailableError(
            f"bits={bits} requires the package bitsandbytes, which is not installed.", hint="pip install bitsandbytes"
        )
