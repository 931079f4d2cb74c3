"""Transformers as sentence-transformers modules; a checkpoint with missing weights raises an error.

This module and those that import it import torch; the registry imports them only when an encoder is opened.
"""

from collections.abc import Mapping, Sequence
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
_DEFAULT_LENGTH = 512
_UNBOUND = 10_000
# Their positions start after the number of the padding token, so that some positions cannot be used.
_OFFSET = ("camembert", "mpnet", "roberta", "xlm-roberta", "xlm-roberta-xl")


class Tower(Transformer):
    """A transformer and its tokenizer; `missing` lists the weights that the checkpoint lacks."""

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
        # The library initialises missing weights at random and only logs them, so request its report here.
        model_class = self.own_class or _two_towers(config)
        if model_class is None:
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
            loaded = model_class.from_pretrained(
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
    """Open the transformer in a folder; raises `BadInputError` if the checkpoint lacks layers that `pooling` uses."""
    if any(folder.glob("*.model")) and not (folder / "tokenizer.json").exists() and not find_spec("sentencepiece"):
        raise UnavailableError(
            "The model's tokenizer requires the package sentencepiece.",
            where=folder,
            hint="Install it: pip install sentencepiece.",
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
    refuse_missing(tower.missing, folder, pooler=pooling == "pooler")
    return tower


def refuse_missing(missing: Sequence[str], folder: Path, *, pooler: bool = False) -> None:
    """Raise `BadInputError` if a checkpoint lacks weights; those of the pooler count only if the `pooler` is used."""
    lacking = [key for key in missing if pooler or "pooler." not in key]
    if lacking:
        raise BadInputError(
            f"The weights lack {len(lacking)} required tensors, such as {lacking[0]}.",
            where=folder,
            hint="The model is of another kind, or it is damaged.",
        )


def limit_length(model: Any, known: KnownModel | None) -> int:
    """The number of tokens that a sentence-transformers model reads; a transformer is limited to that of its table row.

    The default is 512.
    """
    max_length = model.max_seq_length
    limits = [max_length] if max_length and max_length <= _PLAUSIBLE else []
    if not isinstance(model[0], Transformer):
        return int(min(limits, default=_UNBOUND))
    if model.config.model_type in _OFFSET:
        limits.append(model.config.max_position_embeddings - model.config.pad_token_id - 1)
    most = int(min([*limits, known.max_length] if known else limits, default=_DEFAULT_LENGTH))
    model.max_seq_length = most
    return most


def text_for_empty(model: Any) -> str:
    """The text to encode in place of an empty one: a full stop if the tokenizer returns no token for an empty text."""
    tokenizer = model[0].tokenizer if isinstance(model[0], Transformer) else None
    return "." if tokenizer is not None and not tokenizer("")["input_ids"] else ""


def _two_towers(config: Any) -> type[transformers.PreTrainedModel] | None:
    """The class of a DPR tower: both share a configuration class, for which the library always creates the question tower."""
    names = config.architectures or [""]
    return {
        "DPRQuestionEncoder": transformers.DPRQuestionEncoder,
        "DPRContextEncoder": transformers.DPRContextEncoder,
    }.get(names[0])
