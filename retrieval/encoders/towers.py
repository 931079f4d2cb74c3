"""Transformers as sentence-transformers modules: a checkpoint is loaded whole or not at all.

Imports torch, as do the files that import this one; the registry imports them when an encoder is opened.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import transformers
from sentence_transformers.base.modules import Transformer

from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.retrieval.encoders.known_models import KnownModel, Pooling

_OUTPUTS: Mapping[Pooling, tuple[str, str, str]] = {
    "mean": ("feature-extraction", "last_hidden_state", "token_embeddings"),
    "cls": ("feature-extraction", "last_hidden_state", "token_embeddings"),
    "pooler": ("feature-extraction", "pooler_output", "sentence_embedding"),
    "splade": ("fill-mask", "logits", "token_embeddings"),
    "unicoil": ("feature-extraction", "last_hidden_state", "token_embeddings"),
    "classifier": ("sequence-classification", "logits", "scores"),
    "tart": ("sequence-classification", "logits", "scores"),
}
_PLAUSIBLE = 1_000_000
_UNTOLD = 512
_UNBOUND = 10_000
# Their positions are counted from after the padding token's number, so that many are not there to be used.
_OFFSET = ("camembert", "mpnet", "roberta", "xlm-roberta", "xlm-roberta-xl")


class Tower(Transformer):
    """A transformer and its tokenizer; `missing` names the weights that the checkpoint does not have."""

    own_class: ClassVar[type[transformers.PreTrainedModel] | None] = None
    key_mapping: ClassVar[dict[str, str] | None] = None
    tokenizer_options: ClassVar[dict[str, str]] = {}
    missing: list[str]

    def _load_model(
        self,
        model_name_or_path: str,
        transformer_task: Any,
        config: Any,
        backend: str,
        is_peft_model: bool,
        **options: Any,
    ) -> Any:
        # The library fills in at random what is missing and only logs it, so the report is asked for here.
        own = self.own_class or _two_towers(config)
        if own is None:
            loaded: Any = super()._load_model(
                model_name_or_path,
                transformer_task,
                config,
                backend,
                is_peft_model,
                output_loading_info=True,
                **options,
            )
        else:
            loaded = own.from_pretrained(
                model_name_or_path, config=config, key_mapping=self.key_mapping, output_loading_info=True, **options
            )
        model, report = loaded
        self.missing = sorted(report["missing_keys"])
        return model


def open_tower(
    folder: Path,
    pooling: Pooling,
    *,
    kind: type[Tower] = Tower,
    special_tokens: bool = True,
    remote_code: bool = False,
) -> Tower:
    """The transformer of a folder; raises `BadInputError` where the checkpoint lacks layers that `pooling` reads."""
    if any(folder.glob("*.model")) and not (folder / "tokenizer.json").exists() and not find_spec("sentencepiece"):
        raise UnavailableError(
            "The model's tokenizer needs the package sentencepiece.", where=folder, hint="pip install sentencepiece"
        )
    task, output, called = _OUTPUTS[pooling]
    trust = {"trust_remote_code": remote_code}
    tower: Tower = kind(
        str(folder),
        transformer_task=task,
        modality_config={"text": {"method": "forward", "method_output_name": output}},
        module_output_name=called,
        processing_kwargs={} if special_tokens else {"text": {"add_special_tokens": False}},
        model_kwargs=dict(trust),
        processor_kwargs=trust | kind.tokenizer_options,
        config_kwargs=dict(trust),
    )
    unused = () if pooling == "pooler" else ("pooler.",)
    lacking = [key for key in tower.missing if not any(part in key for part in unused)]
    if lacking:
        raise BadInputError(
            f"The weights lack {len(lacking)} tensors that this use needs, such as {lacking[0]}.",
            where=folder,
            hint="It is a model of another kind, or a damaged one.",
        )
    return tower


def limited(model: Any, known: KnownModel | None) -> int:
    """How many tokens a sentence-transformers model reads; a transformer is told to read no more than its table row says.

    Where nothing says how many, it is 512.
    """
    held = model.max_seq_length
    told = [held] if held and held <= _PLAUSIBLE else []
    if not isinstance(model[0], Transformer):
        return int(min(told, default=_UNBOUND))
    if model.config.model_type in _OFFSET:
        told.append(model.config.max_position_embeddings - model.config.pad_token_id - 1)
    most = int(min([*told, known.max_length] if known else told, default=_UNTOLD))
    model.max_seq_length = most
    return most


def stand_in(model: Any) -> str:
    """What is read in place of an empty text: a full stop where the tokenizer makes nothing at all of one."""
    tokenizer = model[0].tokenizer if isinstance(model[0], Transformer) else None
    return "." if tokenizer is not None and not tokenizer("")["input_ids"] else ""


def _two_towers(config: Any) -> type[transformers.PreTrainedModel] | None:
    """DPR's towers share one configuration class, of which the library would always make the question's."""
    names = config.architectures or [""]
    return {
        "DPRQuestionEncoder": transformers.DPRQuestionEncoder,
        "DPRContextEncoder": transformers.DPRContextEncoder,
    }.get(names[0])
