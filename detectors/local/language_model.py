"""Language models as detectors need them: causal or encoder-decoder, with an adapter, in few bits, with or without their chat
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
"""`auto` is the model's chat template where it has one, and plain text where it has none."""

_ADAPTER = "adapter_config.json"
_KEPT_OPEN = 1  # each may be as large as the memory allows


class AnsweringModel(LocalModel):
    """A language model of a name. `adapter` is a folder of PEFT over it; `bits` are 4 or 8, or 0 for all of them."""

    def __init__(self, model: str, *, template: Template = "auto", bits: int = 0, adapter: Path | None = None) -> None:
        super().__init__(model)
        self.template = template
        self.bits = bits
        self.adapter = adapter

    @property
    def made_of(self) -> tuple[object, ...]:
        """What the model's answers depend on, beside the prompt."""
        return (self.version, self.template, self.bits, model_version(self.adapter) if self.adapter else "")

    @property
    def encoder_decoder(self) -> bool:
        """Whether the prompt is read by an encoder, as in T5."""
        return bool(getattr(self.load().model.config, "is_encoder_decoder", False))

    def load(self) -> Loaded:
        """The model in memory, with a tokenizer that nothing else pads or truncates with.

        Raises `UnavailableError` where it cannot be loaded, `BadInputError` where a chat template is demanded in vain.
        """
        return _load(self.model, self.template, self.bits, self.adapter, self.made_of)

    def loaded_anew(self) -> Loaded:
        """The model, by whichever of the libraries reads it."""
        if self.adapter is None and not self.bits and not self._is_encoder_decoder():
            return super().load()
        return self._loaded_by_transformers()

    def _is_encoder_decoder(self) -> bool:
        found = self.found
        if isinstance(found, Path) and not (found / "config.json").is_file():
            return False
        from transformers import AutoConfig

        with loading(self.model):
            return bool(AutoConfig.from_pretrained(found).is_encoder_decoder)

    def _loaded_by_transformers(self) -> Loaded:
        with loading(self.model):
            import torch
            from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer, BitsAndBytesConfig

            from berdseye.data.models.weights import chosen_device
            from berdseye.retrieval.encoders.running import quietly

            device = chosen_device()
            options: dict[str, Any] = {"dtype": torch.bfloat16 if device.type != "cpu" else torch.float32}
            if isinstance(self.found, str):
                options["revision"] = hub_commit(self.found)
            if self.bits:
                _check_bits(self.bits, device.type)
                few_bits: Any = BitsAndBytesConfig
                options["quantization_config"] = few_bits(**{f"load_in_{self.bits}bit": True})
            kind: Any = AutoModelForSeq2SeqLM if self._is_encoder_decoder() else AutoModelForCausalLM
            with quietly():
                model: Any = kind.from_pretrained(self.found, **options)
                own = self.adapter if self.adapter and (self.adapter / "tokenizer_config.json").is_file() else None
                tokenizer = AutoTokenizer.from_pretrained(own or self.found, padding_side="left")
                if self.adapter:
                    model = _adapted(model, self.adapter, merge=not self.bits)
            if tokenizer.pad_token is None:
                tokenizer.pad_token = tokenizer.eos_token
            return Loaded(tokenizer, (model if self.bits else model.to(device)).eval())


def adapter_base(folder: Path) -> str:
    """The model that an adapter was trained over; raises `BadInputError` where its file does not say so.

    A base that was given by a path is looked for beside the adapter too.
    """
    path = folder / _ADAPTER
    try:
        base = json.loads(path.read_text(encoding="utf-8"))["base_model_name_or_path"]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BadInputError(
            "The adapter does not say over which model it lies.", where=path, hint="Save it anew with PEFT."
        ) from error
    beside = folder.parent / Path(str(base)).name
    return str(beside) if not isinstance(find_or_none(str(base)), Path) and beside.is_dir() else str(base)


def is_adapter(folder: Path) -> bool:
    """Whether PEFT saved an adapter here."""
    return (folder / _ADAPTER).is_file()


def find_or_none(name: str) -> str | Path | None:
    """Where a model lies, or nothing."""
    try:
        return find_model(name)
    except UnavailableError:
        return None


@lru_cache(maxsize=_KEPT_OPEN)
def _load(model: str, template: Template, bits: int, adapter: Path | None, made_of: tuple[object, ...]) -> Loaded:
    del made_of  # it is part of the key, so that files that change are loaded again
    tokenizer, opened = AnsweringModel(model, template=template, bits=bits, adapter=adapter).loaded_anew()
    tokenizer = copy.deepcopy(tokenizer)
    if template == "none":
        tokenizer.chat_template = None
    elif template == "chat" and tokenizer.chat_template is None:
        raise BadInputError(f"'{model}' has no chat template.", hint="Write template=none for plain text.")
    return Loaded(tokenizer, opened)


def _adapted(model: Any, adapter: Path, *, merge: bool) -> Any:
    from peft import PeftModel

    adapted: Any = PeftModel.from_pretrained(model, str(adapter))
    return adapted.merge_and_unload() if merge else adapted


def _check_bits(bits: int, device: str) -> None:
    if device != "cuda":
        raise UnavailableError(f"{bits} bits need a CUDA GPU.", hint="Leave bits out, or name a GGUF file.")
    if find_spec("bitsandbytes") is None:
        raise UnavailableError(f"{bits} bits need the package bitsandbytes.", hint="pip install bitsandbytes")
